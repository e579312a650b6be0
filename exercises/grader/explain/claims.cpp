#include "exercises/grader/explain/claims.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "exercises/grader/explain/empty_loops.hpp"
#include "exercises/grader/explain/failed_run.hpp"
#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/explain/output_ratio.hpp"
#include "exercises/grader/explain/run_remarks.hpp"
#include "exercises/grader/explain/sum_terms.hpp"
#include "exercises/grader/explain/undefined_result.hpp"
#include "exercises/grader/explain/wrong_value.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/lane_cases.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

Truth truth(bool holds) { return holds ? Truth::kHolds : Truth::kFalse; }

/// Whether the results of this text are right at a size.
bool is_right_text(const std::string& text, const ProgramTask& task, const SizedCases& sized) {
  auto assembled = toy::assemble(std::make_shared<const toy::SourceText>("repaired", text));
  if (!assembled) return false;
  const auto program = std::make_shared<const toy::Program>(std::move(*assembled));
  return attempt(task, program, sized, nullptr).passed();
}

/// The lanes of the size's cases; nothing if elements are tiles.
std::optional<LaneCase> lanes_at(const ProgramTask& task, const SizedCases& sized) {
  const auto all = bind_machines(task, task.solution, sized.size);
  if (!all || all->bound.tiled) return std::nullopt;
  return std::move(make_lane_cases(sized, all->bound, task.tolerance).front());
}

}  // namespace

/// The submission's failed run at a size, with formulas.
class RunElsewhere {
 public:
  RunElsewhere(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
               const RepairSize& size) {
    if (size.has_no_formulas) return;
    std::optional<LaneCase> own_lanes;
    if (size.lanes == nullptr) own_lanes = lanes_at(task, *size.sized);
    const LaneCase* const lanes = own_lanes ? &*own_lanes : size.lanes;
    if (lanes == nullptr) return;
    if (size.solution == nullptr) own_solution_ = solution_at(task, size.sized->size);
    const SolutionAt* const solution =
        size.solution != nullptr ? size.solution : own_solution_.get();
    if (solution == nullptr) return;
    there_ = attempt(task, program, *size.sized, lanes);
    if (!there_.refusal.empty() || !there_.unrolled || there_.machines) return;
    if (!there_.failure && solution->is_polynomial) {
      if (const auto cell =
              differing_output(*there_.bound, *there_.unrolled, *solution, task.check)) {
        there_.failure = Failure{0, std::nullopt, 0, cell};
      }
    }
    if (!there_.failure) return;
    failed_.emplace(
        FailedAttempt{task, *program->source, program, there_, solution, none_, SIZE_MAX, none_});
    run_.emplace(*failed_);
    if (!run_->has_forms()) run_.reset();
  }
  RunElsewhere(const RunElsewhere&) = delete;
  RunElsewhere& operator=(const RunElsewhere&) = delete;

  /// Null if the submission is right there, or if the formulas are too long.
  FailedRun* run() { return run_ ? &*run_ : nullptr; }

  /// All remarks that hold of the run, which must be there.
  const std::vector<RunRemark>& remarks() {
    if (!remarks_) remarks_ = all_remarks(*run_);
    return *remarks_;
  }

 private:
  const std::vector<RepairSize> none_;
  std::unique_ptr<SolutionAt> own_solution_;
  Attempt there_;
  std::optional<FailedAttempt> failed_;
  std::optional<FailedRun> run_;
  std::optional<std::vector<RunRemark>> remarks_;
};

namespace {

Truth truth_of_remark(const Claim& claim, RunElsewhere& there) {
  const std::vector<RunRemark>& remarks = there.remarks();
  return truth(std::any_of(remarks.begin(), remarks.end(), [&](const RunRemark& remark) {
    return remark.kind == claim.name && there.run()->line(remark.step) == claim.line &&
           remark.place == claim.text;
  }));
}

/// Whether the terms of the sums are told at some wrong output of the claim's array.
Truth truth_of_terms(const Claim& claim, FailedRun& run) {
  for (std::size_t a = 0; a < run.bound().arrays.size(); ++a) {
    const toy::BoundArray& array = run.bound().arrays[a];
    if (array.name != claim.name) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      run.look_at(a, i);
      const auto difference = sum_difference(run);
      if (difference && difference->are_missing == (claim.text == "missing")) return Truth::kHolds;
    }
  }
  return Truth::kFalse;
}

Truth truth_of_no_rounds(const Claim& claim, const ProgramTask& task,
                         const std::shared_ptr<const toy::Program>& program, const Size& size) {
  const auto all = bind_machines(task, program, size);
  if (!all) return Truth::kUndecided;
  const std::vector<EmptyLoop> empty = empty_loops(all->one());
  return truth(std::any_of(empty.begin(), empty.end(), [&](const EmptyLoop& one) {
    return all->one().loops[one.loop].span.line == claim.line;
  }));
}

