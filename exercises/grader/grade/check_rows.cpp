#include "exercises/grader/grade/check_rows.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

namespace {

/// Rounds the parts of a sum so that they add up to the rounded sum.
class Sum {
 public:
  explicit Sum(const ProgramTask& task) : most_(task.points.correct + task.points.cost) {}

  double part(double exact) {
    exact_ += exact;
    const double rounded = rounded_points(exact_, most_), part = rounded - given_;
    given_ = rounded;
    return std::round(part * 100) / 100;  // without the digits that a difference of doubles adds
  }

 private:
  double most_, exact_ = 0, given_ = 0;
};

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
  Sum points(task), most_points(task);
  for (std::size_t i = 0; i < verdict.checks.size(); ++i) {
    Check& check = verdict.checks[i];
    const bool is_result = i < names.size();
    const double all = is_result ? task.points.correct : task.points.cost;
    const double most = all / static_cast<double>(is_result ? names.size() : task.cost.full.size());
    check.max_points = most_points.part(most);
    if (!verdict.passed()) continue;
    check.points = points.part(is_result ? most : most * verdict.costs[i - names.size()].share);
  }
}

}  // namespace flashlab::exercises
