// Helpers of kernel_tiles() for the launches of each kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {

/// A problem and everything else that determines the tiles.
struct TilesRequest {
  const AttentionProblem& problem;
  const ExecutionOptions& execution;
  const GpuLimits& gpu;

  std::int64_t heads() const { return problem.batch * problem.num_heads; }
  std::int64_t kv_heads() const { return problem.batch * problem.num_kv_heads; }
  std::int64_t rows() const { return heads() * problem.seqlen_q; }
  std::int64_t pairs() const { return rows() * problem.seqlen_k; }
  int element_bytes() const { return static_cast<int>(size_in_bytes(problem.dtype)); }
  bool is_masked() const { return problem.is_masked(); }
};

using Launches = std::vector<LaunchTiles>;

/// A launch that no toy program contains: blocks of kRowThreads threads, unless changed.
LaunchTiles uncounted_launch(std::string_view name, std::int64_t num_blocks, MovedBytes moved);
/// A product by the library (cuBLAS).
LaunchTiles library_launch(std::string_view name, std::string_view toy_pass);
/// The launches that first copy numbers from host to device memory, several at a time: key lengths,
/// bounds of sequences.
LaunchTiles stored_numbers(std::string_view name, std::int64_t count);
/// The launches that prepare packed sequences.
Launches packed_launches(const TilesRequest& request);

using Names = std::vector<std::string_view>;

/// A product by the library that moves these arrays.
LaunchTiles library_product(std::string_view name, std::string_view toy_pass, Names loaded,
                            Names stored);
/// One block per row of S.
LaunchTiles row_by_row(std::string_view name, std::string_view toy_pass,
                       const TilesRequest& request, const RowWork& work, int shared_floats = 0);
/// The product with V, and the kernel that completes its result (device/stored_scores.cuh).
void add_output_product(Launches& launches, const TilesRequest& request);
/// One warp per query; each warp reads all keys of its query.
Launches one_warp_per_query(std::string_view name, const TilesRequest& request,
                            const BlockWork& work);
/// The work of such a block for one key: products of the query with K, each in a pass of its own, and
/// the last one with V. Exponentials and instructions of scores are not set.
BlockWork warp_per_query_work(int num_products, std::int64_t head_dim, int blocks_per_sm);

/// One launch, one block per query tile.
template <class Shape>
LaunchTiles query_tiles(std::string_view name, const Shape& shape, std::int64_t shared_bytes,
                        const TilesRequest& request) {
  LaunchTiles launch;
  launch.name = name;
  launch.block_q = shape.block_q();
  launch.block_kv = shape.block_kv;
  launch.num_threads = shape.num_threads();
  launch.shared_bytes = shared_bytes;
  launch.num_blocks = request.heads() * num_tiles(request.problem.seqlen_q, shape.block_q());
  launch.elements_loaded = {"q", "k", "v"};
  launch.elements_stored = {"o"};
  return launch;
}

}  // namespace flashlab::cuda
