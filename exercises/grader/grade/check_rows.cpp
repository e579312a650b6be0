#include "exercises/grader/grade/check_rows.hpp"

#include <cstddef>
#include <vector>

#include "exercises/grader/exercise/points.hpp"

namespace flashlab::exercises {

std::string result_name(const Size& size) {
  return size.empty() ? "results" : "results at " + to_string(size);
}

std::vector<std::string> result_names(const ProgramTask& task) {
  std::vector<std::string> names;
  for (const Size& size : task.sizes) names.push_back(result_name(size));
  if (!task.drawn.ranges.empty()) names.emplace_back(kDrawnResults);
  if (!task.counted.ranges.empty() || task.speed) names.emplace_back(kLargeResults);
  return names;
}

void complete_checks(const ProgramTask& task, Verdict& verdict) {
  const std::vector<std::string> names = result_names(task);
  for (std::size_t i = verdict.checks.size(); i < names.size(); ++i) {
    verdict.checks.push_back({names[i], false, 0, 0, kNotRun});
  }
  if (verdict.checks.size() == names.size()) {
    for (const auto& [key, formula] : task.cost.full) {
      verdict.checks.push_back({key, false, 0, 0, kNotCounted});
    }
  }
  for (std::size_t i = 0; i < verdict.checks.size(); ++i) {
    Check& check = verdict.checks[i];
    const bool is_result = i < names.size();
    const double points = is_result ? task.points.correct : task.points.cost;
    const double most =
        points / static_cast<double>(is_result ? names.size() : task.cost.full.size());
    check.max_points = rounded_points(most, most);
    if (!verdict.passed()) continue;
    const double share = is_result ? 1 : verdict.costs[i - names.size()].share;
    check.points = rounded_points(check.max_points * share, check.max_points);
  }
}

}  // namespace flashlab::exercises
