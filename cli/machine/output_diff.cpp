#include "cli/machine/output_diff.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/machine/counter_report.hpp"
#include "cli/options/execution.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/width.hpp"
#include "toymachine/forms/formula_difference.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace flashlab::cli {
namespace {

using toy::ArrayRole;
using toy::BoundArray;

constexpr std::uint64_t kMostFormulaSteps = 20'000;
constexpr std::size_t kLongestFormula = 2000;  // before what is equal is left out
constexpr double kFloatTolerance = 1e-5, kDoubleTolerance = 1e-12;

const BoundArray* find_array(const toy::BoundProgram& bound, const std::string& name,
                             ArrayRole role) {
  const auto found = std::find_if(
      bound.arrays.begin(), bound.arrays.end(),
      [&](const BoundArray& array) { return array.name == name && array.role == role; });
  return found == bound.arrays.end() ? nullptr : &*found;
}

std::vector<std::string> arrays_of(const toy::BoundProgram& bound, ArrayRole role) {
  std::vector<std::string> names;
  for (const BoundArray& array : bound.arrays) {
    if (array.role == role) names.push_back(array.name);
  }
  return names;
}

/// "4 x 2".
std::string shape_text(const BoundArray& array) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : array.extents) extents.push_back(std::to_string(extent));
  return joined(extents, " x ");
}

/// Throws if an array of `one` is missing in the other program or has another shape there.
void require_same_shape(const BoundArray& one, const BoundArray& other, const char* role,
                        const std::string& left, const std::string& right) {
  if (one.extents == other.extents) return;
  throw request_failure("the " + std::string(role) + " " + in_quotes(one.name) + " is " +
                            shape_text(one) + " in " + left + " and " + shape_text(other) + " in " +
                            right,
                        "the same shape: -D sets parameters of both programs");
}

void require_same_inputs(const ComparedProgram& left, const ComparedProgram& right) {
  const std::string left_name = left.loaded.short_name(), right_name = right.loaded.short_name();
  for (const BoundArray& array : left.bound().arrays) {
    if (array.role != ArrayRole::kInput) continue;
    const BoundArray* other = find_array(right.bound(), array.name, ArrayRole::kInput);
    if (other != nullptr) {
      require_same_shape(array, *other, "input", left_name, right_name);
      continue;
    }
    throw request_failure(
        right_name + " has no input " + in_quotes(array.name) + ", and " + left_name + " has one",
        "two programs with the same inputs; those of " + right_name + " are " +
            joined(arrays_of(right.bound(), ArrayRole::kInput)));
  }
}

/// The final formulas of a program's DRAM; nothing, and the reason, if there are none.
std::optional<toy::NormalRun> formulas_of(const ComparedProgram& program, std::string& reason) {
  const std::string name = program.loaded.short_name();
  if (program.machines.several()) {
    reason = name + " runs on several machines";
    return std::nullopt;
  }
  if (program.bound().tiled) {
    reason = "the elements of " + name + " are tiles";
    return std::nullopt;
  }
  const auto unrolled = toy::unroll(program.bound(), kMostFormulaSteps);
  if (!unrolled) {
    reason = name + " takes too many steps";
    return std::nullopt;
  }
  auto run = toy::run_normal(program.bound(), *unrolled);
  if (!run) {
    reason = "the formulas of " + name + " are too long";
    return std::nullopt;
  }
  return std::move(*run);
}

class OutputComparer {
 public:
  OutputComparer(const ComparedProgram& left, const ComparedProgram& right, const RunOptions& run)
      : left_(left), right_(right), run_(run) {
    diff_.left = left.loaded.short_name();
    diff_.right = right.loaded.short_name();
    diff_.tolerance = run.precision == "double" ? kDoubleTolerance : kFloatTolerance;
  }

  OutputDiff run() {
    require_same_inputs(left_, right_);
    require_same_inputs(right_, left_);
    const std::vector<std::string> outputs = common_outputs();
    left_forms_ = formulas_of(left_, diff_.no_formulas);
    if (left_forms_) right_forms_ = formulas_of(right_, diff_.no_formulas);
    left_values_ = execute(left_.loaded, left_.machines, run_).dram;
    right_values_ = execute(right_.loaded, right_.machines, run_).dram;
    for (const std::string& name : outputs) compare_output(name);
    return std::move(diff_);
  }

