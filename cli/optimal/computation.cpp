#include "cli/optimal/computation.hpp"

#include <algorithm>

#include "cli/options/options.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "exercises/grader/prove/computation_of.hpp"
#include "text/visible.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

constexpr int kMostRegisters = 1 << 20;  // more than any solver accepts

/// Returns whether the name is a file or an embedded program; no computation has such a name.
bool is_program(const std::string& name) {
  return name == "-" || name.ends_with(".toy") || name.find('/') != std::string::npos ||
         find_bundled_program(name.substr(0, name.find('+'))) != nullptr;
}

optimal::Computation value_or_refuse(toy::Result<optimal::Computation> result) {
  if (result) return std::move(*result);
  const toy::Diagnostic& first = result.diagnostics.front();
  throw request_failure(printable(first.what), printable(first.expected));
}

/// Returns ".input  x[2]", the program's declaration at this size.
std::string declaration(const toy::BoundArray& array) {
  std::string text = array.role == toy::ArrayRole::kInput ? ".input  " : ".output ";
  text += array.name;
  for (const std::int64_t extent : array.extents) text += "[" + std::to_string(extent) + "]";
  return text + (array.element_type == toy::ElementType::kDouble ? " double" : "");
}

AskedComputation of_file(const ComputationOptions& options) {
  MachineOptions machine;
  machine.definitions = options.definitions;
  machine.score = options.score;
  const LoadedProgram loaded = load_program(options.name, machine);
  const toy::BoundProgram bound = loaded.bind(machine.binding());
  const toy::Program& program = *loaded.program;
  if (program.has_score_function || program.operand_rule == toy::OperandRule::kConstants) {
    print_note("the search has no constants as operands: it fills them into registers");
  }
  optimal::StatedProgram stated{loaded.short_name(),
                                "What " + loaded.short_name() + " computes",
                                {program.level, program.extra_instructions},
                                {},
                                bound,
                                {}};
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kTemp) stated.declarations.push_back(declaration(array));
  }
  auto computation = optimal::stated_computation(stated);
  if (!computation && computation.diagnostics.front().span.line > 0) {
    throw program_failure(computation.diagnostics, *loaded.source);
  }
  AskedComputation asked{value_or_refuse(std::move(computation)), {}, {}, {}, false};
  if (bound.registers_declared) {
    asked.registers = static_cast<int>(std::min<std::int64_t>(bound.num_registers, kMostRegisters));
  }
  if (asked.product() != nullptr) asked.operands = program.operand_rule;
  if (asked.product() == nullptr && program.operand_rule == toy::OperandRule::kPinned) {
    throw request_failure(loaded.short_name() +
                              " has pinned operands, which the solver supports for "
                              "products only",
                          ".operands any");
  }
  asked.computation.name = loaded.short_name() + ": " + asked.computation.name;
  if (asked.computation.name == loaded.short_name() + ": " + loaded.short_name()) {
    asked.computation.name = loaded.short_name();
  }
  asked.params = machine.binding().params;
  asked.program = bound;
  return asked;
}

std::string sizes_text(const exercises::ProgramTask& task) {
  std::string text;
  for (const exercises::Size& size : task.sizes) {
    std::string one = exercises::to_string(size);
    one.erase(std::remove(one.begin(), one.end(), ' '), one.end());
    text += (text.empty() ? "" : " or ") + one;
  }
  return text;
}

/// Parses "n=2,d=1"; empty: the smallest size.
exercises::Size size_of(const exercises::ProgramTask& task, const std::string& text) {
  if (text.empty()) return task.sizes.front();
  MachineOptions machine;
  machine.definitions = {text};
  const auto params = machine.binding().params;
  const exercises::Size size(params.begin(), params.end());
  if (std::find(task.sizes.begin(), task.sizes.end(), size) != task.sizes.end()) return size;
  const std::string known = sizes_text(task);
  throw request_failure("the exercise has no size '" + printable(text) + "'",
                        known.empty() ? "no --size: it has one size" : known);
}

AskedComputation of_exercise(const ComputationOptions& options) {
  const auto exercise = find_exercise(options.exercise, options.exercises);
  if (exercise->kind != exercises::Kind::kProgram) {
    throw request_failure(
        "the exercise " + printable(exercise->id) + " asks questions: there is no program to find",
        "an exercise with a program to write");
  }
  const exercises::Size size = size_of(exercise->program, options.size);
  auto posed = exercises::computation_of(exercise->program, size);
  const std::string at = size.empty() ? "" : " at " + exercises::to_string(size);
  if (!posed) {
    const toy::Diagnostic& first = posed.diagnostics.front();
    throw request_failure(printable(exercise->id) + at + ": " + printable(first.what),
                          printable(first.expected));
  }
  if (posed->temporaries) {
    print_note("temporary arrays are allowed in this exercise, and not used here");
  }
  AskedComputation asked{std::move(posed->computation), {}, {}, {}, false};
  asked.registers = static_cast<int>(std::min<std::int64_t>(posed->registers, kMostRegisters));
  if (asked.product() != nullptr) asked.operands = posed->operands;
  asked.scratch_cells = posed->scratch_cells;
  if (posed->most_loads) asked.most_loads = static_cast<int>(*posed->most_loads);
  asked.computation.name = exercise->id + at;
  asked.params.insert(size.begin(), size.end());
  return asked;
}

}  // namespace

AskedComputation asked_computation(const ComputationOptions& options) {
  if (options.name.empty() == options.exercise.empty()) {
    throw request_failure(options.name.empty() ? "what is to be computed is missing"
                                               : "a computation and an exercise are both given",
                          options.name.empty()
                              ? optimal::computation_names() + ", a program, or --exercise ID"
                              : "one of them");
  }
  if (!options.size.empty() && options.exercise.empty()) {
    throw request_failure("--size selects a size of an exercise", "it with --exercise");
  }
  const bool reads_program = is_program(options.name);
  if (!options.definitions.empty() && !reads_program) {
    throw request_failure("-D gives values to a program's parameters",
                          "it with a .toy file or a program's name; --size n=2 for an exercise");
  }
  if (options.score && !reads_program) {
    throw request_failure("--score gives a function to a program",
                          "it with a .toy file or a program's name");
  }
  if (!options.exercise.empty()) return of_exercise(options);
  if (reads_program) return of_file(options);
  return {value_or_refuse(optimal::named_computation(options.name)), {}, {}, {}, true};
}

}  // namespace flashlab::cli
