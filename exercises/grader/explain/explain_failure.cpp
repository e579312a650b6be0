// Explains a wrong result: the output's value, its expected value, and the step where they diverge.
#include <algorithm>
#include <cmath>
#include <optional>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/claims.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/explain/explain_repair.hpp"
#include "exercises/grader/explain/failed_run.hpp"
#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/explain/named_maxima.hpp"
#include "exercises/grader/explain/right_steps.hpp"
#include "exercises/grader/explain/run_remarks.hpp"
#include "exercises/grader/explain/sum_terms.hpp"
#include "exercises/grader/explain/undefined_result.hpp"
#include "exercises/grader/explain/wrong_value.hpp"
#include "exercises/grader/judge/disagreement.hpp"
#include "exercises/grader/repair/missing_lines.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "text/numbers.hpp"
#include "toymachine/forms/formula_difference.hpp"

namespace flashlab::exercises {
namespace {

/// Longer formulas are not compared at a glance.
constexpr std::size_t kLongFormula = 60;

std::string number_text(double value) {
  return std::isnan(value) ? "nothing" : short_text(value, 7);
}

void say_ratio(const FailedAttempt& failed, Finding& finding) {
  Claim claim;
  const std::string ratio = ratio_text(failed, claim);
  if (ratio.empty()) return;
  finding.details.push_back(ratio + ".");
  finding.claims.push_back(claim);
}

/// Explains a wrong output on scalars.
class Explanation {
 public:
  Explanation(const FailedRun& run, const WrongOutput& cell) : run_(run), cell_(cell) {}

  Finding explain(const std::optional<WrongStep>& wrong, const std::optional<WrongValue>& value) {
    describe();
    if (right_on_paper()) return std::move(finding_);
    say_difference();
    const std::optional<RunRemark> remark = remark_on_output(run_);
    if (remark && say(remark->kind, remark->step, remark->place, remark->sentence)) {
      return std::move(finding_);
    }
    // If an earlier or later step has the first wrong value, exchanged sources may be a coincidence:
    // point_at_fault says them where a program with them exchanged was tried.
    const bool is_tried_later = wrong && wrong->kind == WrongStep::Kind::kExchanged && value &&
                                value->solution_line > 0 &&
                                static_cast<std::int32_t>(value->step) - 1 != wrong->step;
    if (wrong && wrong->kind != WrongStep::Kind::kForeign && !is_tried_later &&
        say(to_string(wrong->kind), wrong->step, wrong->place, wrong->sentence)) {
      return std::move(finding_);
    }
    if (value && value->solution_line > 0) {
      point_at(static_cast<std::int32_t>(value->step) - 1, first_wrong_text(*value));
      finding_.claims.push_back(claim_of(*value));
      return std::move(finding_);
    }
    const bool is_foreign = wrong && wrong->kind == WrongStep::Kind::kForeign;
    if ((is_foreign || is_tried_later) && say_foreign(*wrong)) return std::move(finding_);
    const std::string array = run_.bound().array_at(run_.element()).name;
    const bool is_early = lacks_store(*run_.failed().task.solution, *run_.failed().program, array);
    const std::string stores = is_early ? " is the last that stores it" : " stores it";
    if (store() != kNobody) point_at(store(), "step " + run_.at(store()) + stores);
    return std::move(finding_);
  }

 private:
  std::int32_t store() const { return run_.failing_step(); }
  bool has_forms() const { return run_.has_forms() && run_.wanted().is_written(); }

