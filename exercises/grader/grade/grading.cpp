#include "exercises/grader/grade/grading.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/count_keys.hpp"
#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/explain/explain_repair.hpp"
#include "exercises/grader/explain/untouched_starter.hpp"
#include "exercises/grader/explain/wrong_value.hpp"
#include "exercises/grader/grade/check_rows.hpp"
#include "exercises/grader/grade/cost_judge.hpp"
#include "exercises/grader/grade/ranking.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/order_cost.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::exercises {
namespace {

/// Grades one submission, size by size.
class Grading {
 public:
  Grading(const PreparedExercise& prepared, const toy::SourceText& text)
      : prepared_(prepared), task_(prepared.exercise->program), text_(text), costs_(task_) {
    budget_.emplace(prepared.limits());
  }

  Verdict run() {
    verdict_.max_points = added_points(task_.points.correct, task_.points.cost);
    try {
      judge_program();
    } catch (const toy::BudgetExceeded& over) {
      budget_.reset();
      verdict_.outcome = Outcome::kLimit;
      verdict_.checks.resize(std::min(verdict_.checks.size(), result_names(task_).size()));
      verdict_.costs.clear();
      verdict_.findings = {over_budget(over)};
    }
    return std::move(verdict_);
  }

 private:
  void judge_program() {
    Refusal refusal;
    program_ = read_submission(task_, text_, refusal);
    if (program_ == nullptr) {
      verdict_.outcome = refusal.outcome;
      verdict_.findings = std::move(refusal.findings);
      return;
    }
    verdict_.outcome = Outcome::kFull;
    for (const PreparedSize& size : prepared_.sizes) {
      last_ = attempt(task_, program_, size.sized, size.lanes ? &*size.lanes : nullptr);
      if (!judge(size)) return;
      if (&size != &prepared_.sizes.back() && is_scored(*prepared_.exercise, size.sized.size)) {
        scored_.push_back(std::move(last_));
      }
    }
    if (refuse_costs()) return;
    if (prepared_.large.counted.empty()) costs_.add(last_);
    judge_drawn();
    if (verdict_.passed()) judge_large();
    if (verdict_.passed()) judge_cost(costs_);
  }

  /// Refuses a program for what it would cost at the larger sizes, before it runs there or at drawn ones: what
  /// costs too much to be accepted may take too long to be run.
  bool refuse_costs() {
    CostJudge costs(task_);
    std::vector<Attempt> attempts;
    for (const SizedCases& sized : prepared_.large.counted) {
      attempts.push_back(count_attempt(task_, program_, sized));
      if (!attempts.back().refusal.empty()) return false;  // a run says so at its size
      costs.add(attempts.back());
    }
    if (costs.score().accepted()) return false;
    verdict_.checks.push_back({kDrawnResults, false, 0, 0, kNotRun});
    verdict_.checks.push_back({kLargeResults, false, 0, 0, kNotRun});
    last_ = std::move(attempts.front());
    judge_cost(costs);
    return true;
  }

  /// Judges the results and the costs at the drawn sizes. Does not change last_.
  void judge_drawn() {
    if (prepared_.drawn.empty()) return;
    Attempt shown = std::move(last_);
    Check check{kDrawnResults, true, 0, 0, {}};
    for (const PreparedSize& size : prepared_.drawn) {
      last_ = attempt(task_, program_, size.sized, size.lanes ? &*size.lanes : nullptr);
      check.passed = judge_attempt(size);
      if (!check.passed) {
        if (!verdict_.findings.empty()) check.message = verdict_.findings[0].what;
        break;
      }
      if (prepared_.large.counted.empty()) costs_.add(last_);
    }
    verdict_.checks.push_back(std::move(check));
    last_ = std::move(shown);
  }