Truth truth_of_ratio(const Claim& claim, const ProgramTask& task,
                     const std::shared_ptr<const toy::Program>& program, const SizedCases& sized) {
  if (attempt(task, program, sized, nullptr).passed()) return Truth::kUndecided;
  return truth(output_ratios(task, program, claim.name, sized).contains(claim.text));
}

/// Undecided where the line itself fails, so that it has no value to be replaced.
Truth truth_of_values(const Claim& claim, const ProgramTask& task,
                      const std::shared_ptr<const toy::Program>& program, const SizedCases& sized) {
  if (is_right_with_values(task, program, claim.line, claim.other_line, sized)) {
    return Truth::kHolds;
  }
  const auto is_there = [&](const toy::Diagnostic& error) { return error.span.line == claim.line; };
  const auto all = bind_machines(task, program, sized.size);
  if (!all) {
    return std::any_of(all.diagnostics.begin(), all.diagnostics.end(), is_there) ? Truth::kUndecided
                                                                                 : Truth::kFalse;
  }
  // On some inputs: x / 0, say, where others are only wrong.
  const bool fails_there =
      std::any_of(sized.cases.begin(), sized.cases.end(), [&](const Case& entry) {
        const auto failure =
            run_case(all->bound, entry, task.tolerance, all->machines ? &*all->machines : nullptr);
        return failure && failure->error && is_there(*failure->error);
      });
  return fails_there ? Truth::kUndecided : Truth::kFalse;
}

/// Undecided where no inputs of the size make the line fail so: the sentence states the values of a run in which it does.
Truth truth_of_undefined(const Claim& claim, const ProgramTask& task,
                         const std::shared_ptr<const toy::Program>& program,
                         const SizedCases& sized) {
  const auto all = bind_machines(task, program, sized.size);
  if (!all || all->machines) return Truth::kUndecided;
  for (const Case& entry : sized.cases) {
    const auto failure = run_case(all->bound, entry, task.tolerance);
    if (!failure || !failure->error || failure->error->span.line != claim.line) continue;
    const auto result = undefined_result(all->bound, entry);
    if (result && pattern_of(*result) == claim.text) return Truth::kHolds;
  }
  return Truth::kUndecided;
}

/// The sizes that may confirm a claim: those after the failing one, then those before it.
std::vector<const RepairSize*> other_sizes(const FailedAttempt& failed) {
  std::vector<const RepairSize*> after, before;
  bool is_after = false;
  for (const RepairSize& size : failed.all) {
    if (size.sized == failed.attempt.sized) {
      is_after = true;
    } else {
      (is_after ? after : before).push_back(&size);
    }
  }
  after.insert(after.end(), before.begin(), before.end());
  return after;
}

/// `run_there` returns the failed run at the size; it is called only if the claim is about a run.
template <class RunThere>
Truth truth_at(const Claim& claim, const ProgramTask& task,
               const std::shared_ptr<const toy::Program>& program, const SizedCases& sized,
               const RunThere& run_there) {
  switch (claim.kind) {
    case Claim::Kind::kRight:
      return truth(is_right_text(claim.text, task, sized));
    case Claim::Kind::kMoreRight:
      return Truth::kUndecided;  // another fault remains, which no claim states
    case Claim::Kind::kValues:
      return truth_of_values(claim, task, program, sized);
    case Claim::Kind::kRemark:
    case Claim::Kind::kTerms: {
      RunElsewhere& there = run_there();
      if (there.run() == nullptr) return Truth::kUndecided;
      return claim.kind == Claim::Kind::kRemark ? truth_of_remark(claim, there)
                                                : truth_of_terms(claim, *there.run());
    }
    case Claim::Kind::kRatio:
      return truth_of_ratio(claim, task, program, sized);
    case Claim::Kind::kNoRounds:
      return truth_of_no_rounds(claim, task, program, sized.size);
    case Claim::Kind::kUndefined:
      return truth_of_undefined(claim, task, program, sized);
  }
  return Truth::kUndecided;
}

}  // namespace

class RunsElsewhere {
 public:
  RunElsewhere& at(const FailedAttempt& failed, const RepairSize& size) {
    std::unique_ptr<RunElsewhere>& run = runs_[size.sized];
    if (run == nullptr) run = std::make_unique<RunElsewhere>(failed.task, failed.program, size);
    return *run;
  }

 private:
  std::map<const SizedCases*, std::unique_ptr<RunElsewhere>> runs_;
};

