// The kernel that flash2_fp16x3_sm90 runs first: it splits Q, K and V into high and low parts.
//
//   x 2^s = high + low      high = fp16(x 2^s), low = fp16(x 2^s - high)
//
// Scales   s brings the largest magnitude to [2^14, 2^15): of a row of Q (times softmax_scale log2 e)
//          and of K; of a column of V within a tile of kBlockKV keys, so that a few large columns
//          cost the others nothing. The scales that the products are multiplied by are stored
// Error    |x 2^s - high - low| <= max(2^-23 |x 2^s|, 2^-25): below 2^-17 of the largest magnitude,
//          elements lose relative precision; in all they are right to 2^-39 of it
// Unseen   keys that no query sees are not read: they become 0. NaN and infinities become NaN, and
//          have no influence on scales
// Grid     blocks of kBlockKV rows: all of Q, then K, then V. One warp per row of Q and K
// Traffic  reads and writes Q, K and V once: fp32, then two times fp16
#pragma once

#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/kernels/flash2_fp16x3_sm90.hpp"
#include "attention_cuda/kernels/forward_wgmma/loading.cuh"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/dependent_launch.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// Where the parts and scales are. Parts: [batch, heads, rows, 2 kDim] of fp16, two per number here.
struct Fp16x3Parts {
  std::uint32_t *Q, *K, *V;
  float* query_scales;  // [batch, num_heads, seqlen_q]
  float* tile_scales;   // [batch, num_kv_heads, tiles, kBlockKV + kDim]: of keys, of columns of V
};

struct Fp16x3SplitArguments {
  DeviceTensor<const float> Q, K, V;
  Sizes sizes;
  MaskArguments mask;
  float factor, factor_rest;  // their sum is softmax_scale log2 e
  Fp16x3Parts parts;
  int num_q_blocks, num_k_blocks;
};

/// A power of two that brings numbers to fp16, and how a product with them is brought back.
struct Fp16x3Scale {
  int exponent;  // of the largest magnitude

  static constexpr int kTarget = 14;  // the exponent that it gets
  static constexpr int kLeast = -97;  // so that no scale is subnormal

  __device__ static Fp16x3Scale of(float largest) {
    return {max(kLeast, static_cast<int>(__float_as_uint(largest) >> 23) - 127)};
  }
  __device__ static float power_of_two(int power) {
    return __uint_as_float(static_cast<std::uint32_t>(127 + power) << 23);
  }
  /// Of a power of two as these are.
  __device__ static float inverse(float power) {
    return __uint_as_float((2U * 127 << 23) - __float_as_uint(power));
  }
  __device__ float to_fp16() const { return power_of_two(kTarget - exponent); }
  __device__ float from_fp16() const { return power_of_two(exponent - kTarget); }
  __device__ float of_query() const { return power_of_two(exponent); }
  __device__ float of_key() const { return power_of_two(exponent - 2 * kTarget); }
  __device__ float of_column() const {
    return power_of_two(exponent - kTarget - kProbabilityPower);
  }

  /// P is multiplied by 2^kProbabilityPower before it is split.
  static constexpr int kProbabilityPower = 15;
};

__device__ __forceinline__ float finite_magnitude(float x) {
  const float magnitude = fabsf(x);
  return magnitude <= FLT_MAX ? magnitude : 0.F;
}

/// Two adjacent elements. `rest`: what they lack to their exact value.
struct Fp16x3Pair {
  float value[2], rest[2];

  /// Stores the high parts, and the low parts `distance` numbers later.
  __device__ void store(std::uint32_t* to, int distance, const float (&scale)[2]) const {
    float scaled[2], low[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      scaled[e] = fabsf(value[e]) <= FLT_MAX ? value[e] * scale[e] : NAN;
    }
    const std::uint32_t high = ptx::pack(Float16{}, scaled[0], scaled[1]);
    float rounded[2];
    ptx::unpack(Float16{}, high, rounded[0], rounded[1]);
#pragma unroll
    for (int e = 0; e < 2; ++e) low[e] = scaled[e] - rounded[e] + rest[e] * scale[e];
    to[0] = high;
    to[distance] = ptx::pack(Float16{}, low[0], low[1]);
  }
};

template <int kDim>
struct Fp16x3Row {
  static constexpr int kPairs = kDim / 2, kPairsOfLane = kPairs / 32;
  Fp16x3Pair pairs[kPairsOfLane];
  float largest = 0;  // of the warp

  /// One warp's row times factor + factor_rest; null: zeros.
  __device__ Fp16x3Row(const float* row, std::int64_t column_stride, int head_dim, float factor,
                       float factor_rest) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int k = 0; k < kPairsOfLane; ++k) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = 2 * (lane + 32 * k) + e;
        const float x = row != nullptr && column < head_dim ? row[column * column_stride] : 0.F;
        const float product = x * factor;
        pairs[k].value[e] = product;
        pairs[k].rest[e] = fmaf(x, factor, -product) + x * factor_rest;
        largest = fmaxf(largest, finite_magnitude(product));
      }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, distance));
    }
  }

  __device__ void store(std::uint32_t* parts, float scale) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const float scales[2] = {scale, scale};
