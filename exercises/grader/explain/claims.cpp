#include "exercises/grader/explain/claims.hpp"

#include <algorithm>
#include <set>

#include "exercises/grader/explain/empty_loops.hpp"
#include "exercises/grader/explain/failed_run.hpp"
#include "exercises/grader/explain/first_wrong_step.hpp"
#include "exercises/grader/explain/output_ratio.hpp"
#include "exercises/grader/explain/run_remarks.hpp"
#include "exercises/grader/explain/sum_terms.hpp"
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

/// Calls `look` with the failed run and returns what it says; undecided if the submission is right
/// there, or if the formulas are too long.
template <class Look>
Truth at_failed_run(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program,
                    const SizedCases& sized, const Look& look) {
  const std::optional<LaneCase> lanes = lanes_at(task, sized);
  if (!lanes) return Truth::kUndecided;
  const auto solution = solution_at(task, sized.size);
  if (solution == nullptr) return Truth::kUndecided;
  Attempt there = attempt(task, program, sized, &*lanes);
  if (!there.refusal.empty() || !there.unrolled || there.machines) return Truth::kUndecided;
  if (!there.failure && solution->is_polynomial) {
    if (const auto cell = differing_output(*there.bound, *there.unrolled, *solution, task.check)) {
      there.failure = Failure{0, std::nullopt, 0, cell};
    }
  }
  if (!there.failure) return Truth::kUndecided;
  const std::vector<RepairSize> none;
  const FailedAttempt failed{task, *program->source, program, there, solution.get(),
                             none, SIZE_MAX,         none};
  FailedRun run(failed);
  return run.has_forms() ? look(run) : Truth::kUndecided;
}

Truth truth_of_remark(const Claim& claim, FailedRun& run) {
  const std::vector<RunRemark> remarks = all_remarks(run);
  return truth(std::any_of(remarks.begin(), remarks.end(), [&](const RunRemark& remark) {
    return remark.kind == claim.name && run.line(remark.step) == claim.line &&
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
  const Attempt there = attempt(task, program, sized, nullptr);
  const auto is_there = [&](const toy::Diagnostic& error) { return error.span.line == claim.line; };
  const bool fails_there =
      std::any_of(there.refusal.begin(), there.refusal.end(), is_there) ||
      (there.failure && there.failure->error && is_there(*there.failure->error));
  return fails_there ? Truth::kUndecided : Truth::kFalse;
}

/// The sizes that may confirm a claim: those after the failing one, then those before it.
std::vector<const SizedCases*> other_sizes(const FailedAttempt& failed) {
  std::vector<const SizedCases*> after, before;
  bool is_after = false;
  for (const RepairSize& size : failed.all) {
    if (size.sized == failed.attempt.sized) {
      is_after = true;
    } else {
      (is_after ? after : before).push_back(size.sized);
    }
  }
  after.insert(after.end(), before.begin(), before.end());
  return after;
}

}  // namespace

Claim remark_claim(const std::string& kind, std::uint32_t line, const std::string& place) {
  return {Claim::Kind::kRemark, line, 0, kind, place};
}

Truth truth_of(const Claim& claim, const ProgramTask& task,
               const std::shared_ptr<const toy::Program>& program, const SizedCases& sized) {
  switch (claim.kind) {
    case Claim::Kind::kRight:
      return truth(is_right_text(claim.text, task, sized));
    case Claim::Kind::kMoreRight:
      return Truth::kUndecided;  // another fault remains, which no claim states
    case Claim::Kind::kValues:
      return truth_of_values(claim, task, program, sized);
    case Claim::Kind::kRemark:
      return at_failed_run(task, program, sized,
                           [&](FailedRun& run) { return truth_of_remark(claim, run); });
    case Claim::Kind::kTerms:
      return at_failed_run(task, program, sized,
                           [&](FailedRun& run) { return truth_of_terms(claim, run); });
    case Claim::Kind::kRatio:
      return truth_of_ratio(claim, task, program, sized);
    case Claim::Kind::kNoRounds:
      return truth_of_no_rounds(claim, task, program, sized.size);
  }
  return Truth::kUndecided;
}

Truth truth_elsewhere(const Claim& claim, const FailedAttempt& failed) {
  const std::vector<const SizedCases*> others = other_sizes(failed);
  for (const SizedCases* sized : others) {
    const Truth there = truth_of(claim, failed.task, failed.program, *sized);
    if (there != Truth::kUndecided) return there;
  }
  return others.empty() ? Truth::kHolds : Truth::kUndecided;  // a formula is that of all inputs
}

bool is_confirmed(const Claim& claim, const FailedAttempt& failed) {
  return truth_elsewhere(claim, failed) == Truth::kHolds;
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
