// A program to write, as exercise.toml states it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "exercises/grader/count_keys.hpp"
#include "exercises/grader/read_parts.hpp"
#include "exercises/grader/references.hpp"
#include "toymachine/assembler.hpp"
#include "toymachine/instruction_set.hpp"

namespace flashlab::exercises {
namespace {

const std::vector<Family> kFamilies = {Family::kRandom,   Family::kAscending, Family::kDescending,
                                       Family::kConstant, Family::kHuge,      Family::kTiny,
                                       Family::kSpike};

template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + std::string(entry);
  return text;
}

std::optional<Range> read_range(const toml::node& value) {
  const toml::array* pair = value.as_array();
  if (pair == nullptr || pair->size() != 2) return std::nullopt;
  const double nan = std::nan("");
  const Range range{pair->get(0)->value_or(nan), pair->get(1)->value_or(nan)};
  return range.low < range.high ? std::optional(range) : std::nullopt;
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
  }
  return "";
}

std::optional<Family> parse_family(std::string_view name) {
  for (const Family family : kFamilies) {
    if (to_string(family) == name) return family;
  }
  return std::nullopt;
}

const std::string* PartReader::text(const std::string& file) {
  const auto found = files.find(file);
  if (found != files.end()) return &found->second;
  read_errors.push_back({file, {}});
  read_errors.back().diagnostic.what = "there is no " + file;
  read_errors.back().diagnostic.expected = "a file of the exercise's folder";
  return nullptr;
}

std::shared_ptr<const toy::Program> PartReader::program(const std::string& file) {
  const std::string* source = text(file);
  if (source == nullptr) return nullptr;
  auto assembled = toy::assemble(std::make_shared<toy::SourceText>(file, *source));
  for (const toy::Diagnostic& diagnostic : assembled.diagnostics) {
    if (!assembled) read_errors.push_back({file, diagnostic});
  }
  if (!assembled) return nullptr;
  return std::make_shared<const toy::Program>(std::move(*assembled));
}

void PartReader::read_program(TomlTable& top) {
  static const toml::table kNone;
  ProgramTask& task = exercise.program;
  const auto part = [&](const char* key, void (PartReader::*read)(TomlTable&)) {
    const toml::table* found = top.table(key);
    TomlTable table(found != nullptr ? *found : kNone, "[" + std::string(key) + "]", errors);
    (this->*read)(table);
    table.finish();
  };
  if (!top.has("machine")) top.missing("machine", "[machine] with level, arrays, sizes");
  if (!top.has("expect")) top.missing("expect", "[expect] with a reference");
  part("machine", &PartReader::read_machine);
  part("inputs", &PartReader::read_inputs);
  part("expect", &PartReader::read_expect);
  part("cost", &PartReader::read_cost);
  read_numbers(top);
  task.solution = program("solution.toy");
  if (exercise.demo) {
    if (const std::string* solution = text("solution.toy")) task.starter = *solution;
  } else if (const std::string* starter = text("starter.toy")) {
    task.starter = *starter;
    program("starter.toy");
  }
}

void PartReader::read_machine(TomlTable& machine) {
  ProgramTask& task = exercise.program;
  const std::string level = machine.required_text("level");
  if (const auto known = toy::parse_level(level)) {
    task.level = *known;
  } else if (machine.has("level")) {
    machine.wrong("level", "unknown level '" + level + "'", "matmul, softmax or attention");
  }
  read_extra(machine);
  task.registers = machine.expression("registers");
  const std::string operands = machine.text("operands", "any");
  if (operands != "any" && operands != "pinned") {
    machine.wrong("operands", "unknown rule '" + operands + "'", "any or pinned");
  }
  task.operands = operands == "pinned" ? toy::OperandRule::kPinned : toy::OperandRule::kAny;
  task.temporaries = machine.flag("temporaries");
  read_sizes(machine);
  read_interface(machine);
}

void PartReader::read_extra(TomlTable& machine) {
  for (const std::string& name : machine.texts("extra")) {
    const auto row = toy::find_instruction(name);
    if (row) {
      exercise.program.extra_instructions.push_back(*row);
      continue;
    }
    std::vector<std::string> mnemonics;
    for (const auto& spec : toy::instruction_set()) mnemonics.emplace_back(spec.mnemonic);
    machine.wrong("extra", "there is no instruction '" + name + "'", "one of " + joined(mnemonics),
                  toy::nearest(name, mnemonics).value_or(""));
  }
}