  /// Judges the results at the larger sizes, and the costs where they are counted. The first counted
  /// size, if there is one, is then last_.
  void judge_large() {
    if (prepared_.large.counted.empty() && !prepared_.large.timed) return;
    Attempt shown = std::move(last_);
    Check check{kLargeResults, true, 0, 0, {}};
    std::vector<Attempt> attempts;
    for (const SizedCases& sized : prepared_.large.counted) {
      check.passed = judge_at(sized);
      if (!check.passed) break;
      costs_.add(last_);
      attempts.push_back(std::move(last_));
    }
    if (check.passed && prepared_.large.timed) check.passed = judge_at(*prepared_.large.timed);
    if (!check.passed && !verdict_.findings.empty()) check.message = verdict_.findings[0].what;
    const bool passed = check.passed;
    verdict_.checks.push_back(std::move(check));
    if (!passed) return;
    if (!attempts.empty()) verdict_.ranking = rank(task_, attempts);
    last_ = std::move(attempts.empty() ? shown : attempts.front());
  }

  /// Judges the results at a size where a search for the reason of a mistake would take too long.
  bool judge_at(const SizedCases& sized) {
    last_ = attempt(task_, program_, sized, nullptr);
    if (!last_.refusal.empty()) return refuse(sized);
    if (!last_.failure) return true;
    if (refuse_endless_run(sized)) return false;
    verdict_.outcome = Outcome::kWrong;
    if (!prepared_.options.explain) return false;
    Finding finding =
        state_failure({task_, text_, program_, last_, nullptr, prepared_.repair_sizes.shown,
                       SIZE_MAX, prepared_.repair_sizes.all});
    finding.details.emplace_back("The results are right at all smaller sizes.");
    verdict_.findings = {std::move(finding)};
    return false;
  }

  /// Endless loops without instructions exceed the limit of steps. Returns false for other failures.
  bool refuse_endless_run(const SizedCases& sized) {
    const std::optional<toy::Diagnostic>& error = last_.failure->error;
    if (!error || error->fault != toy::Fault::kLimit) return false;
    toy::Diagnostic limit = *error;
    const std::string size = to_string(sized.size);
    if (!size.empty()) limit.what += " at " + size;
    limit.expected = "at most " + std::to_string(task_.limits.max_steps);
    verdict_.outcome = Outcome::kLimit;
    verdict_.findings = {finding_of(limit, text_)};
    return true;
  }

  /// Runs an optional part of a verdict. Returns false if the budget has ended.
  template <class Work>
  bool within_budget(const Work& work) {
    if (!budget_) return false;
    try {
      work();
      return true;
    } catch (const toy::BudgetExceeded& over) {
      budget_.reset();
      end_ = over.what();
      return false;
    }
  }

  bool judge(const PreparedSize& size) {
    Check check{result_name(size.sized.size), true, 0, 0, {}};
    check.passed = judge_attempt(size);
    if (!check.passed && !verdict_.findings.empty()) check.message = verdict_.findings[0].what;
    verdict_.checks.push_back(std::move(check));
    return verdict_.checks.back().passed;
  }

  /// Whether single numbers are expected, in the wrong output or in all: right by chance, perhaps.
  static bool expects_plain(const Attempt& attempt, const PreparedSize& size) {
    if (size.solution == nullptr) return false;
    const std::optional<WrongOutput>& cell = attempt.failure->cell;
    if (!cell) return size.solution->is_plain;
    const std::string& array = attempt.bound->arrays[cell->array].name;
    return is_plain(size.solution->output(array, cell->element));
  }

  /// How hard a failure is to understand: inputs huge or tiny, a value that can be right by chance.
  static int difficulty(const Attempt& attempt, const PreparedSize& size) {
    const Family family = attempt.sized->cases[attempt.failure->entry].family;
    const bool plain = expects_plain(attempt, size);
    if (is_ordinary(family)) return plain ? 1 : 0;
    return attempt.failure->cell && plain ? 3 : 2;
  }

  /// Looks at further sizes for a failure that is easier to understand, and returns its size. Then
  /// last_ is that failure; it stays whole if the budget ends meanwhile.
  const PreparedSize& clearest(const PreparedSize& first) {
    const PreparedSize* best = &first;
    if (!first.lanes) return first;
    for (const PreparedSize& size : prepared_.sizes) {
      if (&size <= &first || size.solution == nullptr) continue;
      if (difficulty(last_, *best) == 0) break;
      Attempt other = attempt(task_, program_, size.sized, &*size.lanes);
      if (!other.refusal.empty() || !other.failure) continue;
      if (difficulty(other, size) >= difficulty(last_, *best)) continue;
      last_ = std::move(other);
      best = &size;
    }
    return *best;
  }

