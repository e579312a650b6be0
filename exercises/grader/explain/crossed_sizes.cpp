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

std::vector<SizedCases> crossed_cases(const ProgramTask& task) {
  const std::set<std::string> tiles = parameters_of_tiles(task);
  Size least, most;  // of the parameters that are no extents of tiles
  for (const auto& [name, shown] : task.sizes.front()) {
    if (tiles.contains(name)) continue;
    std::set<std::int64_t> values;
    for (const Size& size : task.sizes) values.insert(size.at(name));
    most[name] = *values.rbegin() + 1;  // so that the last tile is another one, too
    const auto enough = values.lower_bound(kLeastThatShows);
    least[name] = enough != values.end() ? *enough : *values.rbegin();
  }
  std::set<Size> sizes;
  for (const Size& displayed : task.sizes) {
    for (const auto& [name, value] : most) {
      Size size = displayed;
      for (const auto& [other, small] : least) size[other] = small;
      size[name] = value;
      sizes.insert(std::move(size));
    }
  }
  std::vector<SizedCases> all;
  for (const Size& size : sizes) {
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
