// Computes a program's output formulas, and recognises or decomposes them.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "optimal/problem/computation.hpp"
#include "optimal/problem/decomposition.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/forms/form_algebra.hpp"
#include "toymachine/forms/normal_form.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::optimal {
namespace {

using toy::NormalForm;

constexpr std::uint64_t kMostStatedSteps = 20'000;
constexpr int kMostRecognised = 5;  // elements of a softmax, keys of attention

toy::Diagnostic too_large(const StatedProgram& program, const std::string& why) {
  return {toy::Severity::kError,
          toy::Fault::kLimit,
          {},
          program.name + " is too large for the solver: " + why,
          "a smaller size",
          {}};
}

/// What the analysis keeps of a program: its cells with their formulas, and the values
/// that it computes.
struct Forms {
  std::vector<Stated::Cell> inputs, outputs;
  std::vector<NormalForm> made, divisors;
};

std::string cell_name(const toy::BoundArray& array, std::int64_t element,
                      std::vector<std::int64_t>& indices) {
  indices.assign(array.counts.size(), 0);
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    indices[axis] = element % array.counts[axis];
    element /= array.counts[axis];
  }
  std::string name = array.name;
  for (const std::int64_t index : indices) name += "[" + std::to_string(index) + "]";
  return name;
}

/// Collects the divisors: the second operand of each division, while its register holds it.
void collect_divisors(const toy::UnrolledProgram& unrolled, const toy::NormalRun& run,
                      std::vector<NormalForm>& divisors) {
  const std::size_t division = *toy::find_instruction("DIV");
  std::map<std::int32_t, NormalForm> registers;
  for (std::size_t step = 0; step < unrolled.steps.size(); ++step) {
    const toy::UnrolledStep& executed = unrolled.steps[step];
    if (executed.row == division && registers.contains(executed.slots[1])) {
      divisors.push_back(registers.at(executed.slots[1]));
    }
    const toy::InstructionSpec& spec = toy::instruction_set()[executed.row];
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      if (spec.operands[i] != toy::OperandKind::kDestination) continue;
      registers[executed.slots[i]] = run.results[step];
    }
  }
}

toy::Result<Forms> forms_of(const StatedProgram& program) {
  const toy::BoundProgram& bound = program.bound;
  if (bound.tiled) {
    return toy::request_error(
        program.name + " has tiles, but the solver supports only single numbers",
        "sizes at which every tile is 1 x 1");
  }
  const auto unrolled = toy::unroll(bound, kMostStatedSteps);
  if (!unrolled) return unrolled.diagnostics;
  const auto run = toy::run_normal(bound, *unrolled);
  if (!run) return run.diagnostics;
  toy::FormAlgebra cells;
  Forms forms;
  std::vector<std::int64_t> indices;
  for (const toy::BoundArray& array : bound.arrays) {
    for (std::int64_t i = 0; i < array.size; ++i) {
      const std::string name = cell_name(array, i, indices);
      if (array.role == toy::ArrayRole::kInput) {
        forms.inputs.push_back({name, cells.cell(array.name, indices)});
      }
      const bool counts =
          array.role == toy::ArrayRole::kOutput &&
          (program.outputs.empty() || std::find(program.outputs.begin(), program.outputs.end(),
                                                array.name) != program.outputs.end());
      const NormalForm& form = run->dram[static_cast<std::size_t>(array.offset + i)];
      if (counts && form.is_written()) forms.outputs.push_back({name, form});
    }
  }
  if (forms.outputs.empty()) {
    return toy::request_error(program.name + " stores no output", "a program with results");
  }
  forms.made = run->results;
  collect_divisors(*unrolled, *run, forms.divisors);
  return forms;
}

/// Collects the cells that the form depends on.
void collect_cells(toy::FormAlgebra& algebra, const NormalForm& form,
                   std::set<std::string>& cells) {
  algebra.substituted(form, [&](const auto& array, const auto& indices) {
    std::string name = array;
    for (const std::int64_t index : indices) name += "[" + std::to_string(index) + "]";
    cells.insert(name);
    return algebra.cell(array, indices);
  });
}

// Matrix products: each output is a sum of equally many products of two inputs from two arrays.

struct Term {
  std::string a, b;  // cells of the two arrays; the first array's cell first
};

