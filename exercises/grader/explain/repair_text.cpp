#include "exercises/grader/explain/repair_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/explain/loop_rounds.hpp"
#include "exercises/grader/explain/order_reason.hpp"
#include "exercises/grader/explain/statement_parts.hpp"
#include "exercises/grader/repair/departures.hpp"
#include "exercises/grader/repair/edit_parts.hpp"
#include "exercises/grader/repair/operand_rules.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {
namespace {

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

/// Whether the repair multiplies the offsets of a line, which count elements, by the size of a
/// tile.
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

/// Whether a word that belongs in a line may be told. On scalars the formulas tell what the line
/// should compute, and to find the word is the exercise. Programs on tiles, and for several
/// machines, are long, and no formula tells which tile belongs there.
bool names_words(const FailedAttempt& failed) {
  return is_tiled(*failed.program) || !failed.task.machines.empty();
}

/// "line 31", "lines 31 to 33"
std::string lines_text(const std::vector<std::uint32_t>& lines) {
  const std::string first = std::to_string(lines.front());
  return lines.size() == 1 ? "line " + first
                           : "lines " + first + " to " + std::to_string(lines.back());
}

/// Where a line that is left out is inserted again; null: nowhere.
const Edit* moved_to(const Repair& repair) {
  const bool is_moved = repair.edit.kind == EditKind::kDrop && repair.further.size() == 1 &&
                        repair.further.front().kind == EditKind::kInsert;
  return is_moved ? &repair.further.front() : nullptr;
}

std::string moved_line_sentence(const FailedAttempt& failed, const Repair& repair) {
  const Edit& there = *moved_to(repair);
  const std::vector<std::string> mine = words(failed.text.line(repair.edit.line)),
                                 other = words(there.text);
  const std::string line = "Line " + std::to_string(repair.edit.line) + " ",
                    place = (there.behind ? " after line " : " before line ") +
                            std::to_string(there.line);
  const RightPlace right_place{there.line, there.behind};
  if (mine == other) {
    return line + "stands in the wrong place: it belongs" + place + "." +
           order_reason(failed.text, repair.edit.line, right_place);
  }
  if (names_words(failed)) {
    return line + "stands in the wrong place: " + statement_text(there.text) + " belongs" + place +
           "." + mask_reason(failed.text, repair.edit.line, right_place);
  }
  if (mine.front() == other.front()) {
    return line + "stands in the wrong place: it belongs" + place + ", with other operands.";
  }
  return line + "is not needed, and another one is missing" + place + ".";
}

/// Of lines that are not needed.
std::string dropped_lines_sentence(const Repair& repair) {
  std::vector<std::uint32_t> lines{repair.edit.line};
  for (const Edit& edit : repair.further) lines.push_back(edit.line);
  std::sort(lines.begin(), lines.end());
  std::string text = "Lines ";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == lines.size() ? " and " : ", ") + std::to_string(lines[i]);
  }
  return text + " are not needed: without them the program is right.";
}

/// "before line 31"; "after line 30" at the end of the program
std::string place_text(const LineDifference& missing) {
  return missing.below != 0 ? "before line " + std::to_string(missing.below)
                            : "after line " + std::to_string(missing.above);
}

/// Whether the starter has a line, so that to find it is not the exercise.
bool is_given(const FailedAttempt& failed, std::string_view right_line) {
  const toy::SourceText starter("starter", failed.task.starter);
  return !StatementLines(starter).with(words(right_line)).empty();
}

/// Which bound of a loop is wrong, and which rounds are where the program fails, in place of the bound that belongs
/// there: to find that is the exercise. Empty for other lines, if the starter has such a loop, and if the rounds do not differ there. `right`
/// has the loop in `right_line`.
std::string rounds_sentence(const FailedAttempt& failed, std::uint32_t line,
                            const std::shared_ptr<const toy::Program>& right,
                            std::uint32_t right_line) {
  const std::vector<std::string> mine = words(failed.text.line(line));
  if (mine.empty() || mine.front() != "for") return {};
  if (is_given(failed, right->source->line(right_line))) return {};
  const Size& size = failed.attempt.sized->size;
  const auto here = bind_machines(failed.task, failed.program, size);
  const auto there = bind_machines(failed.task, right, size);
  if (!here || !there) return {};
  const auto other =
      other_rounds(rounds_of(here->one(), line), rounds_of(there->one(), right_line));
  if (!other) return {};
  return "In line " + std::to_string(line) + " " + wrong_bound_text(*failed.program, line, *other) +
         ".";
}

/// The same of a change of the loop.
std::string rounds_sentence(const FailedAttempt& failed, const Repair& repair) {
  auto repaired = repaired_program(*failed.program, repair);
  if (!names_words(failed) || !repaired || !repair.further.empty()) return {};
  return rounds_sentence(failed, repair.edit.line,
                         std::make_shared<const toy::Program>(std::move(*repaired)),
                         repair.edit.line);
}