#pragma unroll
    for (int k = 0; k < kPairsOfLane; ++k) {
      pairs[k].store(parts + lane + 32 * k, kPairs, scales);
    }
  }
};

/// The rows of a head that a block splits.
struct Fp16x3RowsOfBlock {
  int b, head;              // of the tensor's heads
  std::int64_t head_place;  // b x heads + head
  int tile, first, end;     // `end`: the rows that there are, at most kRows after `first`
};

template <int kRows>
__device__ Fp16x3RowsOfBlock fp16x3_rows_of_block(int block, int num_heads, int num_rows) {
  const int tiles = (num_rows + kRows - 1) / kRows, head = block / tiles, tile = block % tiles;
  return {head / num_heads,
          head % num_heads,
          head,
          tile,
          tile * kRows,
          min(tile * kRows + kRows, num_rows)};
}

template <int kDim, int kRows>
__device__ void split_queries(const Fp16x3SplitArguments& arguments, int block) {
  const Sizes& sizes = arguments.sizes;
  const Fp16x3RowsOfBlock rows =
      fp16x3_rows_of_block<kRows>(block, sizes.num_heads, sizes.seqlen_q);
  for (int i = rows.first + static_cast<int>(threadIdx.x) / 32; i < rows.end;
       i += Fp16x3Shape::kSplitThreads / 32) {
    const Fp16x3Row<kDim> row(arguments.Q.row(rows.b, rows.head, i), arguments.Q.column_stride,
                              sizes.head_dim, arguments.factor, arguments.factor_rest);
    const Fp16x3Scale scale = Fp16x3Scale::of(row.largest);
    const std::int64_t place = rows.head_place * sizes.seqlen_q + i;
    row.store(arguments.parts.Q + place * kDim, scale.to_fp16());
    if (threadIdx.x % 32 == 0) arguments.parts.query_scales[place] = scale.of_query();
  }
}

/// The keys that a query of the batch entry sees.
__device__ __forceinline__ int fp16x3_seen_keys(const Fp16x3SplitArguments& arguments, int b) {
  return arguments.mask.of_batch_entry(b, arguments.sizes).of_query(arguments.sizes.seqlen_q - 1);
}

template <int kDim, int kRows>
__device__ float* fp16x3_scales_of_tile(const Fp16x3SplitArguments& arguments,
                                        const Fp16x3RowsOfBlock& rows) {
  const int tiles = (arguments.sizes.seqlen_k + kRows - 1) / kRows;
  return arguments.parts.tile_scales + (rows.head_place * tiles + rows.tile) * (kRows + kDim);
}

template <int kDim, int kRows>
__device__ void split_keys(const Fp16x3SplitArguments& arguments, int block) {
  const Sizes& sizes = arguments.sizes;
  const Fp16x3RowsOfBlock rows =
      fp16x3_rows_of_block<kRows>(block, sizes.num_kv_heads, sizes.seqlen_k);
  const int num_seen = fp16x3_seen_keys(arguments, rows.b);
  float* const scales = fp16x3_scales_of_tile<kDim, kRows>(arguments, rows);
  // A tile has scales for the rows that it lacks too: the products read them.
  for (int r = static_cast<int>(threadIdx.x) / 32; r < kRows;
       r += Fp16x3Shape::kSplitThreads / 32) {
    const int j = rows.first + r;
    const Fp16x3Row<kDim> row(j < num_seen ? arguments.K.row(rows.b, rows.head, j) : nullptr,
                              arguments.K.column_stride, sizes.head_dim, 1, 0);
    const Fp16x3Scale scale = Fp16x3Scale::of(row.largest);
    if (j < rows.end) {
      row.store(arguments.parts.K + (rows.head_place * sizes.seqlen_k + j) * kDim, scale.to_fp16());
    }
    if (threadIdx.x % 32 == 0) scales[r] = scale.of_key();
  }
}

