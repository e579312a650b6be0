// flash2 forward for fp32 tensors on the tensor cores of compute capability 9.0, with fp32 accuracy:
// each operand is the sum of two fp16 numbers, and each product the sum of three.
//
//   0  split Q c, K and V into high and low parts       flash2_fp16x3_split.cuh
//   M = -inf, l = 0, O = 0
//   for each K/V tile j, from the last visible one to the first:
//     1  issue S = Ql Kh^T + Qh Kl^T + Qh Kh^T, then of the tile before R = Pl Vh + Ph Vl + Ph Vh
//     2  wait for S;  S *= scales of the keys;  -inf for hidden keys;  M' = max(M, rowmax S)
//        P' = 2^(S - M');  l = l 2^(M - M') + rowsum P'
//     3  wait for R;  O = (O + R) 2^(M - M');  2^15 P' = Ph + Pl, M = M'
//   4  O += P V0;  O = O / l,  lse = (M + log2 l) ln 2
//
// Shapes   Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  fp32, any strides; head_dim to 128
// Error    with u = 2^-24, unit roundoff of fp32. Two parts hold 23 bits (2 u), and the product of
//          the low parts that is left out is at most 2^-22 of a term, on average 2^-25. Tensor cores
//          truncate sums: 12 u for a score (head_dim / 16 sums of high parts, three times as many in
//          all, of which the small ones come first), 2 kBlockKV / 16 u for R, as a bias. R of each
//          tile is a sum of its own, added to O in fp32; so the bias does not grow with the number
//          of keys, while a plain fp32 sum's error does. ex2.approx has 4 u. P >= 2^-18 keeps
//          all bits, and smaller P are right to 2^-40: elements of V, to 2^-39 of the largest one in
//          their tile's column; of Q and K, to 2^-39 of the largest one in their row
// Limits   rows of K whose magnitudes add up to 2^127 give infinite scores
// NaN      NaN and infinities are NaN in the parts. In a tile that is partly hidden, a NaN in V
//          reaches its column of all rows of the block. Hidden keys that share a tile with visible
//          ones take part in the scale of their column of V; those that no query sees do not
// Tiles    as in flash2_wgmma_sm90, with twice as many columns: panels of high parts, then of low
//          ones. S, P, O and R are in registers: N/2 + N/2 + d/2 + d/2 per thread for N keys
// Scales   warpgroups copy those of keys and of V's columns to shared memory, warps those of queries
// Grid     as flash2_wgmma_sm90. It may start before the splitting kernel ends, and waits for it
// Traffic  reads the parts, 4 bytes per element, as flash2_wgmma_sm90 does; writes O and lse once
// Workspace  4 bytes for each element of Q, K and V, head_dim padded, and the scales
// Bound    three fp16 products for one of fp32: a third of the fp16 rate
// Against  flash2_mma_tf32_sm80 (tf32x3): fp16 products at twice the rate of tf32, wgmma; R is summed
//          separately
// Source   Ootomo and Yokota 2022, Recovering single precision accuracy from Tensor Cores while
//          surpassing the FP32 theoretical peak performance; Dao 2023, FlashAttention-2, Algorithm 1
#pragma once

#include <cstdint>

#include "attention/score.hpp"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/kernels/flash2_fp16x3_split.cuh"
#include "attention_cuda/kernels/forward_wgmma/loading.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::cuda {

struct Fp16x3Arguments {
  WgmmaArguments wgmma;
  DeviceTensor<float> O;
  const float *query_scales, *tile_scales;
  bool has_aligned_O;  // two columns at a time
};

/// One computing warpgroup: 64 queries. Each thread has a part of two rows, 8 apart.
template <class Config>
class Fp16x3Computing {
 public:
  __device__ Fp16x3Computing(const WgmmaShared<Config>& shared, const WgmmaWork<Config>& work,
                             const Fp16x3Arguments& arguments)
      : shared_(shared),
        work_(work),
        arguments_(arguments),
        warpgroup_(ptx::same_in_warp(static_cast<int>(threadIdx.x) / kWarpgroup) - 1) {}