std::shared_ptr<RunsElsewhere> no_runs_elsewhere() { return std::make_shared<RunsElsewhere>(); }

Claim remark_claim(const std::string& kind, std::uint32_t line, const std::string& place) {
  return {Claim::Kind::kRemark, line, 0, kind, place};
}

Truth truth_of(const Claim& claim, const ProgramTask& task,
               const std::shared_ptr<const toy::Program>& program, const SizedCases& sized) {
  std::optional<RunElsewhere> run;
  return truth_at(claim, task, program, sized, [&]() -> RunElsewhere& {
    return run.emplace(task, program, RepairSize{&sized});
  });
}

Truth truth_elsewhere(const Claim& claim, const FailedAttempt& failed) {
  const std::vector<const RepairSize*> others = other_sizes(failed);
  // Of a small extent any loop may run no round, and to count the rounds is cheap. And what makes a program
  // right, or its results twice as large, does so everywhere.
  const bool is_asked_everywhere = claim.kind == Claim::Kind::kNoRounds ||
                                   claim.kind == Claim::Kind::kRight ||
                                   claim.kind == Claim::Kind::kRatio;
  Truth everywhere = Truth::kUndecided;
  for (const RepairSize* size : others) {
    const Truth there =
        truth_at(claim, failed.task, failed.program, *size->sized,
                 [&]() -> RunElsewhere& { return failed.elsewhere->at(failed, *size); });
    if (there == Truth::kUndecided) continue;
    if (!is_asked_everywhere || there == Truth::kFalse) return there;
    everywhere = there;
  }
  return others.empty() ? Truth::kHolds : everywhere;  // a formula is that of all inputs
}

namespace {

/// A remark on one output may not hold of the others.
Truth truth_here(const Claim& claim, const FailedAttempt& failed) {
  for (const RepairSize& size : failed.all) {
    if (size.sized != failed.attempt.sized) continue;
    return truth_at(claim, failed.task, failed.program, *size.sized,
                    [&]() -> RunElsewhere& { return failed.elsewhere->at(failed, size); });
  }
  return Truth::kUndecided;
}

}  // namespace

bool is_confirmed(const Claim& claim, const FailedAttempt& failed) {
  return truth_elsewhere(claim, failed) == Truth::kHolds &&
         (claim.kind != Claim::Kind::kRemark || truth_here(claim, failed) != Truth::kFalse);
}

std::string ratio_text(const FailedAttempt& failed, Claim& claim) {
  const std::optional<WrongOutput>& cell = failed.attempt.failure->cell;
  if (!cell || failed.attempt.machines) return {};
  const std::string& output = failed.attempt.bound->arrays[cell->array].name;
  std::set<std::string> ratios =
      output_ratios(failed.task, failed.program, output, *failed.attempt.sized);
  for (const std::string& ratio : ratios) {
    claim = {Claim::Kind::kRatio, 0, 0, output, ratio};
    if (!is_confirmed(claim, failed)) continue;
    const bool is_one = failed.attempt.bound->arrays[cell->array].size == 1;
    const std::string what = is_one ? failed.attempt.bound->arrays[cell->array].element_name(0)
                                    : "every element of " + output;
    return what + " is " + (ratio == "-1" ? "the negative of" : ratio + " times") +
           " what it should be";
  }
  return {};
}

std::string no_rounds_text(const FailedAttempt& failed, Claim& claim) {
  if (!failed.attempt.bound) return {};
  const Size& size = failed.attempt.sized->size;
  const auto mine = bind_machines(failed.task, failed.program, size);
  const auto solution = bind_machines(failed.task, failed.task.solution, size);
  if (!mine || !solution) return {};
  std::set<std::string> may_be_empty, known;
  for (const toy::BoundLoop& loop : solution->one().loops) known.insert(loop.var);
  for (const EmptyLoop& one : empty_loops(solution->one())) {
    may_be_empty.insert(solution->one().loops[one.loop].var);
  }
  for (const EmptyLoop& one : empty_loops(mine->one())) {
    const toy::BoundLoop& loop = mine->one().loops[one.loop];
    if (!known.contains(loop.var) || may_be_empty.contains(loop.var)) continue;
    claim = {Claim::Kind::kNoRounds, loop.span.line, 0, loop.var, ""};
    if (!is_confirmed(claim, failed)) continue;
    return (one.at.empty() ? "" : "at " + one.at + " ") + "the loop in line " +
           std::to_string(loop.span.line) + " runs no round: it goes from " +
           std::to_string(one.from) + " to before " + std::to_string(one.to);
  }
  return {};
}

}  // namespace flashlab::exercises