void PartReader::read_sizes(TomlTable& machine) {
  if (!machine.has("sizes")) machine.missing("sizes", "[{ n = 1 }, { n = 2 }], smallest first");
  for (const toml::table* entry : machine.tables("sizes")) {
    Size size;
    for (const auto& [key, value] : *entry) {
      const auto* number = value.as_integer();
      if (number == nullptr || number->get() < 0 || number->get() > 1'000'000) {
        errors.add(value.source(), "the size '" + std::string(key.str()) + "' is no size",
                   "a whole number from 0 to 1000000");
        continue;
      }
      size[std::string(key.str())] = number->get();
    }
    if (!exercise.program.sizes.empty() && size.size() != exercise.program.sizes[0].size()) {
      errors.add(entry->source(), "this size has other parameters than the first one",
                 "the same parameters in every size");
    }
    exercise.program.sizes.push_back(std::move(size));
  }
  if (machine.has("sizes") && exercise.program.sizes.empty()) {
    machine.wrong("sizes", "no size at all", "[{ n = 1 }, { n = 2 }], or [{}] without parameters");
  }
}

/// The declarations, assembled like a program of their own, at the first size's parameters.
void PartReader::read_interface(TomlTable& machine) {
  ProgramTask& task = exercise.program;
  if (!machine.has("arrays")) machine.missing("arrays", "[\".input x[n]\", \".output out[n]\"]");
  task.arrays = machine.texts("arrays");
  std::string source = ".isa attention\n";
  if (!task.registers.empty()) source += ".registers " + task.registers + "\n";
  for (const std::string& line : task.arrays) {
    if (line.find('\n') != std::string::npos) {
      machine.wrong("arrays", "a declaration has more than one line", "one declaration an entry");
      return;
    }
    source += line + "\n";
  }
  std::string params;
  if (!task.sizes.empty()) {
    for (const auto& [name, value] : task.sizes[0]) {
      params += ".param " + name + " = " + std::to_string(value) + "\n";
    }
  }
  source += "FILL 0, R0\n";  // a program has an instruction
  auto assembled = toy::assemble(std::make_shared<toy::SourceText>("arrays", params + source));
  if (!assembled) {
    for (const toy::Diagnostic& diagnostic : assembled.diagnostics) {
      machine.wrong("arrays", diagnostic.what, diagnostic.expected, diagnostic.suggestion);
    }
    return;
  }
  task.interface = std::make_shared<const toy::Program>(std::move(*assembled));
  const auto has = [&](toy::ArrayRole role) {
    return std::any_of(task.interface->arrays.begin(), task.interface->arrays.end(),
                       [&](const toy::ArrayDeclaration& array) { return array.role == role; });
  };
  if (!has(toy::ArrayRole::kOutput)) machine.wrong("arrays", "no output", ".output NAME[…]");
}

void PartReader::read_inputs(TomlTable& inputs) {
  Inputs& result = exercise.program.inputs;
  for (const std::string& name : inputs.texts("families")) {
    if (const auto family = parse_family(name)) {
      result.families.push_back(*family);
    } else {
      std::vector<std::string> names;
      for (const Family known : kFamilies) names.emplace_back(to_string(known));
      inputs.wrong("families", "there is no family '" + name + "'", "one of " + joined(names),
                   toy::nearest(name, names).value_or(""));
    }
  }
  if (result.families.empty()) result.families = kFamilies;
  result.huge = inputs.number("huge", result.huge);
  result.tiny = inputs.number("tiny", result.tiny);
  read_ranges(inputs);
  const std::string derive = inputs.text("derive");
  if (!derive.empty()) result.derive = program(derive);
}

void PartReader::read_ranges(TomlTable& inputs) {
  const toml::table* ranges = inputs.table("ranges");
  if (ranges == nullptr) return;
  for (const auto& [key, value] : *ranges) {
    const std::string name(key.str());
    const std::optional<Range> range = read_range(value);
    if (!range) {
      errors.add(value.source(), "the range of '" + name + "' is none", "[low, high], low < high");
      continue;
    }
    const auto& program = exercise.program.interface;
    if (program != nullptr && std::none_of(program->arrays.begin(), program->arrays.end(),
                                           [&](const toy::ArrayDeclaration& array) {
                                             return array.name == name &&
                                                    array.role == toy::ArrayRole::kInput;
                                           })) {
      errors.add(value.source(), "'" + name + "' is no input of this exercise", "an input's name");
    }
    exercise.program.inputs.ranges[name] = *range;
  }
}

