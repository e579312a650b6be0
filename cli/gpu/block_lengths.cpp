#include "cli/gpu/block_lengths.hpp"

#include <algorithm>
#include <cstdint>

namespace flashlab::cli {
namespace {

constexpr std::int64_t kMostBlocks =
    50'000;  // of a problem: playing through them takes milliseconds

enum class Dependence : std::uint8_t { kNone, kOnBlock, kOnMore };

Dependence dependence(const toy::BoundExpression& bound, std::uint32_t grid_loop) {
  Dependence most = Dependence::kNone;
  if (bound.op == toy::BoundExpression::Op::kAffine) {
    for (const auto& [loop, coefficient] : bound.affine.terms) {
      most = std::max(most, loop == grid_loop ? Dependence::kOnBlock : Dependence::kOnMore);
    }
  }
  for (const toy::BoundExpression& argument : bound.args) {
    most = std::max(most, dependence(argument, grid_loop));
  }
  return most;
}

}  // namespace

std::vector<double> block_lengths(const toy::BoundProgram& program,
                                  const generate::Launch& launch) {
  if (!launch.grid_loop || launch.blocks > kMostBlocks) return {};
  const toy::BoundLoop& grid = program.loops[*launch.grid_loop];
  for (std::size_t at = launch.grid_node + 1; at < launch.last_node; ++at) {
    if (program.nodes[at].kind != toy::Node::Kind::kLoopBegin) continue;
    const toy::BoundLoop& loop = program.loops[program.nodes[at].loop];
    const Dependence on = std::max(dependence(loop.lower, *launch.grid_loop),
                                   dependence(loop.upper, *launch.grid_loop));
    if (on == Dependence::kOnMore) return {};
    if (on == Dependence::kNone) continue;
    std::vector<double> lengths;
    std::vector<std::int64_t> values(program.loops.size(), 0);
    for (std::int64_t block = 0; block < launch.blocks; ++block) {
      values[*launch.grid_loop] = grid.values.low + block * grid.step;
      const std::int64_t first = loop.lower(values.data()), end = loop.upper(values.data());
      const std::int64_t iterations = first < end ? (end - first - 1) / loop.step + 1 : 0;
      lengths.push_back(static_cast<double>(iterations));
    }
    const bool differ = std::any_of(lengths.begin(), lengths.end(),
                                    [&](double length) { return length != lengths.front(); });
    return differ ? lengths : std::vector<double>{};
  }
  return {};
}

}  // namespace flashlab::cli
