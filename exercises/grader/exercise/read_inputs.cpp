// Reads inputs and expected results from exercise.toml.
#include <algorithm>
#include <cmath>
#include <optional>

#include "exercises/grader/exercise/read_program.hpp"
#include "exercises/grader/exercise/references.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

/// Those of an exercise that lists none.
const std::vector<Family> kUsualFamilies = {
    Family::kRandom, Family::kAscending, Family::kDescending, Family::kConstant,
    Family::kHuge,   Family::kTiny,      Family::kSpike};

std::vector<Family> all_families() {
  std::vector<Family> all = kUsualFamilies;
  all.push_back(Family::kValley);
  all.push_back(Family::kFar);
  all.push_back(Family::kBlocks);
  return all;
}

std::optional<Range> read_range(const toml::node& value) {
  const toml::array* pair = value.as_array();
  if (pair == nullptr || pair->size() != 2) return std::nullopt;
  const double nan = std::nan("");
  const Range range{pair->get(0)->value_or(nan), pair->get(1)->value_or(nan)};
  const bool finite = std::isfinite(range.low) && std::isfinite(range.high);
  return finite && range.low < range.high ? std::optional(range) : std::nullopt;
}

/// The names of the program's arrays of one role.
std::vector<std::string> names_of(const toy::Program& program, toy::ArrayRole role) {
  std::vector<std::string> names;
  for (const toy::ArrayDeclaration& array : program.arrays) {
    if (array.role == role) names.push_back(array.name);
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view to_string(Family family) {
  switch (family) {
    case Family::kRandom:
      return "random";
    case Family::kAscending:
      return "ascending";
    case Family::kDescending:
      return "descending";
    case Family::kConstant:
      return "constant";
    case Family::kHuge:
      return "huge";
    case Family::kTiny:
      return "tiny";
    case Family::kSpike:
      return "spike";
    case Family::kFar:
      return "far";
    case Family::kValley:
      return "valley";
    case Family::kBlocks:
      return "blocks";
  }
  return "";
}

std::optional<Family> parse_family(std::string_view name) {
  for (const Family family : all_families()) {
    if (to_string(family) == name) return family;
  }
  return std::nullopt;
}

/// Every array of that role in the program must be an input of the exercise.
void PartReader::expect_inputs(const std::string& file, const toy::Program& program_read,
                               toy::ArrayRole role) {
  if (exercise.program.interface == nullptr) return;
  const auto inputs = names_of(*exercise.program.interface, toy::ArrayRole::kInput);
  for (const toy::ArrayDeclaration& array : program_read.arrays) {
    if (array.role != role || has(inputs, array.name)) continue;
    ErrorList(file, *find_text(file), read_errors)
        .add(array.span, "'" + array.name + "' is not an input of this exercise",
             "one of " + joined(inputs), nearest(array.name, inputs).value_or(""));
  }
}

void PartReader::read_inputs(TomlTable& inputs) {
  Inputs& result = exercise.program.inputs;
  std::vector<std::string> names;
  for (const Family known : all_families()) names.emplace_back(to_string(known));
  for (const std::string& name : inputs.texts("families")) {
    if (const auto family = parse_family(name)) {
      result.families.push_back(*family);
    } else {
      inputs.wrong("families", "there is no family '" + name + "'", "one of " + joined(names),
                   nearest(name, names).value_or(""));
    }
  }
  if (result.families.empty()) result.families = kUsualFamilies;
  result.huge = inputs.number("huge", result.huge);
  result.tiny = inputs.number("tiny", result.tiny);
  if (!(result.huge > 0)) inputs.wrong("huge", "not above 0", "such as 1e4");
  if (!(result.tiny > 0)) inputs.wrong("tiny", "not above 0", "such as 1e-6");
  read_ranges(inputs);
  const std::string derive = inputs.line("derive");
  if (derive.empty()) return;
  result.derive = program(derive, &inputs, "derive");
  if (result.derive == nullptr) return;
  expect_inputs(derive, *result.derive, toy::ArrayRole::kInput);
  expect_inputs(derive, *result.derive, toy::ArrayRole::kOutput);
}

void PartReader::read_ranges(TomlTable& inputs) {
  const toml::table* ranges = inputs.table("ranges");
  const auto& interface = exercise.program.interface;
  if (ranges == nullptr || interface == nullptr) return;
  const auto names = names_of(*interface, toy::ArrayRole::kInput);
  for (const auto& [key, value] : *ranges) {
    const std::string name(key.str());
    if (!has(names, name)) {
      errors.add(key.source(), "'" + printable(name) + "' is not an input of this exercise",
                 "one of " + joined(names), nearest(name, names).value_or(""));
    } else if (const std::optional<Range> range = read_range(value)) {
      exercise.program.inputs.ranges[name] = *range;
    } else {
      errors.add(value.source(), "this is not a range of '" + name + "'",
                 "[low, high] with low < high");
    }
  }
}

void PartReader::read_expect(TomlTable& expect) {
  ProgramTask& task = exercise.program;
  const std::string reference = expect.required_line("reference");
  constexpr std::string_view kBuiltin = "builtin:";
  read_check(expect);
  if (reference.starts_with(kBuiltin)) {
    task.builtin_reference = reference.substr(kBuiltin.size());
    const std::vector<std::string> names = builtin_reference_names();
    if (!has(names, task.builtin_reference)) {
      expect.wrong("reference", "there is no built-in reference '" + task.builtin_reference + "'",
                   "one of " + joined(names), nearest(task.builtin_reference, names).value_or(""));
    }
  } else if (!reference.empty()) {
    task.reference = program(reference, &expect, "reference");
    if (task.reference != nullptr) check_reference(expect, reference);
  }
  read_tolerance(expect);
  task.numerics.range_safe = expect.flag("range_safe");
  task.numerics.rounding_safe = expect.flag("rounding_safe");
}

/// tolerance = 1e-3, tolerances = { mean = 1e-5 }: of all outputs, and of single ones.
void PartReader::read_tolerance(TomlTable& expect) {
  ProgramTask& task = exercise.program;
  const auto is_one = [](double value) { return value > 0 && value < 1; };
  task.tolerance.usual = expect.number("tolerance", task.tolerance.usual);
  if (!is_one(task.tolerance.usual)) {
    expect.wrong("tolerance", "not between 0 and 1", "such as 1e-5");
  }
  const toml::table* by_array = expect.table("tolerances");
  if (by_array == nullptr) return;
  for (const auto& [key, value] : *by_array) {
    const std::string name(key.str());
    const double number = value.value<double>().value_or(0);
    if (!has(task.check, name)) {
      errors.add(key.source(), "'" + printable(name) + "' is not an output that is compared",
                 "one of " + joined(task.check), nearest(name, task.check).value_or(""));
    } else if (!is_one(number)) {
      errors.add(value.source(), "the tolerance of '" + name + "' is not between 0 and 1",
                 "such as 1e-5");
    } else {
      task.tolerance.by_array[name] = number;
    }
  }
}

void PartReader::check_reference(TomlTable& expect, const std::string& file) {
  const ProgramTask& task = exercise.program;
  expect_inputs(file, *task.reference, toy::ArrayRole::kInput);
  const auto outputs = names_of(*task.reference, toy::ArrayRole::kOutput);
  for (const std::string& name : task.check) {
    if (has(outputs, name)) continue;
    expect.wrong("reference", file + " does not compute '" + name + "'",
                 ".output " + name + " in it, or [expect] check without '" + name + "'");
  }
}

void PartReader::read_check(TomlTable& expect) {
  ProgramTask& task = exercise.program;
  task.check = expect.texts("check");
  if (task.interface == nullptr) return;
  const auto outputs = names_of(*task.interface, toy::ArrayRole::kOutput);
  for (const std::string& name : task.check) {
    if (has(outputs, name)) continue;
    expect.wrong("check", "'" + name + "' is not an output", "one of " + joined(outputs),
                 nearest(name, outputs).value_or(""));
  }
  if (task.check.empty()) task.check = outputs;
}

}  // namespace flashlab::exercises