/// Of a line or lines that the right program has at another place; a mask there may be one of another register.
std::string moved_sentence(const FailedAttempt& failed, const LineDifference& one,
                           const LineDifference& other, const toy::SourceText& right) {
  const LineDifference &there = one.mine.empty() ? other : one,
                       &missing = one.mine.empty() ? one : other;
  const bool is_one = there.mine.size() == 1;
  const RightPlace place{missing.below != 0 ? missing.below : missing.above, missing.below == 0};
  const std::string lines =
      "L" + lines_text(there.mine).substr(1) +
      (is_one ? " stands in the wrong place: " : " stand in the wrong place: ");
  if (!is_one) return lines + "they belong " + place_text(missing) + ".";
  const std::string_view wanted = right.line(missing.other.front());
  if (words(failed.text.line(there.mine.front())) == words(wanted)) {
    return lines + "it belongs " + place_text(missing) + "." +
           order_reason(failed.text, there.mine.front(), place);
  }
  return lines + statement_text(wanted) + " belongs " + place_text(missing) + "." +
         mask_reason(failed.text, there.mine.front(), place);
}

/// Whether a mask is missing in one place, and there is one too many in the other.
bool is_other_mask(const LineDifference& missing, const LineDifference& there,
                   const toy::SourceText& mine, const toy::SourceText& right) {
  if (!missing.mine.empty() || !there.other.empty()) return false;
  if (missing.other.size() != 1 || there.mine.size() != 1) return false;
  const std::size_t row = row_of(words(mine.line(there.mine.front())));
  return row == row_of(words(right.line(missing.other.front()))) && row != SIZE_MAX &&
         toy::instruction_set()[row].is_mask();
}

/// What stands before the i-th part of a list.
std::string separator(std::size_t i, std::size_t num_parts) {
  return i == 0 ? ": " : i + 1 == num_parts ? " and " : ", ";
}

std::string departure_sentence(const FailedAttempt& failed, const LineDifference& one,
                               const std::shared_ptr<const toy::Program>& model) {
  const toy::SourceText& right = *model->source;
  const bool is_named = names_words(failed);
  if (one.mine.empty()) {
    std::vector<std::uint32_t> told = one.other;  // a loop has its end
    if (told.size() > 1 && words(right.line(told.back())).front() == "end") told.pop_back();
    std::string text = "Something is missing " + place_text(one);
    for (std::size_t i = 0; is_named && i < told.size(); ++i) {
      text += separator(i, told.size()) + statement_text(right.line(told[i]));
    }
    return text + ".";
  }
  std::string lines = lines_text(one.mine);
  lines.front() = 'L';
  const bool is_one = one.mine.size() == 1;
  if (one.other.empty()) return lines + (is_one ? " is" : " are") + " not needed.";
  if (is_named && is_one && one.other.size() == 1) {
    const std::string rounds = rounds_sentence(failed, one.mine.front(), model, one.other.front());
    if (!rounds.empty()) return rounds;
  }
  if (is_named && one.mine.size() == one.other.size()) {
    const std::string other =
        other_parts_text(failed.text.line(one.mine.front()), right.line(one.other.front()));
    return "Line " + std::to_string(one.mine.front()) + " has " + other + ".";
  }
  std::string text = lines + (is_one ? " is" : " are") + " not what belongs there";
  for (std::size_t i = 0; is_named && i < one.other.size(); ++i) {
    text += separator(i, one.other.size()) + statement_text(right.line(one.other[i]));
  }
  return text + ".";
}

/// "K[c] where Q[c] belongs"; empty if the word may not be told, or if the lines have other instructions
/// and operands.
std::string other_parts(const FailedAttempt& failed, const Edit& edit) {
  const std::vector<std::string> mine = words(failed.text.line(edit.line)),
                                 other = words(edit.text);
  const bool are_alike = !mine.empty() && !other.empty() &&
                         (mine.front() == other.front() ||
                          std::equal(mine.begin() + 1, mine.end(), other.begin() + 1, other.end()));
  return names_words(failed) && are_alike ? other_parts_text(failed.text.line(edit.line), edit.text)
                                          : "";
}

/// " R1 is wrong.": which words of the line one change replaces, and not by what: to find that is the
/// exercise. Empty if all of the line is another one.
std::string wrong_words_sentence(const FailedAttempt& failed, const Repair& repair) {
  constexpr std::array<const char*, 5> kOrdinals = {"", "first", "second", "third", "fourth"};
  const std::vector<std::string> mine = words(failed.text.line(repair.edit.line)),
                                 other = words(repair.edit.text);
  if (!repair.further.empty() || mine.size() != other.size()) return {};
  std::string text;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] == other[i]) continue;
    const bool is_once = std::count(mine.begin(), mine.end(), mine[i]) == 1;
    text += changed++ == 0 ? "" : " and ";
    text += is_once || i >= kOrdinals.size()
                ? mine[i]
                : "its " + std::string(kOrdinals[i]) + " operand " + mine[i];
  }
  if (changed == 0 || changed == mine.size()) return {};
  if (text.starts_with("its ")) {
    text.front() = 'I';
  } else if (std::islower(static_cast<unsigned char>(text.front())) !=
             0) {  // a name keeps its case
    text = (mine.front() == "for" ? "The loop's " : "The operand ") + text;
  }
  return " " + text + (changed == 1 ? " is" : " are") + " wrong.";
}

