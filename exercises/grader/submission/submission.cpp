#include "exercises/grader/submission/submission.hpp"

#include <algorithm>
#include <sstream>

#include "text/visible.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/expression.hpp"

namespace flashlab::exercises {
namespace {

/// Whether the exercise's machine has the instruction (row of instruction_set()).
bool has_instruction(const ProgramTask& task, std::size_t row) {
  const auto& extra = task.extra_instructions;
  return toy::instruction_set()[row].in(task.level) ||
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

  void check_params() {
    for (const auto& [name, value] : task_.sizes.front()) {
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

toy::Result<toy::BoundProgram> bind_submission(const ProgramTask& task,
                                               const std::shared_ptr<const toy::Program>& program,
                                               const Size& size) {
  toy::Binding binding;
  binding.params = size;
  binding.limits = task.limits;
  binding.operand_rule = task.operands;
  toy::Binding plain;
  plain.params = size;
  const auto interface = toy::bind(task.interface, plain);
  if (!interface) return interface.diagnostics;
  if (!task.registers.empty()) binding.registers = interface->num_registers;
  auto bound = toy::bind(program, binding);
  if (!bound) return bound;
  for (const toy::BoundArray& wanted : interface->arrays) {
    for (const toy::BoundArray& mine : bound->arrays) {
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
  return bound;
}

}  // namespace flashlab::exercises