  __device__ void run() {
    // Orders reads of scales before copies for the next query tile, as Q's barriers do, for racecheck.
    ptx::barrier_sync(Config::kFirstWarpgroup + warpgroup_, kWarpgroup);
    int seen = work_.num_kv_tiles;
    if constexpr (Config::kSkips) {
      seen = work_.tiles_of_warpgroup(warpgroup_, sizes().seqlen_q);
      for (int tile = work_.num_kv_tiles - 1; tile >= seen; --tile) skip(tile);
    }
#pragma unroll
    for (int i = 0; i < Config::kDim / 2; ++i) O_[i] = 0;
    ptx::mbarrier_wait(shared_.q_full(warpgroup_), work_.turn % 2);
    if (seen > 0) attend(seen - 1);
    __syncwarp();
    if (lane() == 0) ptx::mbarrier_arrive(shared_.q_empty(warpgroup_));
    finish();
  }

 private:
  __device__ const Sizes& sizes() const { return arguments_.wgmma.sizes; }
  __device__ static int thread() { return ptx::recomputed(static_cast<int>(threadIdx.x)); }
  __device__ static int thread_of_warpgroup() { return thread() % kWarpgroup; }
  __device__ static int lane() { return thread() % 32; }
  /// The query of this thread's first row.
  __device__ int first_row() const {
    return work_.first_query + 16 * (thread() / 32 - kWarpgroup / 32) + lane() / 4;
  }

  /// A tile that other warpgroups see and this one does not. Only the thread that releases the tile
  /// waits for it: another one could come so late that the barrier is two phases ahead.
  __device__ void skip(int tile) {
    const bool releases = threadIdx.x % kWarpgroup == 0;
    const WgmmaStage k = work_.k_stage(tile), v = work_.v_stage(tile);
    if (releases) ptx::mbarrier_wait(shared_.k_full(k.index), k.parity);
    release(shared_.k_empty(k.index));
    if (releases) ptx::mbarrier_wait(shared_.v_full(v.index), v.parity);
    release(shared_.v_empty(v.index));
  }

  __device__ void attend(int tile) {
    // 1. and 2. for the last tile, which has no R yet.
    load_query_scales();
    const WgmmaStage first = work_.k_stage(tile);
    ptx::mbarrier_wait(shared_.k_full(first.index), first.parity);
    multiply_Q_K(first);
    copy_scales(tile);
    ptx::wgmma_wait<0>();
    release(shared_.k_empty(first.index));
    scale_scores(tile);
    if (is_masked(tile)) mask(tile);
    exponentiate(/*is_first=*/true);
    split_P();
    // All other tiles: masked ones first, so that the remaining loop has no mask.
    for (--tile; tile >= 0 && is_masked(tile); --tile) step<true>(tile);
    for (; tile >= 0; --tile) step<false>(tile);
    // 4. The last P V.
    const WgmmaStage last = work_.v_stage(0);
    ptx::mbarrier_wait(shared_.v_full(last.index), last.parity);
    multiply_P_V(last);
    ptx::wgmma_wait<0>();
    release(shared_.v_empty(last.index));
    rescale_[0] = rescale_[1] = 1;
    add_values(0);
  }

  template <bool kIsMasked>
  __device__ void step(int tile) {
    const WgmmaStage k = work_.k_stage(tile), v = work_.v_stage(tile + 1);
    ptx::mbarrier_wait(shared_.k_full(k.index), k.parity);
    ptx::mbarrier_wait(shared_.v_full(v.index), v.parity);
    multiply_Q_K(k);
    multiply_P_V(v);
    copy_scales(tile);
    ptx::wgmma_wait<1>();  // S is complete; P V may still run
    release(shared_.k_empty(k.index));
    scale_scores(tile);
    if (kIsMasked) mask(tile);
    exponentiate(/*is_first=*/false);
    ptx::wgmma_wait<0>();
    release(shared_.v_empty(v.index));
    add_values(tile + 1);
    split_P();  // not earlier: P V reads these registers
  }

  __device__ bool is_masked(int tile) const {
    return (tile + 1) * Config::kBlockKV >
           work_.visible.of_query(work_.first_query + 64 * warpgroup_);
  }

