#include "exercises/grader/submission/submission.hpp"

#include <algorithm>
#include <sstream>

#include "text/visible.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/expression.hpp"
#include "toymachine/links/unroll_machines.hpp"

namespace flashlab::exercises {
namespace {

/// Whether the exercise's machine has the instruction (row of instruction_set()).
bool has_instruction(const ProgramTask& task, std::size_t row) {
  const auto& extra = task.extra_instructions;
  return toy::instruction_set()[row].in(task.level) ||
         (!task.machines.empty() && toy::instruction_set()[row].is_link()) ||
         std::find(extra.begin(), extra.end(), row) != extra.end();
}

/// "ADD, DIV, LOAD": what the exercise's machine has.
std::string instructions_text(const ProgramTask& task) {
  std::string text;
  for (std::size_t row = 0; row < toy::instruction_set().size(); ++row) {
    if (!has_instruction(task, row)) continue;
    text += (text.empty() ? "" : ", ") + std::string(toy::instruction_set()[row].mnemonic);
  }
  return text;
}

/// Collects the differences between a submission and its exercise.
class Fit {
 public:
  Fit(const ProgramTask& task, const toy::Program& program) : task_(task), program_(program) {}

  std::vector<toy::Diagnostic> run() {
    check_machines();
    check_params();
    check_arrays();
    check_instructions(program_.body);
    return std::move(diagnostics_);
  }

 private:
  void say(const toy::SourceSpan& span, std::string what, std::string expected,
           std::string suggestion = {}) {
    diagnostics_.push_back({toy::Severity::kError, toy::Fault::kProgram, span, std::move(what),
                            std::move(expected), std::move(suggestion)});
  }

  void check_machines() {
    const auto& wanted = task_.interface->machines;
    const auto& mine = program_.machines;
    if (mine && !wanted) {
      say(mine->span, "this exercise has one machine", "a program without .machines");
    } else if (wanted && !mine) {
      say({1, 1, 1}, "the program has one machine", machines_line());
    } else if (wanted &&
               (program_.params[mine->rank].name != task_.interface->params[wanted->rank].name ||
                program_.params[mine->ranks].name != task_.interface->params[wanted->ranks].name)) {
      say(mine->span, "the machines have other names in the exercise", machines_line());
    }
  }
  std::string machines_line() const {
    const std::size_t of = task_.machines.rfind(' ');
    return task_.machines + " = " +
           std::to_string(task_.sizes.front().at(task_.machines.substr(of + 1)));
  }

  void check_params() {
    for (const auto& [name, value] : task_.sizes.front()) {
      if (task_.machines.ends_with(" of " + name)) continue;  // check_machines has said it
      const auto has = [&, &wanted = name](const toy::ParamDeclaration& param) {
        return param.name == wanted;
      };
      if (std::any_of(program_.params.begin(), program_.params.end(), has)) continue;
      say({1, 1, 1}, "the program has no parameter " + name,
          ".param " + name + " = " + std::to_string(value) + " (it is run at several values)");
    }
  }

  void check_arrays() {
    for (const toy::ArrayDeclaration& wanted : task_.interface->arrays) {
      const toy::ArrayDeclaration* mine = find(program_, wanted.name);
      if (mine == nullptr) {
        say({1, 1, 1}, "the array " + wanted.name + " is not declared", declaration(wanted));
      } else if (!same(*mine, wanted)) {
        say(mine->span, "the array " + wanted.name + " is declared differently in the exercise",
            declaration(wanted));
      }
    }
    for (const toy::ArrayDeclaration& array : program_.arrays) {
      if (find(*task_.interface, array.name) != nullptr) continue;
      if (array.role == toy::ArrayRole::kTemp && task_.temporaries) continue;
      say(array.span, "this exercise has no array " + array.name,
          task_.temporaries ? "the given arrays, and .temp" : "the given arrays only");
    }
  }

  static const toy::ArrayDeclaration* find(const toy::Program& program, const std::string& name) {
    for (const toy::ArrayDeclaration& array : program.arrays) {
      if (array.name == name) return &array;
    }
    return nullptr;
  }

  /// Extents are compared by value at each size, after binding.
  static bool same(const toy::ArrayDeclaration& a, const toy::ArrayDeclaration& b) {
    return a.role == b.role && a.element_type == b.element_type &&
           a.extents.size() == b.extents.size() && a.tile.size() == b.tile.size();
  }

  /// The declaration in the exercise's words.
  std::string declaration(const toy::ArrayDeclaration& array) const {
    for (const std::string& line : task_.arrays) {
      // ".output out[n]": the name is the last word, before the extents.
      const std::size_t end = std::min(line.find('['), line.size());
      const std::size_t blank = line.rfind(' ', end);
      if (line.substr(blank + 1, end - blank - 1) == array.name) return line;
    }
    return array.name;
  }

  void check_instructions(const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        check_instructions(loop->body);
      } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
        check_instruction(*line);
      }
    }
  }

  void check_instruction(const toy::InstructionStatement& line) {
    if (has_instruction(task_, line.row)) return;
    say(line.span,
        std::string(toy::instruction_set()[line.row].mnemonic) +
            " is not on this exercise's machine",
        "one of " + instructions_text(task_));
  }

  const ProgramTask& task_;
  const toy::Program& program_;
  std::vector<toy::Diagnostic> diagnostics_;
};

}  // namespace