 private:
  std::vector<std::string> common_outputs() {
    std::vector<std::string> common;
    const std::vector<std::string> lefts = arrays_of(left_.bound(), ArrayRole::kOutput);
    const std::vector<std::string> rights = arrays_of(right_.bound(), ArrayRole::kOutput);
    for (const std::string& name : lefts) {
      const bool both = std::find(rights.begin(), rights.end(), name) != rights.end();
      (both ? common : diff_.left_only).push_back(name);
    }
    for (const std::string& name : rights) {
      const bool both = std::find(lefts.begin(), lefts.end(), name) != lefts.end();
      if (!both) diff_.right_only.push_back(name);
    }
    if (!common.empty()) return common;
    throw request_failure("the two programs have no output in common: " + diff_.left + " has " +
                              joined(lefts) + ", " + diff_.right + " has " + joined(rights),
                          "an output of the same name");
  }

  void compare_output(const std::string& name) {
    const BoundArray& left = *find_array(left_.bound(), name, ArrayRole::kOutput);
    const BoundArray& right = *find_array(right_.bound(), name, ArrayRole::kOutput);
    require_same_shape(left, right, "output", diff_.left, diff_.right);
    OutputComparison output;
    output.array = name;
    output.elements = left.size;
    output.by_formulas = have_equal_formulas(left, right);
    for (std::int64_t i = 0; i < left.size; ++i) {
      const double bound = std::abs(value(right_values_, right, i));
      if (std::isfinite(bound)) output.largest_value = std::max(output.largest_value, bound);
    }
    for (std::int64_t i = 0; i < left.size; ++i) compare_element(left, right, i, output);
    diff_.outputs.push_back(std::move(output));
  }

  bool have_equal_formulas(const BoundArray& left, const BoundArray& right) const {
    if (!left_forms_ || !right_forms_) return false;
    for (std::int64_t i = 0; i < left.size; ++i) {
      if (!(form(*left_forms_, left, i) == form(*right_forms_, right, i))) return false;
    }
    return true;
  }

  void compare_element(const BoundArray& left, const BoundArray& right, std::int64_t i,
                       OutputComparison& output) {
    const double mine = value(left_values_, left, i), theirs = value(right_values_, right, i);
    if (mine == theirs) return;  // equal infinities, too
    const double distance = std::abs(mine - theirs);
    if (std::isfinite(distance)) {
      output.largest_difference = std::max(output.largest_difference, distance);
    }
    if (output.by_formulas || output.differing) return;
    if (distance <= diff_.tolerance * output.largest_value) return;
    DifferingElement element{left.element_name(i), mine, theirs, {}, {}};
    if (left_forms_ && right_forms_) write_formulas(left, right, i, element);
    output.differing = std::move(element);
  }

  void write_formulas(const BoundArray& left, const BoundArray& right, std::int64_t i,
                      DifferingElement& element) const {
    const auto shown =
        toy::formula_difference(toy::to_string(form(*left_forms_, left, i), kLongestFormula,
                                               toy::constant_names(left_.bound())),
                                toy::to_string(form(*right_forms_, right, i), kLongestFormula,
                                               toy::constant_names(right_.bound())));
    element.left_formula = shown.one;
    element.right_formula = shown.other;
  }

  static double value(const std::vector<double>& dram, const BoundArray& array, std::int64_t i) {
    return dram[static_cast<std::size_t>(array.offset + i)];
  }
  static const toy::NormalForm& form(const toy::NormalRun& run, const BoundArray& array,
                                     std::int64_t i) {
    return run.dram[static_cast<std::size_t>(array.offset + i)];
  }

  const ComparedProgram &left_, &right_;
  const RunOptions& run_;
  OutputDiff diff_;
  std::optional<toy::NormalRun> left_forms_, right_forms_;
  std::vector<double> left_values_, right_values_;
};

/// A value of a run; cells that were never stored hold NaN.
std::string shown_value(double value) { return std::isnan(value) ? "-" : short_text(value); }

std::string verdict_of(const OutputComparison& output) {
  if (output.by_formulas) return "equal for all inputs";
  return output.differing ? "differs" : "agrees";
}