  __device__ void release(ptx::SharedAddress empty) {
    if (threadIdx.x % kWarpgroup == 0) ptx::mbarrier_arrive(empty);
  }

  // -------------------------------------------------------------------------------- scales

  /// Copies the scales of each warp's 16 queries to shared memory.
  __device__ void load_query_scales() {
    const int row = first_row() - lane() / 4 + lane();
    const std::int64_t head = std::int64_t{work_.b} * sizes().num_heads + work_.h;
    const bool is_query = lane() < 16 && row < sizes().seqlen_q;
    const float scale = is_query ? arguments_.query_scales[head * sizes().seqlen_q + row] : 1.F;
    __syncwarp();  // no lane still reads those of the query tile before
    if (lane() < 16) ptx::store_shared(query_scales() + 4 * lane(), __float_as_uint(scale));
    __syncwarp();
  }
  __device__ ptx::SharedAddress query_scales() const {
    return shared_.V(Config::kStagesV) + Config::kBarrierBytes + 64 * (thread() / 32 - 4);
  }

  /// The place of this thread's first scale of a tile. 32 bits are enough: K would not fit memory.
  __device__ int first_scale(int tile) const {
    const int tiles = (sizes().seqlen_k + Config::kBlockKV - 1) / Config::kBlockKV;
    const int head = work_.b * sizes().num_kv_heads + work_.kv_head;
    return (head * tiles + tile) * Config::kNumScales + thread_of_warpgroup();
  }

  /// Copies a tile's scales to shared memory, while its products run. One barrier per tile is enough:
  /// a buffer is used again three tiles later, when every thread has passed those of the two between.
  __device__ void copy_scales(int tile) {
    const int first = thread_of_warpgroup(), from = first_scale(tile);
    float copied[Config::kScalesOfThread];
#pragma unroll
    for (int k = 0; k < Config::kScalesOfThread; ++k) {
      const bool is_there = first + k * kWarpgroup < Config::kNumScales;
      copied[k] = is_there ? arguments_.tile_scales[from + k * kWarpgroup] : 0.F;
    }
#pragma unroll
    for (int k = 0; k < Config::kScalesOfThread; ++k) {
      const int at = first + k * kWarpgroup;
      if (at < Config::kNumScales) {
        ptx::store_shared(scales(tile) + 4 * at, __float_as_uint(copied[k]));
      }
    }
    ptx::barrier_sync(Config::kFirstWarpgroup + warpgroup_, kWarpgroup);
  }

  __device__ ptx::SharedAddress scales(int tile) const {
    const int buffer = warpgroup_ * Fp16x3Shape::kScaleBuffers + tile % Fp16x3Shape::kScaleBuffers;
    return shared_.V(Config::kStagesV) + Config::kBarrierBytes +
           4 * (Config::kBlockQ + Config::kNumScales * buffer);
  }

  // -------------------------------------------------------------------------------- products

  /// S = Q K^T, asynchronous. The small products come first, while the sum is small.
  __device__ void multiply_Q_K(const WgmmaStage& stage) {
    ptx::wgmma_fence();
    // Opaque: 24 descriptors that are the same for all tiles would take registers.
    const std::uint64_t Q = ptx::matrix_descriptor(
        ptx::opaque(shared_.Q() + warpgroup_ * WgmmaShape::kRowsOfWarpgroup * kPanelRowBytes));
    const std::uint64_t K = ptx::matrix_descriptor(shared_.K(stage.index));
    multiply_parts_Q_K(Q, 1, K, 0, false);
    multiply_parts_Q_K(Q, 0, K, 1, true);
    multiply_parts_Q_K(Q, 0, K, 0, true);
    ptx::wgmma_commit();
  }

  __device__ void multiply_parts_Q_K(std::uint64_t Q, int q_part, std::uint64_t K, int k_part,
                                     bool accumulates) {
#pragma unroll
    for (int k = 0; k < Config::kDim / 16; ++k) {
      const auto step = [&](int part, int rows) {
        const int panel = part * Config::kPanelsOfPart + k / 4;
        return ptx::descriptor_step(panel * rows * kPanelRowBytes + 32 * (k % 4));
      };
      ptx::wgmma<Float16>(S_, Q + step(q_part, Config::kBlockQ), K + step(k_part, Config::kBlockKV),
                          k > 0 || accumulates);
    }
  }

