#include "exercises/grader/explain/crossed_sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"

namespace flashlab::exercises {
namespace {

/// Of one key, every weight is 1: a mistake does not show.
constexpr std::int64_t kLeastThatShows = 2;
constexpr std::uint64_t kInputSeed = 1,
                        kFirstNumber = 2000;  // other inputs than those of the check

void collect_parameters(const toy::Expression& e, std::set<std::string>& names) {
  if (e.op == toy::ExpressionOp::kParam) names.insert(e.name);
  for (const toy::ExpressionPtr& arg : e.args) collect_parameters(*arg, names);
}

}  // namespace

std::set<std::string> parameters_of_tiles(const ProgramTask& task) {
  std::set<std::string> names;
  for (const toy::ArrayDeclaration& array : task.interface->arrays) {
    for (const toy::ExpressionPtr& extent : array.tile) collect_parameters(*extent, names);
  }
  return names;
}

std::vector<SizedCases> crossed_cases(const ProgramTask& task, const Size& like) {
  const std::set<std::string> tiles = parameters_of_tiles(task);
  Size least = like, most = like;
  for (const auto& [name, shown] : like) {
    if (tiles.contains(name)) continue;
    std::set<std::int64_t> values;
    for (const Size& size : task.sizes) values.insert(size.at(name));
    most.at(name) = *values.rbegin();
    const auto enough = values.lower_bound(kLeastThatShows);
    least.at(name) = enough != values.end() ? *enough : most.at(name);
  }
  std::vector<SizedCases> all;
  for (const auto& [name, value] : most) {
    if (value == least.at(name)) continue;
    Size size = least;
    size.at(name) = value;
    if (std::find(task.sizes.begin(), task.sizes.end(), size) != task.sizes.end()) continue;
    try {
      SizedCases sized =
          cases_at(task, size, {Family::kRandom}, kInputSeed, kFirstNumber + all.size());
      if (attempt(task, task.solution, sized, nullptr).passed()) all.push_back(std::move(sized));
    } catch (const std::runtime_error&) {
      continue;  // a size that the exercise's reference does not take
    }
  }
  return all;
}

}  // namespace flashlab::exercises
