// What kernel_tiles() asks for each kernel's launches.
#pragma once

#include <vector>

#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {

/// A problem and what decides the tiles beside it.
struct TilesRequest {
  const AttentionProblem& problem;
  const ExecutionOptions& execution;
  const GpuLimits& gpu;

  std::int64_t heads() const { return problem.batch * problem.num_heads; }
  std::int64_t kv_heads() const { return problem.batch * problem.num_kv_heads; }
  std::int64_t rows() const { return heads() * problem.seqlen_q; }
  std::int64_t pairs() const { return rows() * problem.seqlen_k; }
  int element_bytes() const { return static_cast<int>(size_in_bytes(problem.dtype)); }
  bool is_masked() const { return problem.mask != Mask::kNone || !problem.key_lengths.empty(); }
};

using Launches = std::vector<LaunchTiles>;

/// What no toy program has: blocks of kRowThreads threads, unless it is told otherwise.
LaunchTiles uncounted_launch(std::string_view name, std::int64_t num_blocks, MovedBytes moved);
/// A product by the library.
LaunchTiles library_launch(std::string_view name, std::string_view toy_pass);
/// What copies the key lengths, some at a time, into device memory before anything else.
LaunchTiles key_length_launches(std::int64_t batch);

Launches naive_launches(const TilesRequest& request);
Launches fused_softmax_launches(const TilesRequest& request);
Launches three_pass_launches(const TilesRequest& request);
Launches online_launches(const TilesRequest& request);
Launches flash1_launches(const TilesRequest& request);
Launches flash2_fp32_launches(const TilesRequest& request);
Launches flash2_mma_launches(const TilesRequest& request);
Launches split_kv_launches(const TilesRequest& request);
Launches bwd_naive_launches(const TilesRequest& request);
Launches bwd_onepass_fp32_launches(const TilesRequest& request);
Launches bwd_onepass_mma_launches(const TilesRequest& request);
Launches bwd_twopass_fp32_launches(const TilesRequest& request);
Launches bwd_twopass_mma_launches(const TilesRequest& request);

}  // namespace flashlab::cuda