/// The same as a further sentence, with a space before it.
std::string parts_sentence(const FailedAttempt& failed, const Repair& repair) {
  const std::string other = repair.further.empty() ? other_parts(failed, repair.edit) : "";
  if (other.empty()) return {};
  return " Line " + std::to_string(repair.edit.line) + " has " + other + ".";
}

/// Without what the program would cost then.
std::string right_sentence(const FailedAttempt& failed, const Repair& repair) {
  const Edit& edit = repair.edit;
  const std::string line = std::to_string(edit.line);
  switch (edit.kind) {
    case EditKind::kInsert:
      return "Something is missing " + std::string(edit.behind ? "after" : "before") + " line " +
             line + ": " + (names_words(failed) ? statement_text(edit.text) : "one more line") +
             " makes the program right.";
    case EditKind::kDrop:
      if (moved_to(repair) != nullptr) return moved_line_sentence(failed, repair);
      if (!repair.further.empty()) return dropped_lines_sentence(repair);
      return "Line " + line + " is not needed: without it the program is right.";
    case EditKind::kSwap:
      return swap_sentence(failed.text, edit.line, edit.other_line);
    case EditKind::kTransposition:
      return transposition_sentence(failed, repair) + parts_sentence(failed, repair);
    case EditKind::kOperands:
      return operands_sentence(repair) + parts_sentence(failed, repair);
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
           " counts elements, not tiles." + parts_sentence(failed, repair);
  }
  if (const std::string rounds = rounds_sentence(failed, repair); !rounds.empty()) return rounds;
  const std::string other = other_parts(failed, edit);
  if (!other.empty())
    return "Line " + line + " has " + other + ": this change makes the program right.";
  if (names_words(failed) && edit.kind == EditKind::kReplace) {
    return "Line " + line + " is not what belongs there: " + statement_text(edit.text) +
           " makes the program right.";
  }
  return "Look at line " + line + ": one change there makes the program right." +
         wrong_words_sentence(failed, repair);
}

}  // namespace

std::string repair_sentence(const FailedAttempt& failed, const Repair& repair) {
  const std::string text = right_sentence(failed, repair);
  return repair.is_accepted ? text : text + " It would then cost more than the exercise accepts.";
}

std::uint32_t departure_line(const LineDifference& departure) {
  if (!departure.mine.empty()) return departure.mine.front();
  return departure.below != 0 ? departure.below : departure.above;
}

/// " There is a second mistake: look at line 9, too.", " There are more mistakes: look at line 9 and before line 20, too: a
/// STORE that writes m[i] is missing before line 20."
std::string further_text(const std::vector<const LineDifference*>& further, bool is_named,
                         const toy::SourceText& right) {
  const bool is_one = further.size() == 1;
  const bool are_lines = std::all_of(further.begin(), further.end(),
                                     [](const LineDifference* one) { return !one->mine.empty(); });
  std::string text =
      is_one ? " There is a second mistake: look " : " There are more mistakes: look ";
  if (are_lines) text += is_one ? "at line " : "at lines ";
  for (std::size_t i = 0; i < further.size(); ++i) {
    text += i == 0 ? "" : i + 1 == further.size() ? " and " : ", ";
    if (!are_lines) text += further[i]->mine.empty() ? "" : "at line ";
    text += further[i]->mine.empty() ? place_text(*further[i])
                                     : std::to_string(departure_line(*further[i]));
  }
  text += ", too";
  std::string missing;
  for (const LineDifference* one : further) {
    if (!is_named || !one->mine.empty() || one->other.size() != 1) continue;
    missing += (missing.empty() ? ": " : ", and ") +
               statement_text(right.line(one->other.front())) + " is missing " +
               (is_one ? "there" : place_text(*one));
  }
  return text + missing + ".";
}

std::string departures_sentence(const FailedAttempt& failed, const Departures& departures,
                                const LineDifference& explained) {
  const toy::Program &mine = *failed.program, &solution = *departures.model;
  std::vector<const LineDifference*> further;
  const LineDifference* counterpart = nullptr;
  for (const LineDifference& one : departures.all) {
    if (&one == &explained) continue;
    const auto is_same = [&](const LineDifference& other) {
      return is_moved(other, one, mine, solution) || is_moved(one, other, mine, solution) ||
             is_other_mask(other, one, *mine.source, *solution.source) ||
             is_other_mask(one, other, *mine.source, *solution.source);
    };
    if (is_same(explained) && counterpart == nullptr) {
      counterpart = &one;
    } else if (std::none_of(further.begin(), further.end(),
                            [&](const LineDifference* other) { return is_same(*other); })) {
      further.push_back(&one);  // of lines that were moved, the first place
    }
  }
  std::string text = counterpart != nullptr
                         ? moved_sentence(failed, explained, *counterpart, *solution.source)
                         : departure_sentence(failed, explained, departures.model);
  return further.empty() ? text
                         : text + further_text(further, names_words(failed), *solution.source);
}

}  // namespace flashlab::exercises