  /// R = P V of one tile, asynchronous.
  __device__ void multiply_P_V(const WgmmaStage& stage) {
    ptx::wgmma_fence();
    constexpr int kPanelBytes = Config::kBlockKV * kPanelRowBytes;
    const std::uint64_t V = ptx::matrix_descriptor(shared_.V(stage.index), kPanelBytes);
    const std::uint64_t low = ptx::descriptor_step(Config::kPanelsOfPart * kPanelBytes);
    multiply_parts_P_V(P_low_, V, false);
    multiply_parts_P_V(P_high_, V + low, true);
    multiply_parts_P_V(P_high_, V, true);
    ptx::wgmma_commit();
  }

  __device__ void multiply_parts_P_V(const std::uint32_t (&P)[Config::kBlockKV / 16][4],
                                     std::uint64_t V, bool accumulates) {
#pragma unroll
    for (int k = 0; k < Config::kBlockKV / 16; ++k) {
      ptx::wgmma<Float16>(R_, P[k], V + ptx::descriptor_step(k * 16 * kPanelRowBytes),
                          k > 0 || accumulates);
    }
  }

  // -------------------------------------------------------------------------------- softmax

  __device__ void scale_scores(int tile) {
    const ptx::SharedAddress of_keys = scales(tile) + 4 * 2 * (lane() % 4);
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; i += 4) {
      const float2 scale = ptx::load_shared_float2(of_keys + 4 * 2 * i);
      S_[i] *= scale.x;
      S_[i + 1] *= scale.y;
      S_[i + 2] *= scale.x;
      S_[i + 3] *= scale.y;
    }
    if constexpr (!ScoreFunction::kIsIdentity) {
#pragma unroll
      for (int i = 0; i < Config::kBlockKV / 2; i += 2) {
        make_scores(S_ + i, 2, kLog2E / query_scale(i / 2 % 2));
      }
    }
  }

  __device__ void mask(int tile) {  // hidden scores become -inf
    const int first_column = tile * Config::kBlockKV + 2 * (lane() % 4);
    const int limit[2] = {work_.visible.of_query(first_row()) - first_column,
                          work_.visible.of_query(first_row() + 8) - first_column};
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      if (8 * (i / 4) + i % 2 >= limit[i / 2 % 2]) S_[i] = -INFINITY;
    }
  }

  /// Of the thread's row r: what makes S a power of two's exponent.
  __device__ float query_scale(int r) const {
    return ptx::load_shared_float(query_scales() + 4 * (lane() / 4 + 8 * r));
  }

  /// Replaces S by P'. Updates M and l, and computes the factor for O. l is per thread until the end.
  /// A query's scale is a power of two: its product with a score is exact.
  __device__ void exponentiate(bool is_first) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float c = query_scale(r);
      float largest = -INFINITY;
#pragma unroll
      for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
        largest = fmaxf(largest, fmaxf(S_[i], S_[i + 1]));
      }
      const float maximum = fmaxf(row_max_[r], row_maximum(largest) * c);
      const float shift = maximum == -INFINITY ? 0.F : maximum;
      rescale_[r] = is_first ? 0.F : ptx::exp2_approximate(row_max_[r] - shift);
      row_max_[r] = maximum;
      float sum = 0;