  void describe() {
    const FailedAttempt& failed = run_.failed();
    const std::string size = to_string(failed.attempt.sized->size);
    finding_.inputs = inputs_text(failed);
    const std::string where = size.empty() ? "" : " at " + size;
    finding_.what = store() == kNobody ? "nothing is stored in " + run_.cell() + where
                                       : run_.cell() + " is wrong" + where;
    const bool numbers = cell_.value != cell_.expected && !finding_.inputs.empty();
    const auto with_number = [&](const std::string& formula, double value) {
      return numbers && formula != number_text(value) ? formula + "  = " + number_text(value)
                                                      : formula;
    };
    if (!has_forms()) {
      finding_.details.push_back("it holds        " + number_text(cell_.value));
      finding_.details.push_back("it should hold  " + number_text(cell_.expected));
      return;
    }
    const std::string wanted = run_.text(run_.wanted());
    if (store() == kNobody) {
      finding_.details.push_back("it should hold  " +
                                 with_number(toy::shortened_formula(wanted), cell_.expected));
      return;
    }
    const toy::FormulaDifference both =
        toy::formula_difference(run_.text(run_.form(store())), wanted);
    is_long_ = std::max(both.one.size(), both.other.size()) > kLongFormula;
    finding_.details.push_back("it holds        " + with_number(both.one, cell_.value));
    finding_.details.push_back("it should hold  " + with_number(both.other, cell_.expected));
  }

  /// In place of long formulas, where a sentence says what they differ in.
  void show_numbers() {
    finding_.details = {"it holds        " + number_text(cell_.value),
                        "it should hold  " + number_text(cell_.expected)};
  }

  /// Terms that are missing, or a number that all of the output is off by.
  void say_difference() {
    if (const auto difference = sum_difference(run_)) {
      const Claim claim{Claim::Kind::kTerms, 0, 0, run_.bound().array_at(run_.element()).name,
                        difference->are_missing ? "missing" : "too many"};
      if (is_confirmed(claim, run_.failed())) {
        if (is_long_ && cell_.value != cell_.expected) show_numbers();
        finding_.details.push_back(sum_text(*difference) + ".");
        finding_.claims.push_back(claim);
        return;
      }
    }
    Finding said;
    say_ratio(run_.failed(), said);
    if (said.details.empty()) return;
    if (is_long_ && cell_.value != cell_.expected) show_numbers();
    finding_.details.push_back(said.details.front());
    finding_.claims.push_back(said.claims.front());
  }

  /// Says what holds at a second size too. Returns false for anything else.
  bool say(const std::string& kind, std::int32_t step, const std::string& place,
           const std::string& sentence) {
    const Claim claim = remark_claim(kind, run_.line(step), place);
    if (!is_confirmed(claim, run_.failed())) return false;
    point_at(step, sentence);
    finding_.claims.push_back(claim);
    return true;
  }

  /// At sizes that do not decide it, a step that computes something new is still one.
  bool say_foreign(const WrongStep& wrong) {
    const Claim claim =
        remark_claim(to_string(WrongStep::Kind::kForeign), run_.line(wrong.step), "");
    if (truth_elsewhere(claim, run_.failed()) == Truth::kFalse) return false;
    point_at(wrong.step, foreign_text(run_, wrong.step));
    finding_.claims.push_back(claim);
    return true;
  }

  /// With formulas for numbers, where both are known.
  std::string first_wrong_text(const WrongValue& value) const {
    const auto step = static_cast<std::size_t>(value.step) - 1;
    if (!run_.has_forms() || value.solution_step == 0) return wrong_value_text(value);
    const toy::NormalForm& mine = run_.form(static_cast<std::int32_t>(step));
    const toy::NormalForm& right = run_.failed().solution->run.results[value.solution_step - 1];
    if (mine == right) return wrong_value_text(value);
    constexpr std::size_t kRoom = 80;   // of a formula in a sentence
    constexpr std::size_t kShort = 48;  // shorter ones are read as they are
    const std::string whole = run_.text(mine), wanted = run_.text(right);
    const bool is_short = std::max(whole.size(), wanted.size()) <= kShort;
    const NamedMaxima named =
        is_short ? NamedMaxima{whole, wanted, ""} : name_maxima(whole, wanted);
    const bool is_said = right == run_.wanted();
    if (is_said && std::max(named.one.size(), named.other.size()) > kRoom) {
      return wrong_value_text(value);
    }
    const auto [one, other] = toy::formula_difference(named.one, named.other, kRoom);
    if (one == other) return wrong_value_text(value);
    const std::string where = named.where.empty() ? "" : ", where " + named.where;
    return wrong_step_text(value, "computes " + one, "it should compute " + other) + where;
  }