std::string outputs_table(const OutputDiff& diff, const Terminal& terminal) {
  TextTable table({{"output"},
                   {"elements", Align::kRight},
                   {"compared by"},
                   {"result"},
                   {"largest difference", Align::kRight},
                   {"largest value", Align::kRight}});
  for (const OutputComparison& output : diff.outputs) {
    table.row({output.array, grouped(std::to_string(output.elements)),
               output.by_formulas ? "formulas" : "values", verdict_of(output),
               short_text(output.largest_difference, 3), short_text(output.largest_value, 3)});
  }
  return table.to_string(terminal);
}

std::string element_text(const OutputDiff& diff, const DifferingElement& element,
                         const Terminal& terminal) {
  TextTable table({{element.name}, {"value", Align::kRight}, {"formula"}});
  const bool has_formulas = !element.left_formula.empty();
  if (!has_formulas) table = TextTable({{element.name}, {"value", Align::kRight}});
  const auto row = [&](const std::string& name, double value, const std::string& formula) {
    std::vector<std::string> cells{name, shown_value(value)};
    if (has_formulas) cells.push_back(formula);
    table.row(std::move(cells));
  };
  row(diff.left, element.left, element.left_formula);
  row(diff.right, element.right, element.right_formula);
  return table.to_string(terminal);
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

bool OutputDiff::agree() const {
  return std::none_of(outputs.begin(), outputs.end(),
                      [](const OutputComparison& output) { return output.differing.has_value(); });
}

OutputDiff compare_outputs(const ComparedProgram& left, const ComparedProgram& right,
                           const RunOptions& run) {
  return OutputComparer(left, right, run).run();
}

std::string output_diff_text(const OutputDiff& diff, const Terminal& terminal) {
  const auto differing =
      std::find_if(diff.outputs.begin(), diff.outputs.end(),
                   [](const OutputComparison& output) { return output.differing.has_value(); });
  std::string text;
  if (differing == diff.outputs.end()) {
    text =
        wrapped("The outputs of " + diff.left + " and " + diff.right + " agree.", terminal.width);
  } else {
    text = wrapped("The outputs of " + diff.left + " and " + diff.right + " differ, first in " +
                       differing->differing->name + ".",
                   terminal.width);
  }
  text += "\n" + outputs_table(diff, terminal);
  if (differing != diff.outputs.end()) {
    text += "\n" + element_text(diff, *differing->differing, terminal);
  }
  const bool by_values =
      std::any_of(diff.outputs.begin(), diff.outputs.end(),
                  [](const OutputComparison& output) { return !output.by_formulas; });
  if (by_values) {
    text += "\n" + wrapped("Values agree if they differ by at most " + short_text(diff.tolerance) +
                               " of the output's largest value. --input sets the inputs.",
                           terminal.width);
  }
  if (!diff.no_formulas.empty()) {
    text += wrapped("Formulas were not compared: " + diff.no_formulas + ".", terminal.width);
  }
  const auto only = [&](const std::string& program, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += wrapped("Only " + program + " has " + joined(names) + ".", terminal.width);
  };
  only(diff.left, diff.left_only);
  only(diff.right, diff.right_only);
  return text;
}

nlohmann::ordered_json output_diff_json(const OutputDiff& diff) {
  Json outputs = Json::array();
  for (const OutputComparison& output : diff.outputs) {
    Json one{{"array", output.array},
             {"elements", output.elements},
             {"by_formulas", output.by_formulas},
             {"agrees", !output.differing.has_value()},
             {"largest_difference", output.largest_difference},
             {"largest_value", output.largest_value}};
    if (output.differing) {
      one["first_difference"] = {{"element", output.differing->name},
                                 {"left", number_json(output.differing->left)},
                                 {"right", number_json(output.differing->right)},
                                 {"left_formula", output.differing->left_formula},
                                 {"right_formula", output.differing->right_formula}};
    }
    outputs.push_back(std::move(one));
  }
  return {{"left", diff.left},
          {"right", diff.right},
          {"agree", diff.agree()},
          {"tolerance", diff.tolerance},
          {"outputs", outputs},
          {"left_only", diff.left_only},
          {"right_only", diff.right_only},
          {"no_formulas", diff.no_formulas}};
}

}  // namespace flashlab::cli