/// Returns an output's terms as pairs of cells, or nothing if it is no sum of products
/// of the arrays.
std::vector<Term> terms_of(toy::FormAlgebra& algebra, const NormalForm& form,
                           const std::vector<std::string>& arrays, std::string& first_array,
                           std::string& second_array) {
  std::vector<Term> result;
  const auto anywhere = [](const std::string&, const auto&) { return 0.75; };
  if (!std::isfinite(toy::value_at(form, anywhere))) return {};  // -inf has no parts
  const toy::FormParts parts = algebra.parts(form);
  if (parts.denominator.is_written()) return {};
  for (const toy::FormProduct& product : parts.terms) {
    if (product.about != 1 || product.factors.size() != 2) return {};
    std::vector<std::pair<std::string, std::string>> factors;  // array and cell
    for (const toy::FormFactor& factor : product.factors) {
      const toy::FormFunction what = *algebra.function(factor.base);
      if (what.kind != toy::FormFunction::Kind::kCell || factor.power != 1) return {};
      std::string cell = what.array;
      for (const std::int64_t index : what.indices) cell += "[" + std::to_string(index) + "]";
      factors.emplace_back(what.array, cell);
    }
    const auto place = [&](const std::string& array) {
      return std::find(arrays.begin(), arrays.end(), array);
    };
    if (place(factors[1].first) < place(factors[0].first)) std::swap(factors[0], factors[1]);
    if (first_array.empty()) {
      first_array = factors[0].first;
      second_array = factors[1].first;
    }
    if (factors[0].first != first_array || factors[1].first != second_array) return {};
    result.push_back({factors[0].second, factors[1].second});
  }
  std::sort(result.begin(), result.end(), [](const Term& x, const Term& y) { return x.a < y.a; });
  return result;
}

/// Rows are outputs with the same cells of A, and columns are outputs with the same cells of B. The
/// first row and the first column determine which term is which.
class ProductFinder {
 public:
  /// Returns true and fills in the frame's cells if the outputs are a product. A is the
  /// array declared first.
  bool find(toy::FormAlgebra& algebra, const std::vector<std::string>& arrays,
            const std::vector<Stated::Cell>& outputs, MatrixProduct& product, ProgramFrame& frame) {
    std::string first, second;
    for (const Stated::Cell& output : outputs) {
      terms_.push_back(terms_of(algebra, algebra.local(output.form), arrays, first, second));
      if (terms_.back().empty() || terms_.back().size() != terms_[0].size()) return false;
    }
    if (first == second) return false;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      row_.push_back(index(rows_, cells(i, &Term::a)));
      column_.push_back(index(columns_, cells(i, &Term::b)));
    }
    if (rows_.size() * columns_.size() != outputs.size()) return false;
    product = {static_cast<int>(rows_.size()), static_cast<int>(terms_[0].size()),
               static_cast<int>(columns_.size())};
    return name_cells(outputs, product, frame);
  }

 private:
  using Cells = std::set<std::string>;
  Cells cells(std::size_t output, std::string Term::*side) const {
    Cells result;
    for (const Term& term : terms_[output]) result.insert(term.*side);
    return result;
  }
  static int index(std::vector<Cells>& known, const Cells& cells) {
    const auto place = std::find(known.begin(), known.end(), cells);
    if (place == known.end()) known.push_back(cells);
    return static_cast<int>(std::find(known.begin(), known.end(), cells) - known.begin());
  }

  bool name_cells(const std::vector<Stated::Cell>& outputs, const MatrixProduct& product,
                  ProgramFrame& frame) {
    std::map<std::string, int> inner_of_a, inner_of_b;  // index p of a cell
    const auto set = [](std::map<std::string, int>& known, const std::string& cell, int p) {
      return known.emplace(cell, p).first->second == p;
    };
    for (int p = 0; p < product.inner; ++p) {
      inner_of_a[terms_[0][static_cast<std::size_t>(p)].a] = p;
    }
    bool good = true;
    const auto pass = [&](bool known_a) {
      for (const std::vector<Term>& terms : terms_) {
        for (const Term& term : terms) {
          auto& from = known_a ? inner_of_a : inner_of_b;
          const auto found = from.find(known_a ? term.a : term.b);
          if (found == from.end()) continue;
          good = set(known_a ? inner_of_b : inner_of_a, known_a ? term.b : term.a, found->second) &&
                 good;
        }
      }
    };
    pass(true);
    pass(false);
    pass(true);
    frame.input_cells.assign(static_cast<std::size_t>(product.num_inputs()), "");
    frame.output_cells.assign(outputs.size(), "");
    for (std::size_t i = 0; good && i < outputs.size(); ++i) {
      frame.output_cells[static_cast<std::size_t>(product.output(row_[i], column_[i]))] =
          outputs[i].name;
      for (const Term& term : terms_[i]) {
        good = good && inner_of_a.contains(term.a) && inner_of_b.contains(term.b) &&
               inner_of_a[term.a] == inner_of_b[term.b] &&
               place(frame, product.input_a(row_[i], inner_of_a[term.a]), term.a) &&
               place(frame, product.input_b(inner_of_b[term.b], column_[i]), term.b);
      }
    }
    const auto is_named = [](const std::string& cell) { return !cell.empty(); };
    const std::set<std::string> distinct(frame.input_cells.begin(), frame.input_cells.end());
    return good && distinct.size() == frame.input_cells.size() &&
           std::all_of(frame.input_cells.begin(), frame.input_cells.end(), is_named) &&
           std::all_of(frame.output_cells.begin(), frame.output_cells.end(), is_named);
  }

  static bool place(ProgramFrame& frame, int input, const std::string& cell) {
    std::string& known = frame.input_cells[static_cast<std::size_t>(input)];
    if (known.empty()) known = cell;
    return known == cell;
  }

  std::vector<std::vector<Term>> terms_;  // by output
  std::vector<int> row_, column_;         // by output
  std::vector<Cells> rows_, columns_;
};

