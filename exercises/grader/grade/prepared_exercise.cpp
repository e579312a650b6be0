#include "exercises/grader/grade/prepared_exercise.hpp"

#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/judge/cost_score.hpp"

namespace flashlab::exercises {

PreparedExercise prepare(std::shared_ptr<const Exercise> exercise, const GraderOptions& options) {
  PreparedExercise prepared;
  prepared.exercise = std::move(exercise);
  prepared.options = options;
  if (prepared.exercise->kind == Kind::kProgram) {
    const ProgramTask& task = prepared.exercise->program;
    prepared.large = make_large_cases(task, options.seed);
    std::vector<SizedCases>& counted = prepared.large.counted;
    // If the naive program does not fit, this fails for the teacher, not later for a learner.
    const auto count_others = [&](SizedCases& sized) {
      sized.naive = count_naive(task, sized);
      sized.solution = count_solution(task, sized);
    };
    for (SizedCases& sized : counted) count_others(sized);
    for (SizedCases& sized : make_cases(task, options.seed, toy::kLanes)) {
      if (counted.empty()) count_others(sized);
      const bool shown = prepared.sizes.size() < task.sizes.size();
      (shown ? prepared.sizes : prepared.drawn)
          .push_back(prepare_size(task, std::move(sized), shown));
    }
    for (const auto* const sizes : {&prepared.sizes, &prepared.drawn}) {
      for (const PreparedSize& size : *sizes) {
        const bool is_displayed = sizes == &prepared.sizes;
        prepared.repair_sizes.all.push_back({&size.sized, size.lanes ? &*size.lanes : nullptr,
                                             size.solution.get(),
                                             is_displayed && size.solution == nullptr});
        if (is_displayed) prepared.repair_sizes.shown = prepared.repair_sizes.all;
      }
    }
    Attempt solution = counted.empty()
                           ? attempt(task, task.solution, prepared.sizes.back().sized, nullptr)
                           : count_attempt(task, task.solution, counted.front());
    if (solution.bound) {
      prepared.solution_counters = std::move(solution.counters);
      prepared.solution = std::move(*solution.bound);
    }
  }
  return prepared;
}

}  // namespace flashlab::exercises