void PartReader::read_expect(TomlTable& expect) {
  ProgramTask& task = exercise.program;
  const std::string reference = expect.required_text("reference");
  constexpr std::string_view kBuiltin = "builtin:";
  if (reference.starts_with(kBuiltin)) {
    task.builtin_reference = reference.substr(kBuiltin.size());
    const std::vector<std::string> names = builtin_reference_names();
    if (std::find(names.begin(), names.end(), task.builtin_reference) == names.end()) {
      expect.wrong("reference", "there is no built-in reference '" + task.builtin_reference + "'",
                   "one of " + joined(names),
                   toy::nearest(task.builtin_reference, names).value_or(""));
    }
  } else if (!reference.empty()) {
    task.reference = program(reference);
  }
  read_check(expect);
  task.tolerance = expect.number("tolerance", task.tolerance);
  if (!(task.tolerance > 0 && task.tolerance < 1)) {
    expect.wrong("tolerance", "not between 0 and 1", "such as 1e-5");
  }
  task.numerics.range_safe = expect.flag("range_safe");
  task.numerics.rounding_safe = expect.flag("rounding_safe");
}

void PartReader::read_check(TomlTable& expect) {
  ProgramTask& task = exercise.program;
  task.check = expect.texts("check");
  if (task.interface == nullptr) return;
  std::vector<std::string> outputs;
  for (const toy::ArrayDeclaration& array : task.interface->arrays) {
    if (array.role == toy::ArrayRole::kOutput) outputs.push_back(array.name);
  }
  for (const std::string& name : task.check) {
    if (std::find(outputs.begin(), outputs.end(), name) != outputs.end()) continue;
    expect.wrong("check", "'" + name + "' is no output", "one of " + joined(outputs),
                 toy::nearest(name, outputs).value_or(""));
  }
  if (task.check.empty()) task.check = outputs;
}

void PartReader::read_cost(TomlTable& cost) {
  read_formulas(cost, "full", exercise.program.cost.full);
  read_formulas(cost, "most", exercise.program.cost.most);
}

void PartReader::read_formulas(TomlTable& cost, std::string_view key, CountFormulas& formulas) {
  const toml::table* entries = cost.table(key);
  if (entries == nullptr) return;
  for (const auto& [name, value] : *entries) {
    const std::string counter(name.str());
    if (!is_count_key(counter, exercise.program.interface.get())) {
      errors.add(value.source(), "there is no counter '" + counter + "'",
                 "one of " + joined(count_keys()) + ", or ARRAY.loads, ARRAY.stores");
      continue;
    }
    const auto* text = value.as_string();
    const auto* number = value.as_integer();
    const std::string written = text != nullptr     ? text->get()
                                : number != nullptr ? std::to_string(number->get())
                                                    : "";
    if (const auto formula = toy::parse_polynomial(written)) {
      formulas[counter] = *formula;
    } else {
      errors.add(value.source(), "'" + counter + "' in [cost] is no formula",
                 "a polynomial in the parameters: \"14*n - 4\"");
    }
  }
}

void PartReader::read_numbers(TomlTable& top) {
  static const toml::table kNone;
  ProgramTask& task = exercise.program;
  const toml::table* points = top.table("points");
  TomlTable points_table(points != nullptr ? *points : kNone, "[points]", errors);
  task.points.correct = points_table.number("correct", task.points.correct);
  task.points.cost = points_table.number("cost", task.points.cost);
  if (task.points.correct < 0 || task.points.cost < 0) {
    top.wrong("points", "points below 0", "0 or more");
  }
  if (task.cost.full.empty()) {  // nothing to earn them with
    task.points.correct += task.points.cost;
    task.points.cost = 0;
  }
  points_table.finish();
  const toml::table* limits = top.table("limits");
  TomlTable limits_table(limits != nullptr ? *limits : kNone, "[limits]", errors);
  task.limits.max_steps = limits_table.whole("steps", 100'000, 1);
  task.limits.max_source_bytes = limits_table.whole("source_bytes", 1 << 16, 1);
  task.limits.max_nesting = limits_table.whole("nesting", 16, 1);
  task.limits.max_array_bytes = limits_table.whole("array_bytes", 1 << 24, 1);
  task.max_milliseconds = limits_table.whole("milliseconds", task.max_milliseconds, 1);
  limits_table.finish();
}

void PartReader::read_wrong(TomlTable& top) {
  for (const toml::table* entry : top.tables("wrong")) {
    TomlTable table(*entry, "[[wrong]]", errors);
    WrongSubmission wrong;
    wrong.file = table.required_text("file");
    wrong.line = static_cast<std::uint32_t>(table.whole("line", 0, 0));
    wrong.says = table.text("says");
    if (!wrong.file.empty()) text(wrong.file);
    table.finish();
    exercise.program.wrong.push_back(std::move(wrong));
  }
}

}  // namespace flashlab::exercises
