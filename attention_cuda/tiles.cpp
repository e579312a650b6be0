#include "attention_cuda/tiles.hpp"

#include <algorithm>
#include <utility>

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/kernels/kernel_table.hpp"

namespace flashlab::cuda {

KernelTiles kernel_tiles(std::string_view variant, const AttentionProblem& problem,
                         const ExecutionOptions& execution, const GpuLimits& gpu) {
  const KernelListing& kernel = find_listing(variant, problem, execution, gpu.compute_capability);
  const TableRow& row = *std::ranges::find(kKernelTable, kernel.stem, &TableRow::stem);
  KernelTiles tiles = {
      kernel.stem, kernel.variant, kernel.product_instruction, std::string(row.toy_program), {}};
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
