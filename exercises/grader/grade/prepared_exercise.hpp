// What all submissions of one exercise share: inputs, expected results, and the counts of the solution.
#pragma once

#include <memory>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/grade/prepared_size.hpp"
#include "exercises/grader/repair/repair.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::exercises {

struct PreparedExercise {
  std::shared_ptr<const Exercise> exercise;
  GraderOptions options;
  // Of an exercise with a program to write:
  std::vector<PreparedSize> sizes, drawn;
  LargeCases large;
  RepairSizes repair_sizes;
  toy::Counters solution_counters;  // where costs are shown
  toy::BoundProgram solution;

  toy::BudgetLimits limits() const {
    return {options.milliseconds > 0 ? options.milliseconds : exercise->program.max_milliseconds,
            options.bytes};
  }
};

/// Throws std::runtime_error if the exercise is broken.
PreparedExercise prepare(std::shared_ptr<const Exercise> exercise, const GraderOptions& options);

}  // namespace flashlab::exercises
