// What the grader computes once for each size of an exercise, before it grades submissions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/judge/lane_cases.hpp"
#include "exercises/grader/judge/solution_forms.hpp"
#include "exercises/grader/repair/repair.hpp"

namespace flashlab::exercises {

/// One size: its inputs, and the solution's results.
struct PreparedSize {
  SizedCases sized;
  std::optional<LaneCase> lanes;         // programs on scalars
  std::unique_ptr<SolutionAt> solution;  // small displayed sizes only
};
PreparedSize prepare_size(const ProgramTask& task, SizedCases sized, bool is_displayed);

/// The sizes at which repairs are tried.
struct RepairSizes {
  std::vector<RepairSize> shown, all;  // `all` includes drawn sizes
};

}  // namespace flashlab::exercises