  void point_at(std::int32_t step, const std::string& sentence) {
    finding_.line = run_.line(step);
    finding_.step = static_cast<std::uint64_t>(step) + 1;
    finding_.details.push_back(sentence + ".");
    append_source_line(finding_, run_.failed().text, finding_.line);
  }

  /// The formula is right, so rounding or range causes the error, or the exercise is broken.
  bool right_on_paper() {
    if (!has_forms() || store() == kNobody || !(run_.form(store()) == run_.wanted())) return false;
    const Attempt& attempt = run_.failed().attempt;
    const Case& entry = attempt.sized->cases[attempt.failure->entry];
    if (disagreement(run_.failed().task, attempt.sized->size, entry)) {
      // What it should hold is not known: the formula there is the solution's.
      finding_.details = {"it holds            " + number_text(cell_.value),
                          "the reference has   " + number_text(cell_.expected)};
      point_at(store(),
               "This is the formula of the exercise's own solution: its reference and its solution "
               "disagree");
      return true;
    }
    if (is_long_) show_numbers();
    point_at(store(), "On paper the formula is right; the machine's rounding makes it wrong");
    return true;
  }

  const FailedRun& run_;
  const WrongOutput& cell_;
  Finding finding_;
  bool is_long_ = false;  // a formula in `details` is too long to be compared at a glance
};

/// Removes the step, which the finding states: "step 13 (i = 1): the result overflows" becomes "at
/// i = 1: …".
std::string without_step(const std::string& what) {
  const std::string start = "step ";
  const std::size_t end = what.find(": ");
  if (!what.starts_with(start) || end == std::string::npos) return what;
  const std::size_t loops = what.find('(');
  const std::string rest = what.substr(end + 2);
  return loops < end ? "at " + what.substr(loops + 1, end - loops - 2) + ": " + rest : rest;
}

/// "at line 20, i = 0: …" for "at i = 0: …"
std::string at_line(std::uint32_t line, const std::string& what) {
  const std::string at = "at ", place = "at line " + std::to_string(line);
  return what.starts_with(at) ? place + ", " + what.substr(at.size()) : place + ": " + what;
}

Finding explain_error(const FailedAttempt& failed) {
  const Failure& failure = *failed.attempt.failure;
  Finding finding = finding_of(*failure.error, failed.text);
  finding.what = without_step(finding.what);
  finding.step = failure.step;
  finding.inputs = inputs_text(failed);
  return finding;
}

/// States only numbers: when the budget has ended, and where formulas are not known.
Finding explain_numbers(const FailedAttempt& failed) {
  const WrongOutput& cell = *failed.attempt.failure->cell;
  Finding finding;
  finding.what = failed.attempt.bound->arrays[cell.array].element_name(cell.element) +
                 " is wrong at " + to_string(failed.attempt.sized->size);
  finding.details = {"it holds        " + number_text(cell.value),
                     "it should hold  " + number_text(cell.expected)};
  finding.inputs = inputs_text(failed);
  return finding;
}

/// On tiles there are no formulas: the tile of the wrong element, and the step that stored it.
Finding explain_tiles(const FailedAttempt& failed, const WrongTile& tile) {
  Finding finding = explain_numbers(failed);
  if (!tile.text.empty()) finding.details.push_back(tile.text + ".");
  say_ratio(failed, finding);
  return finding;
}

/// "random inputs"; what a name alone would not tell is described.
std::string family_text(Family family) {
  switch (family) {
    case Family::kSpike:
      return "inputs with one huge number";
    case Family::kFar:
      return "inputs far from 0";
    case Family::kValley:
      return "inputs that are smallest in the middle";
    case Family::kBlocks:
      return "inputs in runs of equal numbers";
    default:
      return std::string(to_string(family)) + " inputs";
  }
}

}  // namespace

std::string inputs_text(const SizedCases& sized, std::size_t entry) {
  const std::string size = to_string(sized.size);
  return (size.empty() ? "" : size + ", ") + family_text(sized.cases[entry].family);
}

std::string inputs_text(const FailedAttempt& failed) {
  return inputs_text(*failed.attempt.sized, failed.attempt.failure->entry);
}

Finding over_budget(const toy::BudgetExceeded& over) {
  Finding finding;
  finding.what = std::string("grading takes ") + over.what();
  return finding;
}

Finding state_failure(const FailedAttempt& failed) {
  return failed.attempt.failure->error ? explain_error(failed) : explain_numbers(failed);
}

std::vector<Finding> explain_failure(const FailedAttempt& failed) {
  const Failure& failure = *failed.attempt.failure;
  std::optional<FailedRun> run;
  std::optional<WrongStep> wrong;
  // The step of an error counts the steps of one machine.
  if (failed.attempt.unrolled && (failure.cell || !failed.attempt.machines)) {
    run.emplace(failed);
    // A program that is right on all ordinary inputs is right on paper.
    const Family family = failed.attempt.sized->cases[failure.entry].family;
    if (failure.cell || is_ordinary(family)) wrong = first_wrong_step(*run);
  }
  // A program that fails on huge inputs alone has the right values, but for their range.
  const bool has_values =
      failure.cell || is_ordinary(failed.attempt.sized->cases[failure.entry].family);
  std::optional<WrongValue> value = has_values ? find_wrong_value(failed) : std::nullopt;
  const Repairs repairs = repairs_of(failed, wrong ? run->line(wrong->step) : 0);
  // Values that hide what is wrong before them do not explain a mistake that is found elsewhere.
  if (value && !value->is_first && repairs.line != 0 && repairs.line != value->line) value.reset();
  if (const auto right = value || wrong ? RightSteps::find(failed, repairs) : std::nullopt) {
    if (value && right->is_right(value->step - 1)) value.reset();
    const bool is_exchange = wrong && wrong->kind == WrongStep::Kind::kExchanged;
    if (is_exchange && !right->is_exchanged(static_cast<std::size_t>(wrong->step))) wrong.reset();
  }
  // Sources that no right program was found to exchange are not said to be exchanged.
  if (wrong && wrong->kind == WrongStep::Kind::kExchanged && repairs.line == 0 &&
      !repairs.departures) {
    wrong.reset();
  }
  const WrongTile tile = run || failure.error ? WrongTile{} : wrong_tile(failed);
  Finding finding = failure.error ? explain_error(failed)
                    : run         ? Explanation(*run, *failure.cell).explain(wrong, value)
                                  : explain_tiles(failed, tile);
  const std::uint32_t shown_at = finding.line;
  Claim undefined;
  if (std::string text = undefined_text(failed, repairs, undefined); !text.empty()) {
    finding.details.push_back(std::move(text));
    finding.claims.push_back(std::move(undefined));
  }
  point_at_fault(failed, run ? &*run : nullptr, wrong, value, repairs, finding);
  // The line of an error is where a mistake shows, and may be another one.
  if (failure.error && shown_at != 0 && finding.line != shown_at) {
    finding.what = at_line(shown_at, finding.what);
  }
  if (finding.line == 0 && tile.step > 0) {
    finding.line = tile.line;
    finding.step = tile.step;
    append_source_line(finding, failed.text, tile.line);
  }
  if (failed.attempt.machines) finding.step = 0;  // the player shows one machine
  return {std::move(finding)};
}

}  // namespace flashlab::exercises
