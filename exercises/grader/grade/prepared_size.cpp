#include "exercises/grader/grade/prepared_size.hpp"

#include <utility>

#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {

PreparedSize prepare_size(const ProgramTask& task, SizedCases sized, bool is_displayed) {
  PreparedSize size;
  const auto all = bind_machines(task, task.solution, sized.size);
  if (all && !all->bound.tiled) {
    std::vector<LaneCase> lanes = make_lane_cases(sized, all->bound, task.tolerance);
    size.lanes = std::move(lanes.front());
  }
  if (is_displayed) size.solution = solution_at(task, sized.size);
  size.sized = std::move(sized);
  return size;
}

}  // namespace flashlab::exercises
