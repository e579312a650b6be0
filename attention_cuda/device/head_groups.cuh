// The order of blocks with one query tile each: groups of heads whose K and V fit L2 together, and
// in each group the longest query tiles first.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {

struct GroupedTile {
  int b, h, q_tile;
};

/// The query tile at a place of the order, of num_places = batch x num_heads x query tiles.
__device__ __forceinline__ GroupedTile grouped_tile(const Sizes& sizes, int heads_together,
                                                    int place, int num_places) {
  const int heads = sizes.num_heads * sizes.batch, num_q_tiles = num_places / heads;
  const int first_head = place / (num_q_tiles * heads_together) * heads_together;
  const int group = min(heads_together, heads - first_head);  // the last one may be smaller
  const int in_group = place - first_head * num_q_tiles;
  const int head = first_head + in_group % group;
  return {head / sizes.num_heads, head % sizes.num_heads, num_q_tiles - 1 - in_group / group};
}

inline constexpr std::int64_t kAllHeads = INT64_MAX;

/// The number of heads whose blocks run together, so that the K and V that one block loaded are
/// still in L2 for the next one. They may use a quarter of L2: each half may keep a copy, and Q and
/// O pass through it. Under a causal mask at least `fewest_if_masked` heads run together: short
/// blocks must fill the gaps of the long ones.
inline int heads_together(const AttentionProblem& problem, std::int64_t fewest_if_masked) {
  const std::int64_t heads = problem.batch * problem.num_heads;
  const std::int64_t fewest = problem.mask == Mask::kNone ? 1 : fewest_if_masked;
  if (fewest >= heads) return static_cast<int>(heads);
  int device = 0, l2_bytes = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device),
             "cudaDeviceGetAttribute");
  const auto element_bytes = static_cast<std::int64_t>(size_in_bytes(problem.dtype));
  const std::int64_t kv_bytes = 2 * problem.seqlen_k * problem.head_dim * element_bytes,
                     fitting = l2_bytes / 4 / (kv_bytes > 0 ? kv_bytes : 1);
  return static_cast<int>(std::clamp(fitting, fewest, heads));
}

}  // namespace flashlab::cuda
