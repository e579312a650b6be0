// Explains a wrong result: the output's value, its expected value, and the step where they diverge.
#include <algorithm>
#include <cmath>
#include <optional>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/explain/explain_repair.hpp"
#include "exercises/grader/explain/failed_run.hpp"
#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/judge/disagreement.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "text/numbers.hpp"
#include "toymachine/forms/formula_difference.hpp"

namespace flashlab::exercises {
namespace {

std::string number_text(double value) {
  return std::isnan(value) ? "nothing" : short_text(value, 7);
}

/// Explains a wrong output on scalars.
class Explanation {
 public:
  Explanation(const FailedRun& run, const WrongOutput& cell) : run_(run), cell_(cell) {}

  Finding explain(const std::optional<WrongStep>& wrong) {
    describe();
    if (right_on_paper()) return std::move(finding_);
    if (misplaced() || lost() || too_early()) return std::move(finding_);
    if (wrong) {
      point_at(wrong->step, wrong->sentence);
    } else if (store() != kNobody) {
      point_at(store(), "step " + run_.at(store()) + " stores it");
    }
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
      return numbers ? formula + "  = " + number_text(value) : formula;
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
    finding_.details.push_back("it holds        " + with_number(both.one, cell_.value));
    finding_.details.push_back("it should hold  " + with_number(both.other, cell_.expected));
  }

  void point_at(std::int32_t step, const std::string& sentence) {
    finding_.line = run_.line(step);
    finding_.step = static_cast<std::uint64_t>(step) + 1;
    finding_.details.push_back(sentence + ".");
    append_source_line(finding_, run_.failed().text, finding_.line);
  }

  /// The first step that computes the wanted value; kNobody if there is none.
  std::int32_t found() const {
    if (!has_forms() || is_plain(run_.wanted())) return kNobody;
    for (std::size_t s = 0; s < run_.steps().size(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      if (written_register(run_.steps()[s]) >= 0 && run_.form(step) == run_.wanted()) return step;
    }
    return kNobody;
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
    point_at(store(), "On paper the formula is right; the machine's rounding makes it wrong");
    return true;
  }

  /// The cell holds what belongs into another one.
  bool misplaced() {
    if (!has_forms() || store() == kNobody || is_plain(run_.form(store()))) return false;
    const std::string other = run_.output_with(run_.form(store()));
    if (other.empty()) return false;
    point_at(store(), "step " + run_.at(store()) + " stores here what belongs in " + other);
    return true;
  }

  /// The wanted value was computed, and then overwritten or stored elsewhere.
  bool lost() {
    const std::int32_t made = found();
    if (made == kNobody || (store() != kNobody && store() < made)) return false;
    const std::int32_t over = run_.flow()[static_cast<std::size_t>(made)].overwritten_by;
    const std::string name = run_.written_name(made);
    for (std::size_t s = static_cast<std::size_t>(made); s < run_.steps().size(); ++s) {
      const std::int32_t element = written_element(run_.steps()[s]);
      const auto step = static_cast<std::int32_t>(s);
      if (element < 0 || element == run_.element() || !(run_.form(step) == run_.wanted())) continue;
      if (run_.is_wanted_at(element, run_.wanted())) continue;
      point_at(step, "step " + run_.at(step) + " stores the value of " + run_.cell() +
                         " in another cell");
      return true;
    }
    if (over != kNobody && (store() == kNobody || over < store())) {
      point_at(over, "step " + run_.at(over) + " overwrote " + name + ", which held " +
                         run_.cell() + ", before it was stored");
      return true;
    }
    if (store() == kNobody) {
      point_at(made,
               name + " holds it from step " + run_.at(made) + " on, and is never stored there");
      return true;
    }
    point_at(store(), "step " + run_.at(store()) + " stores another register: " + name +
                          " holds what belongs there");
    return true;
  }

  /// The wanted value is computed only after the store.
  bool too_early() {
    const std::int32_t made = found();
    if (made == kNobody || store() == kNobody || store() > made) return false;
    point_at(store(), "step " + run_.at(store()) +
                          " stores it too early: it is complete after step " + run_.at(made));
    return true;
  }

  const FailedRun& run_;
  const WrongOutput& cell_;
  Finding finding_;
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

Finding explain_error(const FailedAttempt& failed) {
  const Failure& failure = *failed.attempt.failure;
  Finding finding = finding_of(*failure.error, failed.text);
  finding.what = without_step(finding.what);
  finding.step = failure.step;
  finding.inputs = inputs_text(failed);
  return finding;
}

/// States only numbers: for tiles, or when the budget has ended.
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

}  // namespace

std::string inputs_text(const SizedCases& sized, std::size_t entry) {
  const std::string size = to_string(sized.size);
  return (size.empty() ? "" : size + ", ") + std::string(to_string(sized.cases[entry].family)) +
         " inputs";
}

std::string inputs_text(const FailedAttempt& failed) {
  return inputs_text(*failed.attempt.sized, failed.attempt.failure->entry);
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
  Finding finding = failure.error ? explain_error(failed)
                    : run         ? Explanation(*run, *failure.cell).explain(wrong)
                                  : explain_numbers(failed);
  point_at_fault(failed, run ? &*run : nullptr, wrong, finding);
  if (failed.attempt.machines) finding.step = 0;  // the player shows one machine
  return {std::move(finding)};
}

}  // namespace flashlab::exercises