  bool judge_attempt(const PreparedSize& size) {
    if (!last_.refusal.empty()) return refuse(size.sized);
    if (!last_.failure && size.solution != nullptr && size.solution->is_polynomial &&
        last_.unrolled) {
      if (const auto cell =
              differing_output(*last_.bound, *last_.unrolled, *size.solution, task_.check)) {
        last_.failure = Failure{0, std::nullopt, 0, cell};
      }
    }
    if (!last_.failure) return true;
    if (refuse_endless_run(size.sized)) return false;
    verdict_.outcome = Outcome::kWrong;
    if (!prepared_.options.explain || say_nothing_written(task_, text_, verdict_)) return false;
    if (!within_budget([&] { explain(size); })) {
      const FailedAttempt failed{task_,    text_,
                                 program_, last_,
                                 nullptr,  prepared_.repair_sizes.shown,
                                 0,        prepared_.repair_sizes.all};
      verdict_.findings = {state_failure(failed)};
      verdict_.findings.front().details.push_back("finding out why takes " + end_);
    }
    note_starter(task_, text_, verdict_);
    return false;
  }

  void explain(const PreparedSize& failing) {
    const PreparedSize& size = clearest(failing);
    // Search repairs at public sizes if the failure is at one: large sizes take time.
    const std::vector<RepairSize>& sizes = index_of(size, prepared_.repair_sizes.shown) != SIZE_MAX
                                               ? prepared_.repair_sizes.shown
                                               : prepared_.repair_sizes.all;
    verdict_.findings = explain_failure({task_, text_, program_, last_, size.solution.get(), sizes,
                                         index_of(size, sizes), prepared_.repair_sizes.all});
    if (verdict_.findings.front().claims.empty()) explain_elsewhere(size);
  }

  /// At a small size all values can be right by chance. Says what is found at the next larger one that fails.
  void explain_elsewhere(const PreparedSize& first) {
    const auto& [shown, all] = prepared_.repair_sizes;
    for (const PreparedSize& size : prepared_.sizes) {
      const LaneCase* const lanes = size.lanes ? &*size.lanes : nullptr;
      const Attempt other =
          &size > &first ? attempt(task_, program_, size.sized, lanes) : Attempt{};
      if (!other.failure) continue;
      std::vector<Finding> found = explain_failure(
          {task_, text_, program_, other, size.solution.get(), shown, SIZE_MAX, all});
      if (!found.front().claims.empty()) verdict_.findings = std::move(found);
      return;
    }
  }

