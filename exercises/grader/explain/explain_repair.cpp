#include "exercises/grader/explain/explain_repair.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/claims.hpp"
#include "exercises/grader/explain/operand_rules.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/dataflow.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "toymachine/language/assembler.hpp"

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

bool is_operands(const Repair& repair) { return repair.edit.kind == EditKind::kOperands; }

std::string operands_sentence(const Repair& repair) {
  const Edit& edit = repair.edit;
  const std::string line = "Look at line " + std::to_string(edit.line) + ": ";
  const std::size_t row = edit.instruction->row;
  if (edit.what != "the sources exchanged") {
    // With a second change beside it, the order of the operands is not known to be the mistake.
    return repair.further.empty() ? line + "the destination comes last."
                                  : line + "its operands are not those that belong there.";
  }
  if (!order_matters(row)) return line + "its factors stand the other way round.";
  return line + "it computes " + exchange_text(row) + ".";
}

/// The row of the instruction that the line begins with; SIZE_MAX: none.
std::size_t row_of(const std::vector<std::string>& line) {
  const auto rows = toy::instruction_set();
  for (std::size_t row = 0; !line.empty() && row < rows.size(); ++row) {
    if (rows[row].mnemonic == line.front()) return row;
  }
  return SIZE_MAX;
}

/// Whether the repair multiplies the offsets of a line, which count elements, by the size of a tile.
bool counts_tiles(const FailedAttempt& failed, const Edit& edit) {
  const std::vector<std::string> before = words(failed.text.line(edit.line));
  const std::size_t row = row_of(before);
  if (row == SIZE_MAX || row != row_of(words(edit.text))) return false;
  const auto kinds = toy::instruction_set()[row].kinds();
  const bool has_offsets =
      std::find(kinds.begin(), kinds.end(), toy::OperandKind::kOffset) != kinds.end();
  return has_offsets && failed.text.line(edit.line).find('*') == std::string_view::npos &&
         edit.text.find('*') != std::string::npos;
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
      return operands_sentence(repair);
    default:
      break;
  }
  if (is_minus_infinity(edit)) {
    return "Look at line " + line +
           ": a maximum that starts there is too large if all numbers are "
           "smaller; only -inf is below all of them.";
  }
  if (counts_tiles(failed, edit)) {
    return "Look at line " + line + ": " + words(edit.text).front() +
           " counts elements, not tiles.";
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

/// Adds the sentence, unless the finding has it.
void add_once(const std::string& sentence, const Claim& claim, Finding& finding) {
  if (std::find(finding.details.begin(), finding.details.end(), sentence) !=
      finding.details.end()) {
    return;
  }
  finding.details.push_back(sentence);
  finding.claims.push_back(claim);
}

/// "Step 3 …." for "step 3 …"
std::string as_sentence(const std::string& text) {
  return static_cast<char>(std::toupper(text.front())) + text.substr(1) + ".";
}

/// Says what a line computes on tiles, or before an error, and moves the finding to its step.
void add_value(const FailedAttempt& failed, const WrongValue& value, Finding& finding) {
  finding.details.push_back(as_sentence(wrong_value_text(value)));
  if (value.solution_line > 0) finding.claims.push_back(claim_of(value));
  finding.line = value.line;
  finding.step = value.step;
  append_source_line(finding, failed.text, value.line);
}

/// No single change makes the program right: names the loop that runs no round, or the step with the
/// first wrong value.
void point_without_repair(const FailedAttempt& failed, const std::optional<WrongValue>& value,
                          bool is_unsaid, Finding& finding) {
  const bool is_error = failed.attempt.failure && failed.attempt.failure->error.has_value();
  const bool is_right = value && value->solution_line > 0;
  Claim claim;
  const std::string no_rounds = is_right ? "" : no_rounds_text(failed, claim);
  if (!no_rounds.empty()) {
    add_once(as_sentence(no_rounds), claim, finding);
    return move_to(claim.line, failed, finding);
  }
  if (value && (is_right || !is_error) && (is_unsaid || is_error))
    add_value(failed, *value, finding);
}

/// What the sentence about a repair states.
void add_repair(const FailedAttempt& failed, const Repair& repair, Finding& finding) {
  finding.details.push_back(repair_sentence(failed, repair));
  std::string text = edited_text(*failed.program, repair.edit);
  bool is_whole = true;
  for (const Edit& further : repair.further) {
    auto one = toy::assemble(std::make_shared<const toy::SourceText>(failed.text.name(), text));
    if (one) text = edited_text(*one, further);
    is_whole = is_whole && further.kind != EditKind::kTransposition;
  }
  finding.claims.push_back({is_whole ? Claim::Kind::kRight : Claim::Kind::kMoreRight,
                            repair.edit.line, 0, "", std::move(text)});
  if (!is_operands(repair) || repair.further.empty()) return;
  finding.details.push_back("There is a second mistake: look at line " +
                            std::to_string(repair.further.front().line) + ", too.");
}

}  // namespace

void point_at_fault(const FailedAttempt& failed, const FailedRun* run,
                    const std::optional<WrongStep>& wrong, const std::optional<WrongValue>& value,
                    Finding& finding) {
  const std::uint32_t suspect = wrong ? run->line(wrong->step) : 0;
  Repairs repairs;
  if (failed.failing != SIZE_MAX) {
    repairs = find_repairs(failed.task, failed.program, failed.sizes, failed.failing, suspect);
  }
  if (wrong && says_more(*wrong, suspect, repairs)) {
    const Claim claim = remark_claim(to_string(wrong->kind), suspect, wrong->place);
    if (is_confirmed(claim, failed)) {
      add_once(wrong->sentence + ".", claim, finding);
      return move_to(suspect, failed, finding);
    }
  }
  if (repairs.line == 0) return point_without_repair(failed, value, run == nullptr, finding);
  // On tiles, what the line computes is not said yet.
  const bool adds_value =
      run == nullptr && value && value->solution_line > 0 && value->line == repairs.line;
  if (adds_value) {
    finding.details.push_back(as_sentence(wrong_value_text(*value)));
    finding.claims.push_back(claim_of(*value));
  }
  Claim claim;
  const bool has_output = run != nullptr && failed.attempt.failure->cell.has_value();
  const std::string no_rounds = has_output ? "" : no_rounds_text(failed, claim);
  if (!no_rounds.empty() && claim.line == repairs.line) {
    add_once(as_sentence(no_rounds), claim, finding);
  }
  for (const Repair& repair : repairs.repairs) {
    if (repair.edit.line != repairs.line && repair.edit.other_line != repairs.line) continue;
    add_repair(failed, repair, finding);
    break;
  }
  move_to(repairs.line, failed, finding);
  if (adds_value) finding.step = value->step;
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
