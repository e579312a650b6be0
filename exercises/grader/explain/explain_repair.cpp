#include "exercises/grader/explain/explain_repair.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/claims.hpp"
#include "exercises/grader/explain/exchanged_registers.hpp"
#include "exercises/grader/explain/repair_text.hpp"
#include "exercises/grader/explain/unset_register.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

/// Makes the finding point at another line, and shows it.
void move_to(std::uint32_t line, const FailedAttempt& failed, Finding& finding) {
  if (finding.line == line) return;
  finding.line = line;
  finding.step = 0;
  append_source_line(finding, failed.text, line);
}

/// Whether the first wrong step says more than a change that makes the program right. `is_first`: it
/// has the first wrong value; other steps with exchanged sources are told if that was tried.
bool says_more(const WrongStep& wrong, bool is_first, std::uint32_t line, const Repairs& repairs) {
  if (wrong.kind == WrongStep::Kind::kNotAdded) return true;
  if (wrong.kind != WrongStep::Kind::kExchanged) return false;
  if (repairs.line == 0) return is_first;
  return std::any_of(repairs.repairs.begin(), repairs.repairs.end(), [&](const Repair& repair) {
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

/// No single change makes the program right: names the loop that runs no round, or the step with
/// the first wrong value.
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

/// Of a line that needs two changes: what is missing beside it, and which registers hold each other's values.
std::string two_changes_text(const FailedAttempt& failed, const Repair& repair) {
  const std::string line = std::to_string(repair.edit.line);
  const Edit& second = repair.further.front();
  if (second.kind != EditKind::kInsert) {
    return "Look at line " + line + ": two changes there make the program right.";
  }
  return "Something is missing " + std::string(second.behind ? "after" : "before") + " line " +
         line + ", and the operands of line " + line + " are not those that belong there." +
         exchanged_registers_text(failed, repair);
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
  if (repair.edit.kind != EditKind::kOperands || repair.further.empty()) return;
  if (repair.further.front().line == repair.edit.line) {
    finding.details.back() = two_changes_text(failed, repair);
    return;
  }
  finding.details.push_back("There is a second mistake: look at line " +
                            std::to_string(repair.further.front().line) + ", too.");
}

/// Explains one of several departures from the solution, if possible at the line that the finding
/// names already, and names the others. `unsaid` is the first wrong value on tiles. Returns false
/// if the program without them is wrong elsewhere.
bool add_departures(const FailedAttempt& failed, const Departures& departures,
                    const WrongValue* unsaid, Finding& finding) {
  const std::vector<LineDifference>& all = departures.all;
  const std::uint32_t suspect = unsaid != nullptr ? unsaid->line : finding.line;
  const auto found = std::find_if(all.begin(), all.end(), [&](const LineDifference& one) {
    return departure_line(one) == suspect;
  });
  const LineDifference& explained = found != all.end() ? *found : all.front();
  const std::uint32_t line = departure_line(explained);
  Claim claim{Claim::Kind::kRight, line, 0, "", departures.repaired};
  if (!is_confirmed(claim, failed)) return false;
  const bool adds_value = unsaid != nullptr && unsaid->line == line;
  if (adds_value) add_value(failed, *unsaid, finding);
  finding.details.push_back(departures_sentence(failed, departures, explained));
  finding.claims.push_back(std::move(claim));
  if (!adds_value) move_to(line, failed, finding);
  return true;
}

/// A register that nothing sets, if no single change repairs it: then a line is missing, whatever else the
/// solution has there.
std::optional<UnsetRegister> unset_beside(const FailedAttempt& failed, const Repairs& repairs) {
  auto unset = unset_register(failed);
  const bool is_inserted = unset && repairs.line == unset->loop_line &&
                           repairs.repairs.front().edit.kind == EditKind::kInsert;
  if (!unset || (repairs.line != 0 && !is_inserted)) return std::nullopt;
  const bool is_other =
      repairs.departures && (repairs.departures->all.size() > 1 ||
                             departure_line(repairs.departures->all.front()) != unset->loop_line);
  if (is_other) return std::nullopt;
  return unset;
}

}  // namespace

Repairs repairs_of(const FailedAttempt& failed, std::uint32_t suspect) {
  if (failed.failing == SIZE_MAX) return {};
  return find_repairs(failed.task, failed.program, failed.sizes, failed.failing, suspect, {},
                      failed.all);
}

void point_at_fault(const FailedAttempt& failed, const FailedRun* run,
                    const std::optional<WrongStep>& wrong, const std::optional<WrongValue>& value,
                    const Repairs& repairs, Finding& finding) {
  const std::uint32_t suspect = wrong ? run->line(wrong->step) : 0;
  const bool is_first = wrong && (!value || value->solution_line == 0 ||
                                  static_cast<std::int32_t>(value->step) - 1 == wrong->step);
  if (wrong && says_more(*wrong, is_first, suspect, repairs)) {
    const Claim claim = remark_claim(to_string(wrong->kind), suspect, wrong->place);
    if (is_confirmed(claim, failed)) {
      add_once(wrong->sentence + ".", claim, finding);
      return move_to(suspect, failed, finding);
    }
  }
  if (const auto unset = unset_beside(failed, repairs)) {
    finding.details.push_back(as_sentence(unset->text));
    return move_to(unset->loop_line, failed, finding);
  }
  const WrongValue* const unsaid = run == nullptr && value ? &*value : nullptr;
  if (repairs.departures && add_departures(failed, *repairs.departures, unsaid, finding)) return;
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

bool point_at_bound(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
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
    return true;
  }
  return false;
}

}  // namespace flashlab::exercises