  /// The index of the size among those for repairs, or SIZE_MAX.
  static std::size_t index_of(const PreparedSize& size, const std::vector<RepairSize>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].sized == &size.sized) return i;
    }
    return SIZE_MAX;
  }

  bool refuse(const SizedCases& sized) {
    verdict_.outcome = Outcome::kRejected;
    for (const toy::Diagnostic& diagnostic : last_.refusal) {
      if (diagnostic.fault == toy::Fault::kLimit) verdict_.outcome = Outcome::kLimit;
      verdict_.findings.push_back(finding_of(diagnostic, text_));
    }
    if (!prepared_.options.explain || verdict_.outcome == Outcome::kLimit) return false;
    if (say_nothing_written(task_, text_, verdict_)) return false;
    Finding found = verdict_.findings.front();  // the refusal stays as it is if the budget ends
    const bool is_whole = within_budget([&] {
      const bool is_bound = last_.bound.has_value();
      if (!is_bound && point_at_bound(task_, program_, sized, text_, found)) return;
      if (!is_bound || step_in(found.what) > 0) point_at_repair(sized, found);
    });
    if (is_whole) verdict_.findings.front() = std::move(found);
    return false;
  }

  /// A step whose tiles do not fit is where a mistake shows, and seldom where it is.
  void point_at_repair(const SizedCases& sized, Finding& finding) const {
    const std::vector<RepairSize>& sizes = prepared_.repair_sizes.shown;
    const auto failing = std::find_if(sizes.begin(), sizes.end(),
                                      [&](const RepairSize& size) { return size.sized == &sized; });
    if (failing == sizes.end()) return;
    const auto index = static_cast<std::size_t>(failing - sizes.begin());
    const std::uint32_t shown_at = finding.line;
    const FailedAttempt failed{task_,   text_, program_, last_,
                               nullptr, sizes, index,    prepared_.repair_sizes.all};
    point_at_fault(failed, nullptr, std::nullopt, find_wrong_value(failed), repairs_of(failed, 0),
                   finding);
    if (finding.line != shown_at) {
      finding.what = "at line " + std::to_string(shown_at) + ", " + finding.what;
    }
  }

  void judge_cost(const CostJudge& costs) {
    const CostScore& score = costs.score();
    verdict_.size = last_.sized->size;
    for (const CostLine& line : score.lines) {
      const bool enough = line.share >= 1;
      verdict_.checks.push_back({line.key, enough, 0, 0, enough ? "" : costs.excess_text(line)});
      verdict_.costs.push_back(line);
      verdict_.costs.back().solution =
          count_of(line.key, prepared_.solution_counters, prepared_.solution);
    }
    if (!task_.registers.empty() && !last_.machines) {
      within_budget([&] {
        verdict_.registers = {toy::peak_registers(*last_.bound),
                              toy::peak_registers(prepared_.solution)};
      });
    }
    if (prepared_.large.counted.empty() && !within_budget([&] { judge_order(); })) {
      verdict_.scores.clear();
      verdict_.order_unknown = "placing the loads takes " + end_;
    }
    if (!score.full() || !score.accepted()) {
      verdict_.outcome = score.accepted() ? Outcome::kCostly : Outcome::kTooCostly;
      if (prepared_.options.explain) {
        verdict_.findings = costs.excesses_elsewhere(verdict_.size);
        within_budget([&] { add_costly_lines(costs.too_costly()); });
        for (Finding& finding : verdict_.findings) finding.is_about_cost = true;
      }
    }
    if (!score.accepted()) {
      Finding finding;
      const std::string where = prepared_.large.counted.empty() ? "" : " at the displayed sizes";
      finding.what = "the result is right" + where +
                     ", but it costs more than this exercise accepts, and gets no points";
      finding.details = costs.excesses();
      verdict_.findings.insert(verdict_.findings.begin(), std::move(finding));
    }
  }

  /// Adds the lines that cost too much where the program does: at a hidden size, if it costs little enough where
  /// costs are shown. There, every line is as it should be.
  void add_costly_lines(const SizedCases* where) {
    std::vector<Finding> lines;
    if (where == last_.sized) {
      lines = explain_cost(task_, text_, program_, last_, verdict_.costs);
      if (!lines.empty()) verdict_.findings.clear();
    } else {
      for (const PreparedSize& size : prepared_.drawn) {
        if (&size.sized != where || !size.lanes) continue;
        const Attempt drawn = attempt(task_, program_, size.sized, &*size.lanes);
        lines = explain_cost(task_, text_, program_, drawn, verdict_.costs);
      }
    }
    verdict_.findings.insert(verdict_.findings.end(), lines.begin(), lines.end());
  }

  void judge_order() {
    for (const Attempt& attempt : scored_) {
      verdict_.scores.push_back(
          score_of(*prepared_.exercise, attempt, analyse_order(task_, attempt)));
    }
    OrderAnalysis order = analyse_order(task_, last_);
    verdict_.scores.push_back(score_of(*prepared_.exercise, last_, order));
    verdict_.loads = std::move(order.loads);
    verdict_.order_unknown = std::move(order.unknown);
  }

  const PreparedExercise& prepared_;
  const ProgramTask& task_;
  const toy::SourceText& text_;
  CostJudge costs_;
  std::optional<toy::Budget> budget_;  // nothing: the budget has ended
  std::string end_;                    // how the budget ended
  std::shared_ptr<const toy::Program> program_;
  Attempt last_;
  std::vector<Attempt> scored_;  // at smaller sizes
  Verdict verdict_;
};

}  // namespace

Verdict grade_program(const PreparedExercise& prepared, const toy::SourceText& text) {
  return Grading(prepared, text).run();
}

}  // namespace flashlab::exercises
