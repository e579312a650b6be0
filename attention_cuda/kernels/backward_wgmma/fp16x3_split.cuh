// The kernel that bwd_onepass_fp16x3_sm90 runs first: it splits the rows of Q, dO, K and V into high and
// low parts, as flash2_fp16x3_split.cuh does.
//
//   x 2^s = high + low      high = fp16(x 2^s), low = fp16(x 2^s - high)
//
// Scales   one for each row. The power of two 2^-s is stored: [batch, heads, rows]
// Unseen   rows of keys that no query sees, and of queries that see no key, are not read: they become 0
// Grid     blocks of kSplitRows rows: of Q, then dO, K, V. One warp per row
// Traffic  reads and writes each tensor once: fp32, then two times fp16
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/kernels/bwd_onepass_fp16x3_sm90.hpp"
#include "attention_cuda/kernels/flash2_fp16x3_split.cuh"

namespace flashlab::cuda {

/// A tensor, and where its parts and its rows' scales go.
struct BwdFp16x3Split {
  DeviceTensor<const float> rows;
  int num_heads, num_rows;  // of the tensor
  int num_blocks;
  bool are_keys;
  float factor, factor_rest;  // rows are multiplied by their sum
  std::uint32_t* parts;       // [batch, heads, rows, 2 kDim] of fp16, two per number here
  float* scales;              // [batch, heads, rows]
};

struct BwdFp16x3SplitArguments {
  static constexpr int kTensors = 4;
  BwdFp16x3Split tensors[kTensors];
  Sizes sizes;
  MaskArguments mask;
};

/// The rows of a batch entry that take part: queries that see a key, or keys that a query sees.
__device__ inline IndexRange fp16x3_seen_rows(const BwdFp16x3SplitArguments& arguments, int b,
                                              bool are_keys) {
  const VisibleKeys visible = arguments.mask.of_batch_entry(b, arguments.sizes);
  const int queries = arguments.sizes.seqlen_q;
  if (are_keys) return {visible.first_of_query(0), visible.of_query(queries - 1)};
  return {visible.first_query(0), min(visible.end_query(visible.keys - 1), queries)};
}

template <int kDim>
__global__ void __launch_bounds__(Fp16x3Shape::kSplitThreads)
    bwd_fp16x3_split_kernel(const __grid_constant__ BwdFp16x3SplitArguments arguments) {
  ptx::let_next_kernel_start();  // the gradients
  constexpr int kRows = BwdFp16x3Shape::kSplitRows, kWarps = Fp16x3Shape::kSplitThreads / 32;
  int tensor = 0, block = static_cast<int>(blockIdx.x);
  while (block >= arguments.tensors[tensor].num_blocks) {
    block -= arguments.tensors[tensor++].num_blocks;
  }
  const BwdFp16x3Split& split = arguments.tensors[tensor];
  const Fp16x3RowsOfBlock rows =
      fp16x3_rows_of_block<kRows>(block, split.num_heads, split.num_rows);
  const IndexRange seen = fp16x3_seen_rows(arguments, rows.b, split.are_keys);
  for (int i = rows.first + static_cast<int>(threadIdx.x) / 32; i < rows.end; i += kWarps) {
    const bool is_seen = i >= seen.first && i < seen.end;
    const Fp16x3Row<kDim> row(is_seen ? split.rows.row(rows.b, rows.head, i) : nullptr,
                              split.rows.column_stride, arguments.sizes.head_dim, split.factor,
                              split.factor_rest);
    const Fp16x3Scale scale = Fp16x3Scale::of(row.largest);
    const std::int64_t place = rows.head_place * split.num_rows + i;
    row.store(split.parts + place * kDim, scale.to_fp16());
    if (threadIdx.x % 32 == 0) split.scales[place] = scale.from_fp16();
  }
}

}  // namespace flashlab::cuda