Finding finding_of(const toy::Diagnostic& diagnostic, const toy::SourceText& source) {
  Finding finding;
  finding.line = diagnostic.span.line;
  toy::Diagnostic place = diagnostic;  // the finding already states the message
  place.what.clear();
  std::istringstream lines(toy::format(place, source));
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) {
    finding.details.push_back(visible_start(line, 200));
  }
  finding.what = visible_start(diagnostic.what, 200);
  return finding;
}

namespace {

/// The assembler advises another .isa for an instruction that the program's machine lacks. If the
/// exercise's machine lacks it, too, that would be refused: says what there is instead.
void for_machine(const ProgramTask& task, const toy::SourceText& text,
                 toy::Diagnostic& diagnostic) {
  if (diagnostic.span.line == 0 || diagnostic.span.line > text.num_lines()) return;
  const std::string_view line = text.line(diagnostic.span.line);
  const std::size_t at = diagnostic.span.column - std::size_t{1};
  if (at >= line.size() || !diagnostic.what.ends_with(" machine")) return;
  const auto row = toy::find_instruction(line.substr(at, diagnostic.span.length));
  if (!row || has_instruction(task, *row)) return;
  diagnostic.what =
      std::string(toy::instruction_set()[*row].mnemonic) + " is not on this exercise's machine";
  diagnostic.expected = "one of " + instructions_text(task);
}

}  // namespace

std::shared_ptr<const toy::Program> read_submission(const ProgramTask& task,
                                                    const toy::SourceText& text, Refusal& refusal) {
  const auto refuse = [&](const std::vector<toy::Diagnostic>& diagnostics) {
    refusal.outcome = Outcome::kRejected;
    for (const toy::Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.fault == toy::Fault::kLimit) refusal.outcome = Outcome::kLimit;
      if (diagnostic.severity == toy::Severity::kError && refusal.findings.size() < 20) {
        refusal.findings.push_back(finding_of(diagnostic, text));
      }
    }
    return nullptr;
  };
  auto assembled = toy::assemble(std::make_shared<const toy::SourceText>(text), task.limits);
  if (!assembled) {
    for (toy::Diagnostic& diagnostic : assembled.diagnostics) for_machine(task, text, diagnostic);
    return refuse(assembled.diagnostics);
  }
  auto program = std::make_shared<const toy::Program>(std::move(*assembled));
  const std::vector<toy::Diagnostic> misfits = Fit(task, *program).run();
  if (!misfits.empty()) return refuse(misfits);
  return program;
}

namespace {

/// The error if an array has another shape than in the exercise.
std::optional<toy::Diagnostic> shape_error(const ProgramTask& task, const Size& size,
                                           const toy::BoundProgram& interface,
                                           const toy::BoundProgram& bound) {
  for (const toy::BoundArray& wanted : interface.arrays) {
    for (const toy::BoundArray& mine : bound.arrays) {
      if (mine.name != wanted.name) continue;
      const bool same_tile = task.free_tiles || mine.tile == wanted.tile;
      if (mine.extents == wanted.extents && same_tile) continue;
      return toy::Diagnostic{
          toy::Severity::kError,
          toy::Fault::kProgram,
          mine.span,
          "the array " + mine.name + " has another shape in the exercise at " + to_string(size),
          "the declaration of the exercise",
          {}};
    }
  }
  return std::nullopt;
}

}  // namespace

toy::Result<BoundSubmission> bind_machines(const ProgramTask& task,
                                           const std::shared_ptr<const toy::Program>& program,
                                           const Size& size) {
  toy::CapacityBinding binding;
  binding.params = size;
  binding.limits = task.limits;
  binding.operand_rule = task.operands;
  toy::CapacityBinding plain;
  plain.params = size;
  const auto interface = toy::bind_machines(task.interface, plain);
  if (!interface) return interface.diagnostics;
  if (!task.registers.empty()) binding.registers = interface->first().num_registers;
  BoundSubmission result;
  if (program->machines) {
    auto machines = toy::bind_machines(program, binding);
    if (!machines) return std::move(machines.diagnostics);
    result.bound = machines->joined;
    result.machines = std::move(*machines);
  } else {
    auto bound = toy::bind(program, static_cast<const toy::Binding&>(binding));
    if (!bound) return std::move(bound.diagnostics);
    result.bound = std::move(*bound);
  }
  if (auto error = shape_error(task, size, interface->first(), result.one())) {
    return std::move(*error);
  }
  return result;
}

toy::Result<toy::UnrolledProgram> unroll(const BoundSubmission& submission,
                                         std::uint64_t max_steps) {
  return submission.machines ? toy::unroll_machines(*submission.machines, max_steps)
                             : toy::unroll(submission.bound, max_steps);
}

toy::Result<toy::BoundProgram> bind_submission(const ProgramTask& task,
                                               const std::shared_ptr<const toy::Program>& program,
                                               const Size& size) {
  auto all = bind_machines(task, program, size);
  if (!all) return std::move(all.diagnostics);
  if (!all->machines) return std::move(all->bound);
  return toy::Diagnostic{toy::Severity::kError,   toy::Fault::kRequest,
                         program->machines->span, "the program runs on several machines",
                         "a program for one",     {}};
}

}  // namespace flashlab::exercises