#pragma unroll
      for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
        S_[i] = ptx::exp2_approximate(S_[i] * c - shift);
        S_[i + 1] = ptx::exp2_approximate(S_[i + 1] * c - shift);
        sum += S_[i] + S_[i + 1];
      }
      row_sum_[r] = row_sum_[r] * rescale_[r] + sum;
    }
  }

  /// An accumulator has the layout of A, with two columns per register.
  __device__ void split_P() {
    constexpr float kUp = 1 << Fp16x3Scale::kProbabilityPower;
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 4; ++i) {
      const float first = S_[2 * i] * kUp, second = S_[2 * i + 1] * kUp;
      const std::uint32_t high = ptx::pack(Float16{}, first, second);
      float high_first, high_second;
      ptx::unpack(Float16{}, high, high_first, high_second);
      P_high_[i / 4][i % 4] = high;
      P_low_[i / 4][i % 4] = ptx::pack(Float16{}, first - high_first, second - high_second);
    }
  }

  /// O = (O + R) 2^(M - M'), for the R of a tile.
  __device__ void add_values(int tile) {
    const ptx::SharedAddress of_columns = scales(tile) + 4 * (Config::kBlockKV + 2 * (lane() % 4));
#pragma unroll
    for (int i = 0; i < Config::kDim / 2; i += 4) {
      const float2 scale = ptx::load_shared_float2(of_columns + 4 * 2 * i);
      O_[i] = fmaf(R_[i], scale.x, O_[i]) * rescale_[0];
      O_[i + 1] = fmaf(R_[i + 1], scale.y, O_[i + 1]) * rescale_[0];
      O_[i + 2] = fmaf(R_[i + 2], scale.x, O_[i + 2]) * rescale_[1];
      O_[i + 3] = fmaf(R_[i + 3], scale.y, O_[i + 3]) * rescale_[1];
    }
  }

  /// 4. Stores O / l and lse.
  __device__ void finish() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = row_sum(row_sum_[r]);
      const int row = first_row() + 8 * r;
      if (row >= sizes().seqlen_q) continue;
      const DeviceTensor<float>& lse = arguments_.wgmma.lse;
      if (lse.data != nullptr && lane() % 4 == 0) {
        *lse.row(work_.b, work_.h, row) = sum == 0 ? -INFINITY : (row_max_[r] + log2f(sum)) * kLn2;
      }
      const float inverse = sum == 0 ? 0.F : 1.F / sum;
      float* const to = arguments_.O.row(work_.b, work_.h, row);
#pragma unroll
      for (int i = 2 * r; i < Config::kDim / 2; i += 4) {
        const int column = 8 * (i / 4) + 2 * (lane() % 4);
        const float first = O_[i] * inverse, second = O_[i + 1] * inverse;
        if (arguments_.has_aligned_O && column < sizes().head_dim) {
          *reinterpret_cast<float2*>(to + column) = make_float2(first, second);
          continue;
        }
        if (column < sizes().head_dim) to[column * arguments_.O.column_stride] = first;
        if (column + 1 < sizes().head_dim) to[(column + 1) * arguments_.O.column_stride] = second;
      }
    }
  }

  WgmmaShared<Config> shared_;
  const WgmmaWork<Config>& work_;
  const Fp16x3Arguments& arguments_;
  int warpgroup_;
  float S_[Config::kBlockKV / 2], R_[Config::kDim / 2], O_[Config::kDim / 2];  // 64 rows
  std::uint32_t P_high_[Config::kBlockKV / 16][4], P_low_[Config::kBlockKV / 16][4];
  float row_max_[2] = {-INFINITY, -INFINITY};
  float row_sum_[2] = {0, 0}, rescale_[2] = {0, 0};
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    flash2_fp16x3_sm90_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                              const __grid_constant__ ptx::TensorMap K_map,
                              const __grid_constant__ ptx::TensorMap V_map,
                              const Fp16x3Arguments arguments) {
  const WgmmaShared<Config> shared(ptx::shared_memory());
  initialise_barriers(shared);
  ptx::wait_for_previous_kernels();  // the parts and scales are complete
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<Config::kLoadingRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one()) {
      for_each_query_tile<Config>(
          arguments.wgmma, WgmmaUnitsInTurn(),
          [&](const WgmmaWork<Config>& work) { load_tiles(shared, work, Q_map, K_map, V_map); });
    }
  } else {
    ptx::take_registers<Config::kComputingRegisters>();
    for_each_query_tile<Config>(arguments.wgmma, WgmmaUnitsInTurn(),
                                [&](const WgmmaWork<Config>& work) {
                                  Fp16x3Computing<Config>(shared, work, arguments).run();
                                });
  }
}

}  // namespace flashlab::cuda