// Families: the same formulas with other names of cells.

/// Gives the family's algebra the program's cells, if its formulas are the program's.
bool adopt(ValueAlgebra& family, const std::vector<Stated::Cell>& inputs,
           const std::vector<Stated::Cell>& outputs) {
  if (family.inputs.size() != inputs.size() || family.outputs.size() != outputs.size()) {
    return false;
  }
  toy::FormAlgebra algebra;
  std::map<std::string, NormalForm> cell;  // by the program's cell: the family's formula for it
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    cell[inputs[i].name] = family.forms[static_cast<std::size_t>(family.inputs[i])];
  }
  std::vector<std::string> names(outputs.size());
  for (const Stated::Cell& output : outputs) {
    const NormalForm form =
        algebra.substituted(output.form, [&](const auto& array, const auto& indices) {
          std::string name = array;
          for (const std::int64_t index : indices) name += "[" + std::to_string(index) + "]";
          return cell.at(name);
        });
    std::size_t i = 0;
    while (i < names.size() &&
           (!names[i].empty() ||
            !(algebra.local(family.forms[static_cast<std::size_t>(family.outputs[i])]) == form))) {
      ++i;
    }
    if (i == names.size()) return false;
    names[i] = output.name;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) family.frame.input_cells[i] = inputs[i].name;
  family.frame.output_cells = names;
  return true;
}

Computation in_program(const StatedProgram& program, std::string name, ValueAlgebra algebra) {
  algebra.frame.declarations = program.declarations;
  return with_algebra(std::move(name), std::move(algebra));
}

}  // namespace

toy::Result<Compulsory> compulsory_transfers(const StatedProgram& program) {
  const auto forms = forms_of(program);
  if (!forms) return forms.diagnostics;
  try {
    toy::FormAlgebra algebra;
    std::set<std::string> cells;
    for (const Stated::Cell& output : forms->outputs) collect_cells(algebra, output.form, cells);
    return Compulsory{static_cast<std::int64_t>(cells.size()),
                      static_cast<std::int64_t>(forms->outputs.size())};
  } catch (const std::exception& error) {
    return too_large(program, error.what());
  }
}

toy::Result<Computation> stated_computation(const StatedProgram& program) {
  const auto forms = forms_of(program);
  if (!forms) return forms.diagnostics;
  try {
    toy::FormAlgebra algebra;
    const toy::Level level = program.instructions.level;
    if (level == toy::Level::kMatmul && program.instructions.extra.empty()) {
      MatrixProduct product;
      ProgramFrame frame;
      std::vector<std::string> arrays;
      for (const toy::BoundArray& array : program.bound.arrays) arrays.push_back(array.name);
      if (!ProductFinder().find(algebra, arrays, forms->outputs, product, frame)) {
        return toy::request_error(
            program.name + " does not compute a product of two matrices",
            "on the level matmul: outputs that are sums of products of two arrays");
      }
      const std::string name = std::to_string(product.rows) + "x" + std::to_string(product.inner) +
                               "x" + std::to_string(product.columns);
      auto computation = named_computation(name);
      if (!computation) return computation.diagnostics;
      frame.level = computation->frame.level;
      frame.declarations = program.declarations;
      computation->frame = std::move(frame);
      return computation;
    }
    std::set<std::string> used;
    for (const Stated::Cell& output : forms->outputs) collect_cells(algebra, output.form, used);
    std::vector<Stated::Cell> inputs;
    for (const Stated::Cell& input : forms->inputs) {
      if (used.contains(input.name)) inputs.push_back(input);
    }
    const std::size_t num_outputs = forms->outputs.size();
    if (inputs.size() == num_outputs && num_outputs >= 2 && num_outputs <= kMostRecognised) {
      const int n = static_cast<int>(num_outputs);
      ValueAlgebra family = safe_softmax(n, program.instructions);
      if (adopt(family, inputs, forms->outputs)) {
        return in_program(program, "softmax:" + std::to_string(n), std::move(family));
      }
    }
    if (num_outputs == 1 && level == toy::Level::kAttention && inputs.size() % 2 == 1 &&
        inputs.size() >= 5 && inputs.size() <= 7) {
      const int n = static_cast<int>(inputs.size() / 2);
      ValueAlgebra family = one_query_attention(n, program.instructions);
      if (adopt(family, inputs, forms->outputs)) {
        return in_program(program, "attention:" + std::to_string(n), std::move(family));
      }
    }
    Stated stated{program.title,  program.instructions, program.declarations, forms->inputs,
                  forms->outputs, forms->made,          forms->divisors};
    return in_program(program, program.name, decomposed(stated));
  } catch (const std::length_error& error) {
    return too_large(program, error.what());
  } catch (const std::invalid_argument& error) {
    return toy::request_error(program.name + ": " + error.what());
  }
}

}  // namespace flashlab::optimal
