// Rows that read the same K and V: the queries of all heads of one kv head, [heads_per_kv_head,
// seqlen_q], in groups of a block's rows, for each of several splits of the keys.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/places.cuh"

namespace flashlab::cuda {

/// The rows first … first + count - 1 of a kv head, and the split of the block. Rows from count on
/// may be asked for, but belong to no block.
struct PackedRows {
  int b, kv_head, split;
  std::int64_t first;
  int first_head, first_query;  // of row `first`
  int count;

  __device__ int query(int r, const Sizes& sizes) const {
    return (first_query + r) % sizes.seqlen_q;
  }
  __device__ int head(int r, const Sizes& sizes) const {
    return first_head + (first_query + r) / sizes.seqlen_q;
  }
  /// The smallest and the largest query of the rows.
  __device__ int earliest_query(const Sizes& sizes) const {
    return first_query + count > sizes.seqlen_q ? 0 : first_query;
  }
  __device__ int last_query(const Sizes& sizes) const {
    return min(first_query + count, sizes.seqlen_q) - 1;
  }
  /// In the order of O: the heads of a kv head are adjacent.
  __device__ std::int64_t index(int r, const Sizes& sizes) const {
    const std::int64_t rows_of_kv_head = std::int64_t{sizes.heads_per_kv_head} * sizes.seqlen_q;
    return (std::int64_t{b} * sizes.num_kv_heads + kv_head) * rows_of_kv_head + first + r;
  }
};

/// The rows of this block, of gridDim.x = batch x num_kv_heads x groups of rows x splits.
template <int kRows>
__device__ __forceinline__ PackedRows packed_rows_of_block(const Sizes& sizes, int num_splits) {
  const std::int64_t rows_of_kv_head = std::int64_t{sizes.heads_per_kv_head} * sizes.seqlen_q;
  const std::int64_t num_groups = ceil_div(rows_of_kv_head, kRows);
  const std::int64_t group = blockIdx.x / num_splits, kv_head = group / num_groups,
                     first = group % num_groups * kRows, left = rows_of_kv_head - first;
  PackedRows rows;
  rows.b = static_cast<int>(kv_head / sizes.num_kv_heads);
  rows.kv_head = static_cast<int>(kv_head % sizes.num_kv_heads);
  rows.split = static_cast<int>(blockIdx.x % static_cast<unsigned>(num_splits));
  rows.first = first;
  rows.first_head =
      rows.kv_head * sizes.heads_per_kv_head + static_cast<int>(first / sizes.seqlen_q);
  rows.first_query = static_cast<int>(first % sizes.seqlen_q);
  rows.count = static_cast<int>(left < kRows ? left : kRows);
  return rows;
}

}  // namespace flashlab::cuda
