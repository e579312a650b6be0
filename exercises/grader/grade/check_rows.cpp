#include "exercises/grader/grade/check_rows.hpp"

#include <cstddef>
#include <vector>

#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

namespace {

/// Divides points between rows: tenths, which add up to all.
std::vector<double> divided_points(double points, std::size_t rows) {
  std::vector<double> parts;
  double given = 0;
  for (std::size_t row = 1; row <= rows; ++row) {
    const double share = static_cast<double>(row) / static_cast<double>(rows);
    const double up_to_here = rounded_points(points * share, points, row == rows);
    parts.push_back(added_points(up_to_here, -given));
    given = up_to_here;
  }
  return parts;
}

}  // namespace

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
  const std::vector<double> of_results = divided_points(task.points.correct, names.size());
  const std::vector<double> of_costs = divided_points(task.points.cost, task.cost.full.size());
  double sum = 0;
  for (std::size_t i = 0; i < verdict.checks.size(); ++i) {
    Check& check = verdict.checks[i];
    const bool is_result = i < names.size();
    check.max_points = is_result ? of_results[i] : of_costs[i - names.size()];
    if (!verdict.passed()) continue;
    const double share = is_result ? 1 : verdict.costs[i - names.size()].share;
    check.points = rounded_points(check.max_points * share, check.max_points, share >= 1);
    sum = added_points(sum, check.points);
  }
  verdict.points = rounded_points(sum, verdict.max_points, verdict.outcome == Outcome::kFull);
}

}  // namespace flashlab::exercises
