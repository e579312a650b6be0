#include "optimal/problem/known_values.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>

#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::optimal::detail {
namespace {

constexpr int kMostSums = 1 << 14;
constexpr std::uint64_t kMostKnownSteps = 1 << 20;
constexpr std::size_t kMostKnownTerms = 1 << 16;

std::string register_name(int number) { return "R" + std::to_string(number); }

/// Uses the level that has all instructions.
std::string header(const ProgramFrame& frame, int registers) {
  std::string text = ".isa attention\n.registers " + std::to_string(registers) + "\n";
  for (const std::string& line : frame.declarations) text += line + "\n";
  return text;
}

/// Returns the value of a result that cannot fail, because the program text is our own.
template <class Value>
Value must(toy::Result<Value> result, const toy::SourceText& source) {
  if (!result) throw std::logic_error(toy::format(result.diagnostics, source));
  return std::move(*result);
}

}  // namespace

class KnownValues::Writer {
 public:
  explicit Writer(std::string header) : text_(std::move(header)) {}
  void step(const std::string& line, const KnownValue& made) {
    text_ += line + "\n";
    made_.push_back(made);
  }
  const std::string& text() const { return text_; }
  const std::vector<KnownValue>& made() const { return made_; }

 private:
  std::string text_;
  std::vector<KnownValue> made_;
};

KnownValues::KnownValues(const Computation& computation) {
  if (const MatrixProduct* product = computation.product()) {
    if (product->inner > 12 || product->num_outputs() << product->inner > kMostSums) {
      throw std::invalid_argument("a product of more than " + std::to_string(kMostSums) +
                                  " partial sums is not judged step by step");
    }
    const ProgramFrame& given = computation.frame;
    const ProgramFrame frame = given.input_cells.empty() ? product_frame(*product) : given;
    Writer writer(header(frame, 2 + (1 << product->inner)));
    add_product(*product, frame, writer);
    run(writer);
  } else {
    const ValueAlgebra& algebra = *computation.algebra();
    Writer writer(header(algebra.frame, algebra.num_values));
    add_algebra(algebra, writer);
    run(writer);
  }
}

void KnownValues::add_product(const MatrixProduct& product, const ProgramFrame& frame,
                              Writer& writer) const {
  const auto input = [&](int number) {
    return frame.input_cells[static_cast<std::size_t>(number)];
  };
  const unsigned all = (1U << product.inner) - 1;
  for (int output = 0; output < product.num_outputs(); ++output) {
    for (unsigned terms = 1; terms <= all; ++terms) {
      const int term = output * product.inner + std::countr_zero(terms);
      const int a = product.factor_a(term), b = product.factor_b(term);
      writer.step("LOAD " + input(a) + ", R0", {.input = a});
      writer.step("LOAD " + input(b) + ", R1", {.input = b});
      const unsigned rest = terms & (terms - 1);
      const std::string to = register_name(2 + static_cast<int>(terms));
      const std::string from = register_name(2 + static_cast<int>(rest));
      writer.step(rest == 0 ? "MAC_Z R0, R1, " + to : "MAC R0, R1, " + from + ", " + to,
                  {.output = output, .terms = terms});
    }
    writer.step("STORE " + register_name(2 + static_cast<int>(all)) + ", " +
                    frame.output_cells[static_cast<std::size_t>(output)],
                {.output = output, .terms = all});
  }
}

void KnownValues::add_algebra(const ValueAlgebra& algebra, Writer& writer) const {
  std::vector<bool> made(static_cast<std::size_t>(algebra.num_values), false);
  const auto is_made = [&](int value) {
    return value == kNoValue || made[static_cast<std::size_t>(value)];
  };
  for (std::size_t i = 0; i < algebra.inputs.size(); ++i) {
    const int value = algebra.inputs[i];
    made[static_cast<std::size_t>(value)] = true;
    writer.step("LOAD " + algebra.frame.input_cells[i] + ", " + register_name(value),
                {.value = value});
  }
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const ValueOperation& operation : algebra.operations) {
      const auto& operands = operation.operands;
      if (is_made(operation.result) || !std::all_of(operands.begin(), operands.end(), is_made)) {
        continue;
      }
      std::string line = std::string(operation.mnemonic) + " " + operation.constant;
      if (!operation.constant.empty()) line += ", ";
      for (const int operand : operands) {
        if (operand != kNoValue) line += register_name(operand) + ", ";
      }
      writer.step(line + register_name(operation.result), {.value = operation.result});
      made[static_cast<std::size_t>(operation.result)] = is_new = true;
    }
  }
  for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
    const int value = algebra.outputs[i];
    writer.step("STORE " + register_name(value) + ", " + algebra.frame.output_cells[i],
                {.value = value});
  }
}

void KnownValues::run(const Writer& writer) {
  const auto source = std::make_shared<const toy::SourceText>("values.toy", writer.text());
  const auto program = std::make_shared<const toy::Program>(must(toy::assemble(source), *source));
  program_ = must(toy::bind(program, {}), *source);
  const toy::UnrolledProgram unrolled = must(toy::unroll(program_, kMostKnownSteps), *source);
  const toy::NormalRun forms = must(toy::run_normal(program_, unrolled, kMostKnownTerms), *source);
  for (std::size_t i = 0; i < unrolled.steps.size(); ++i) {
    const toy::NormalForm& form = forms.results[i];
    if (!of(form).is_any()) by_hash_.emplace(form.hash(), std::pair(form, writer.made()[i]));
    const toy::InstructionSpec& spec = toy::instruction_set()[unrolled.steps[i].row];
    if (!spec.is_store()) continue;
    const std::int64_t cell = unrolled.steps[i].slots[1];
    const toy::BoundArray& array = program_.array_at(cell);
    output_cells_.emplace_back(array.name, cell - array.offset);
    outputs_.push_back(of(form));
  }
}

KnownValue KnownValues::of(const toy::NormalForm& form) const {
  const auto [first, last] = by_hash_.equal_range(form.hash());
  for (auto it = first; it != last; ++it) {
    if (it->second.first == form) return it->second.second;
  }
  return {};
}

int KnownValues::output_at(const std::string& array, std::int64_t element) const {
  const auto place =
      std::find(output_cells_.begin(), output_cells_.end(), std::pair(array, element));
  return place == output_cells_.end() ? kNoValue : static_cast<int>(place - output_cells_.begin());
}

}  // namespace flashlab::optimal::detail
