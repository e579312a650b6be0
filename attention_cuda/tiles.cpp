#include "attention_cuda/tiles.hpp"

#include <algorithm>
#include <utility>

#include "attention_cuda/detail/kernel_table.hpp"
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {
LaunchTiles uncounted_launch(std::string_view name, std::int64_t num_blocks, MovedBytes moved) {
  LaunchTiles launch;
  launch.name = name;
  launch.is_counted = false;
  launch.num_threads = kRowThreads;
  launch.num_blocks = num_blocks;
  launch.moved = moved;
  return launch;
}

LaunchTiles library_launch(std::string_view name, std::string_view toy_pass) {
  LaunchTiles launch;
  launch.name = name;
  launch.is_library = true;
  launch.toy_pass = toy_pass;
  return launch;
}

LaunchTiles key_length_launches(std::int64_t batch) {
  LaunchTiles launch = uncounted_launch("store_key_lengths", 1, {0, 8 * batch});
  launch.num_threads = kKeyLengthsAtOnce;
  launch.num_launches = num_tiles(batch, kKeyLengthsAtOnce);
  return launch;
}

KernelTiles kernel_tiles(std::string_view variant, const AttentionProblem& problem,
                         const ExecutionOptions& execution, const GpuLimits& gpu) {
  const KernelListing& kernel = find_listing(variant, problem, execution, gpu.compute_capability);
  const TableRow& row = *std::ranges::find(kKernelTable, kernel.stem, &TableRow::stem);
  KernelTiles tiles = {kernel.stem, kernel.variant, std::string(row.toy_program), {}};
  if (problem.mask != Mask::kNone) tiles.toy_program += "_causal";
  if (!problem.key_lengths.empty()) tiles.launches.push_back(key_length_launches(problem.batch));
  for (LaunchTiles& launch : row.launches({problem, execution, gpu})) {
    const bool is_empty =
        launch.num_launches == 0 || (!launch.is_library && launch.num_blocks == 0);
    if (!is_empty) tiles.launches.push_back(std::move(launch));
  }
  return tiles;
}

}  // namespace flashlab::cuda