template <int kDim, int kRows>
__device__ void split_values(const Fp16x3SplitArguments& arguments, int block) {
  constexpr int kPairs = kDim / 2, kGroups = Fp16x3Shape::kSplitThreads / kPairs;
  constexpr int kRowsOfThread = kRows / kGroups;
  static_assert(kRows % kGroups == 0);
  // [kGroups, kDim]
  auto* const largest_of_groups = reinterpret_cast<float*>(ptx::shared_memory());
  static_assert(4 * kGroups * kDim == Fp16x3Shape::kSplitSharedBytes);
  const Sizes& sizes = arguments.sizes;
  const Fp16x3RowsOfBlock rows =
      fp16x3_rows_of_block<kRows>(block, sizes.num_kv_heads, sizes.seqlen_k);
  const int num_seen = fp16x3_seen_keys(arguments, rows.b);
  const int pair = static_cast<int>(threadIdx.x) % kPairs,
            group = static_cast<int>(threadIdx.x) / kPairs;

  float values[kRowsOfThread][2], largest[2] = {0, 0};
#pragma unroll
  for (int k = 0; k < kRowsOfThread; ++k) {
    const int j = rows.first + group + kGroups * k;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = 2 * pair + e;
      const bool is_there = j < num_seen && column < sizes.head_dim;
      values[k][e] = is_there
                         ? arguments.V.row(rows.b, rows.head, j)[column * arguments.V.column_stride]
                         : 0.F;
      largest[e] = fmaxf(largest[e], finite_magnitude(values[k][e]));
    }
  }
  largest_of_groups[group * kDim + 2 * pair] = largest[0];
  largest_of_groups[group * kDim + 2 * pair + 1] = largest[1];
  __syncthreads();
  float to_fp16[2];
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    float of_all = 0;
    for (int g = 0; g < kGroups; ++g) {
      of_all = fmaxf(of_all, largest_of_groups[g * kDim + 2 * pair + e]);
    }
    const Fp16x3Scale scale = Fp16x3Scale::of(of_all);
    to_fp16[e] = scale.to_fp16();
    if (group == 0) {
      fp16x3_scales_of_tile<kDim, kRows>(arguments, rows)[kRows + 2 * pair + e] = scale.of_column();
    }
  }
#pragma unroll
  for (int k = 0; k < kRowsOfThread; ++k) {
    const int j = rows.first + group + kGroups * k;
    if (j >= rows.end) break;
    const Fp16x3Pair elements = {{values[k][0], values[k][1]}, {0, 0}};
    elements.store(arguments.parts.V + (rows.head_place * sizes.seqlen_k + j) * kDim + pair, kPairs,
                   to_fp16);
  }
}

template <int kDim, int kRows>
__global__ void __launch_bounds__(Fp16x3Shape::kSplitThreads)
    flash2_fp16x3_split_kernel(const Fp16x3SplitArguments arguments) {
  ptx::let_next_kernel_start();  // the products
  const int block = static_cast<int>(blockIdx.x);
  if (block < arguments.num_q_blocks) {
    split_queries<kDim, kRows>(arguments, block);
  } else if (block < arguments.num_q_blocks + arguments.num_k_blocks) {
    split_keys<kDim, kRows>(arguments, block - arguments.num_q_blocks);
  } else {
    split_values<kDim, kRows>(arguments, block - arguments.num_q_blocks - arguments.num_k_blocks);
  }
}

/// What the splitting kernel and the main one share.
template <int kHeadDimension>
struct Fp16x3Config : WgmmaConfig<Float16, kFp16x3Shapes[fp16x3_index(kHeadDimension)].wgmma> {
  static constexpr Fp16x3Shape kSplit = kFp16x3Shapes[fp16x3_index(kHeadDimension)];
  static constexpr int kDim = kSplit.head_dim(), kPanelsOfPart = kDim / WgmmaShape::kPanelColumns;
  static constexpr int kNumScales = kSplit.num_scales();
  static constexpr bool kTakesWindows = false;
  static constexpr int kFirstWarpgroup = 1;  // named barriers, one for each
  static constexpr int kScalesOfThread = (kNumScales + kWarpgroup - 1) / kWarpgroup;
  static constexpr int kBarrierBytes = kSplit.wgmma.barrier_bytes();
  static constexpr int kSharedBytes = kSplit.shared_bytes();
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
};

/// Parts [batch, heads, rows, columns] in boxes of `box_rows` rows.
inline ptx::TensorMap map_of_parts(std::uint32_t* parts, std::int64_t batch, std::int64_t heads,
                                   std::int64_t rows, int columns, int box_rows) {
  if (batch * heads * rows == 0) return {};  // nothing is loaded
  constexpr std::int64_t kBytes = ptx::TensorLayout::kElementBytes;
  ptx::TensorLayout layout;
  layout.data = parts;
  layout.is_bfloat16 = false;
  const std::int64_t sizes[] = {columns, rows, heads, batch};
  std::int64_t stride = kBytes;
  for (int axis = 0; axis < ptx::TensorLayout::kRank; ++axis) {
    layout.sizes[axis] = static_cast<std::uint64_t>(sizes[axis]);
    layout.strides[axis] = static_cast<std::uint64_t>(stride);
    stride *= sizes[axis];
  }
  layout.box_rows = box_rows;
  return ptx::make_tensor_map(layout);
}

}  // namespace flashlab::cuda
