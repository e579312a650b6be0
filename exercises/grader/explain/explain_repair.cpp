#include "exercises/grader/explain/explain_repair.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/operand_rules.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/dataflow.hpp"

namespace flashlab::exercises {
namespace {

/// The register that the edit's first line writes and its second line reads; -1: there is none.
std::int32_t overwritten_too_soon(const FailedAttempt& failed, const Edit& edit) {
  if (!failed.attempt.unrolled || !failed.attempt.bound || failed.attempt.machines) return -1;
  std::int32_t written = -1;
  for (const toy::UnrolledStep& step : failed.attempt.unrolled->steps) {
    const toy::BoundInstruction& instruction = failed.attempt.bound->instructions[step.site];
    if (instruction.span.line == edit.line) written = written_register(step);
    if (instruction.span.line != edit.other_line || written < 0) continue;
    const auto kinds = toy::instruction_set()[step.row].kinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (toy::is_register_read(kinds[i]) && step.slots[i] == written) return written;
    }
  }
  return -1;
}

std::string swap_sentence(const FailedAttempt& failed, const Edit& edit) {
  const std::string upper = std::to_string(edit.line), lower = std::to_string(edit.other_line);
  const std::int32_t lost = overwritten_too_soon(failed, edit);
  if (lost < 0) return "The order is wrong at lines " + upper + " and " + lower + ".";
  return "Line " + upper + " overwrote " + failed.attempt.bound->register_name(lost) +
         ", whose old value line " + lower + " still needs.";
}

bool is_minus_infinity(const Edit& edit) {
  return edit.kind == EditKind::kConstant && edit.what.starts_with("-inf instead of ");
}

/// What is wrong with the transpositions of a line, given that they do not matter on scalars.
std::string transposition_sentence(const FailedAttempt& failed, const Repair& repair) {
  const std::string line = std::to_string(repair.edit.line);
  const auto transposes = [](std::string_view text) { return text.find('^') != text.npos; };
  const bool before = transposes(failed.text.line(repair.edit.line));
  const bool after = transposes(repair.edit.text);
  const std::string what =
      !repair.further.empty()
          ? "Lines " + line + " and " + std::to_string(repair.further.front().line) +
                " multiply a tile where its transpose belongs"
      : !before ? "Line " + line + " multiplies a tile where its transpose belongs"
      : after   ? "Line " + line + " transposes the other factor"
                : "Line " + line + " transposes a tile that belongs there as it is";
  return what +
         ": see ^T. With tiles of one number the program is right, because a number is its "
         "own transpose.";
}

std::string operands_sentence(const Edit& edit) {
  const std::string line = "Look at line " + std::to_string(edit.line) + ": ";
  const std::size_t row = edit.instruction->row;
  if (edit.what != "the sources exchanged") return line + "the destination comes last.";
  if (!order_matters(row)) return line + "its factors stand the other way round.";
  return line + "it computes " + exchange_text(row) + ".";
}

/// The sentence about a repair that makes the program right.
std::string repair_sentence(const FailedAttempt& failed, const Repair& repair) {
  const Edit& edit = repair.edit;
  const std::string line = std::to_string(edit.line);
  switch (edit.kind) {
    case EditKind::kInsert:
      return "Something is missing " + std::string(edit.behind ? "after" : "before") + " line " +
             line + ": one more line makes the program right.";
    case EditKind::kDrop:
      return "Line " + line + " is not needed: without it the program is right.";
    case EditKind::kSwap:
      return swap_sentence(failed, edit);
    case EditKind::kTransposition:
      return transposition_sentence(failed, repair);
    case EditKind::kOperands:
      return operands_sentence(edit);
    default:
      break;
  }
  if (is_minus_infinity(edit)) {
    return "Look at line " + line +
           ": a maximum that starts there is too large if all numbers are "
           "smaller; only -inf is below all of them.";
  }
  return "Look at line " + line + ": one change there makes the program right.";
}

/// Makes the finding point at another line, and shows it.
void move_to(std::uint32_t line, const FailedAttempt& failed, Finding& finding) {
  if (finding.line == line) return;
  finding.line = line;
  finding.step = 0;
  append_source_line(finding, failed.text, line);
}

/// Whether the first wrong step says more than a change that makes the program right.
bool says_more(const WrongStep& wrong, std::uint32_t line, const Repairs& repairs) {
  if (wrong.kind == WrongStep::Kind::kNotAdded) return true;
  if (wrong.kind != WrongStep::Kind::kExchanged) return false;
  return repairs.line == 0 ||
         std::any_of(repairs.repairs.begin(), repairs.repairs.end(), [&](const Repair& repair) {
           return repair.edit.line == line && repair.edit.kind == EditKind::kOperands;
         });
}

}  // namespace

void point_at_fault(const FailedAttempt& failed, const FailedRun* run,
                    const std::optional<WrongStep>& wrong, Finding& finding) {
  const std::uint32_t suspect = wrong ? run->line(wrong->step) : 0;
  Repairs repairs;
  if (failed.failing != SIZE_MAX) {
    repairs = find_repairs(failed.task, failed.program, failed.sizes, failed.failing, suspect);
  }
  if (wrong && says_more(*wrong, suspect, repairs)) {
    const std::string sentence = wrong->sentence + ".";
    const bool said = std::find(finding.details.begin(), finding.details.end(), sentence) !=
                      finding.details.end();
    if (!said) finding.details.push_back(sentence);
    return move_to(suspect, failed, finding);
  }
  if (repairs.line == 0) return;
  for (const Repair& repair : repairs.repairs) {
    if (repair.edit.line != repairs.line && repair.edit.other_line != repairs.line) continue;
    finding.details.push_back(repair_sentence(failed, repair));
    if (repair.edit.kind == EditKind::kOperands && !repair.further.empty()) {
      finding.details.push_back("There is a second mistake: look at line " +
                                std::to_string(repair.further.front().line) + ", too.");
    }
    break;
  }
  move_to(repairs.line, failed, finding);
}

void point_at_bound(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                    const SizedCases& sized, const toy::SourceText& text, Finding& finding) {
  for (const Edit& edit : enumerate_edits(*program, edit_options(task, 0))) {
    if (edit.kind != EditKind::kBound) continue;
    auto applied = apply(*program, edit);
    if (!applied) continue;
    const auto edited = std::make_shared<const toy::Program>(std::move(*applied));
    if (!attempt(task, edited, sized, nullptr).passed()) continue;
    Finding found = finding;  // whole or unchanged if the budget ends meanwhile
    found.details.push_back("Look at line " + std::to_string(edit.line) +
                            ": the loop has one round too many.");
    found.line = edit.line;
    append_source_line(found, text, edit.line);
    finding = std::move(found);
    return;
  }
}

}  // namespace flashlab::exercises
