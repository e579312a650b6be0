#include "attention_cuda/tiles.hpp"

#include <algorithm>
#include <utility>

#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/kernels/kernel_table.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kManyQueries = "flash2", kFewQueries = "split-kv";

/// The rows that the busiest multiprocessor processes, key by key.
std::int64_t busiest_rows(const LaunchTiles& launch, const GpuLimits& gpu) {
  return num_tiles(launch.num_tiles(), gpu.num_multiprocessors) * launch.block_q;
}

}  // namespace

KernelTiles kernel_tiles(std::string_view variant, const AttentionProblem& problem,
                         const ExecutionOptions& execution, const GpuLimits& gpu) {
  const KernelListing& kernel = find_listing(variant, problem, execution, gpu.compute_capability);
  const TableRow& row = *std::ranges::find(kKernelTable, kernel.stem, &TableRow::stem);
  KernelTiles tiles = {
      kernel.stem, kernel.variant, kernel.product_instruction, std::string(row.toy_program), {}};
  if (problem.mask != Mask::kNone) tiles.toy_program += "_causal";
  if (!problem.key_lengths.empty()) {
    tiles.launches.push_back(stored_numbers("store_key_lengths", problem.batch));
  }
  const TilesRequest request = {problem, execution, gpu};
  for (Launches part : {packed_launches(request), row.launches(request)}) {
    for (LaunchTiles& launch : part) {
      const bool is_empty =
          launch.num_launches == 0 || (!launch.is_library && launch.num_blocks == 0);
      if (!is_empty) tiles.launches.push_back(std::move(launch));
    }
  }
  return tiles;
}

std::string_view forward_variant(const AttentionProblem& problem, const ExecutionOptions& execution,
                                 const GpuLimits& gpu) {
  for (const KernelListing& kernel : kernel_listings()) {
    if (kernel.stem == execution.kernel) return kernel.variant;
  }
  if (execution.products != Products::kNative || size_in_bytes(problem.dtype) > 4 ||
      execution.has_state()) {
    return kManyQueries;  // no kernel of split-kv computes these
  }
  // A row of split-kv costs as much as this many of flash2. On tensor cores each fragment of K and V
  // serves 16 rows instead of 64. Measured on an H200: docs/attention_cuda_log.md.
  const bool is_16_bits = size_in_bytes(problem.dtype) == 2;
  const std::int64_t cost_of_row = is_16_bits ? 4 : 8;
  constexpr std::int64_t kFewestSplits = 2;
  if (problem.seqlen_k < kFewestSplits * SplitTiles::kFewestKeys) return kManyQueries;
  const KernelTiles flash2 = kernel_tiles(kManyQueries, problem, execution, gpu);
  if (flash2.launches.empty()) return kManyQueries;  // there are no queries
  const LaunchTiles& many = flash2.launches.back();
  const SplitTiles few = is_16_bits ? split_kv_mma_tiles(problem) : split_kv_tiles(problem);
  const std::int64_t few_rows = row_groups(problem, few) * few.rows;
  const bool is_few = cost_of_row * few_rows < busiest_rows(many, gpu) * gpu.num_multiprocessors;
  return is_few ? kFewQueries : kManyQueries;
}

}  // namespace flashlab::cuda
