// bwd-onepass for fp32 tensors on the tensor cores of compute capability 9.0, with fp32 accuracy: each
// operand is the sum of two fp16 numbers, and each product the sum of three.
//
//   0  delta = rowsum(dO o O);  dQ sums = 0;  split Q c, dO, K and V     fp16x3_split.cuh
//   each block, for each K/V tile that it takes:
//     for each query head of the kv head, each query tile i that sees the tile:
//       1  S^T = K Qi^T  and  dP^T = V dOi^T  begin
//       2  wait for S^T;  P^T = 2^(S^T - lse), 0 for hidden pairs;  R = P^T dOi  begins
//       3  wait for dP^T;  D^T = P^T o (dP^T - delta) / scales of dOi;  wait for R;  dV += R
//       4  R = D^T Qi  and  dQ = D K of the warpgroup's keys  begin
//       5  wait for R;  dK += R;  wait for dQ and add it to the dQ sums
//     dK = dK ln 2;  write dK and dV
//   dQ = softmax_scale x scales of dO x sums           dQ_of_fp16x3_sums_kernel, in the .cu file
//
// Shapes   Q, O, dO, dQ [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V, dK, dV [batch, num_kv_heads, seqlen_k, head_dim];  fp32, any strides; head_dim to 64
// Scales   powers of two: of each row of Q, dO, K and V; of P one for each tile, relative to the scales
//          of dO; of D one for each key of a tile for dK, and one for a warpgroup's part of a tile for
//          dQ. The largest magnitude with a scale gets 15 bits before the point, or few less
// Error    as flash2_fp16x3_sm90: two parts hold 23 bits, the product of the low parts is left out, and
//          tensor cores truncate sums. R and dQ of each tile are sums of their own, added in fp32; so
//          the bias does not grow with the number of tiles. An element below 2^-17 of the largest one
//          with its scale is right to 2^-39 of that one: of the queries' shares of dK, or the keys' of dQ
// Roles, grid, order, barriers   as in bwd_onepass_wgmma_sm90.cuh, with one K and additions to dQ as they
//          come. Each warpgroup adds dQ of its own keys: none waits for the other one
// Tiles    as there, for twice the head_dim: panels of high parts, then of low ones. S^T, dP^T, dK, dV, R,
//          dQ, and the parts of P^T or D^T in registers; those of D^T also in shared memory, for dQ
// Workspace  4 bytes for each element of Q, dO, K and V, head_dim padded; scales; delta; sums of dQ
// Traffic  reads the parts, 4 bytes per element, as bwd_onepass_wgmma_sm90 does; 2 num_kv_tiles
//          additions to dQ in fp32, which is then read and written once
// Bound    three fp16 products for one of fp32: a third of the fp16 rate
// Against  bwd_onepass_mma_tf32_sm80 (tf32x3): fp16 products at twice the rate of tf32, wgmma
// Source   Ootomo and Yokota 2022, Recovering single precision accuracy from Tensor Cores while
//          surpassing the FP32 theoretical peak performance; Dao 2023, FlashAttention-2, Algorithm 2
#pragma once

#include "attention_cuda/kernels/backward_wgmma/fp16x3_loading.cuh"
#include "attention_cuda/kernels/backward_wgmma/fp16x3_weights.cuh"
#include "attention_cuda/kernels/backward_wgmma/key_tiles.cuh"
#include "attention_cuda/kernels/backward_wgmma/weights.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::cuda {

/// One computing warpgroup, as BwdWgmmaComputing.
class BwdFp16x3Computing {
  using Config = BwdFp16x3Config;
  using Statistic = BwdFp16x3Statistic;

 public:
  __device__ BwdFp16x3Computing(const BwdFp16x3Shared& shared, const BwdWgmmaWork<Config>& work,
                                const BwdFp16x3Arguments& arguments)
      : shared_(shared),
        work_(work),
        arguments_(arguments),
        warpgroup_(ptx::same_in_warp(static_cast<int>(threadIdx.x) / kWarpgroup) - 1),
        seeing_all_(work.visible, work.first_key + kRows * warpgroup_, kRows) {}

  __device__ void run() {
#pragma unroll
    for (int i = 0; i < Config::kDim / 2; ++i) dK_[i] = dV_[i] = 0;
    BwdWgmmaTile tile = work_.first(sizes());
    if (!work_.is_there(tile)) return;
    store_limits(shared_.limits() + 8 * kRows * warpgroup_, work_.visible,
                 work_.first_key + kRows * warpgroup_);
    load_key_scales();
    sync_warpgroup();
    ptx::mbarrier_wait(shared_.k_full(0), work_.k_parity());
    ptx::mbarrier_wait(shared_.v_full(), work_.v_parity());
#pragma unroll 1
    for (; work_.is_there(tile); tile = work_.next(tile)) add_query_tile(tile);
    release(shared_.v_empty());
    release(shared_.k_empty(0));
  }

  /// Writes dK and dV, whose keys are those of `work`.
  __device__ void finish(const BwdWgmmaWork<Config>& work) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int key = work.first_key + row() + 8 * r;
      if (key >= sizes().seqlen_k) continue;
      // Q was multiplied by softmax_scale log2(e), and dK is to be by softmax_scale.
      store(arguments_.dK, work, key, dK_, r, kLn2);
      store(arguments_.dV, work, key, dV_, r, 1);
    }
  }

 private:
  static constexpr int kWarpgroup = Config::kWarpgroup, kRows = BwdWgmmaShape::kRowsOfWarpgroup;
  static constexpr int kPanelRowBytes = Config::kPanelRowBytes, kSums = Config::kBlockQ / 2;
  static constexpr int kHigh = 0, kLow = 1;

  __device__ const Sizes& sizes() const { return arguments_.wgmma.sizes; }
  __device__ static int thread() { return ptx::recomputed(static_cast<int>(threadIdx.x)); }
  __device__ static int lane() { return thread() % 32; }
  /// Of the warpgroup's warps.
  __device__ static int warp() { return thread() % kWarpgroup / 32; }
  /// Of the block's keys, the first one of this thread.
  __device__ static int row() { return 16 * (thread() / 32 - kWarpgroup / 32) + thread() % 32 / 4; }
  __device__ static bool is_first_thread() { return threadIdx.x % kWarpgroup == 0; }

  __device__ void sync_warpgroup() const {
    ptx::barrier_sync(Config::kFirstWarpgroup + warpgroup_, kWarpgroup);
  }
  __device__ static void release(ptx::SharedAddress empty) {
    if (is_first_thread()) ptx::mbarrier_arrive(empty);
  }

  __device__ void load_key_scales() {
    const std::int64_t head = std::int64_t{work_.b} * sizes().num_kv_heads + work_.kv_head;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int key = work_.first_key + row() + 8 * r;
      const bool is_key = key < sizes().seqlen_k;
      const std::int64_t place = head * sizes().seqlen_k + key;
      K_scale_[r] = is_key ? arguments_.K_scales[place] : 1.F;
      V_scale_[r] = is_key ? arguments_.V_scales[place] : 1.F;
    }
  }

  __device__ void add_query_tile(const BwdWgmmaTile& tile) {
    const int stage = work_.stage(tile);
    float S[kSums], dP[kSums], R[Config::kDim / 2], dQ[Config::kDim / 2];  // 64 rows
    // 1.
    ptx::mbarrier_wait(shared_.q_full(stage), work_.parity(tile));
    multiply_rows(S, shared_.K(0), shared_.Q(stage));
    ptx::mbarrier_wait(shared_.do_full(stage), work_.parity(tile));
    multiply_rows(dP, shared_.V(), shared_.dO(stage));
    // 2.
    ptx::wgmma_wait<1>();
    const int first_query = tile.q_tile * Config::kBlockQ;
    const ptx::SharedAddress lse = statistics(stage, Statistic::kLse),
                             scales = statistics(stage, Statistic::kScale),
                             limits = shared_.limits() + 8 * row();
    if (seeing_all_.excludes(first_query, Config::kBlockQ, sizes().seqlen_q)) {
      weigh_scaled<true>(S, lse, scales, K_scale_, limits, first_query, lane());
    } else {
      weigh_scaled<false>(S, lse, scales, K_scale_, limits, first_query, lane());
    }
    split(S, statistics(stage, Statistic::kWeight), 1, 1);
    multiply_registers(R, shared_.dO(stage));
    // 3.
    ptx::wgmma_wait<1>();
    differentiate_scaled(dP, S, statistics(stage, Statistic::kDelta), V_scale_);
    const float2 of_tile = ptx::load_shared_float2(shared_.statistics_of_tile(stage));
    const float largest[2] = {row_maximum(largest_of_row(dP, 0)),
                              row_maximum(largest_of_row(dP, 1))};
    ptx::wgmma_wait<0>();
    release(shared_.do_empty(stage));
    add(dV_, R, of_tile.x, of_tile.x);
    // 4.
    const Fp16x3Scale of_warpgroup = scale_of_warpgroup(largest);
    split_for_dQ(dP, of_warpgroup.to_fp16());
    const Fp16x3Scale of_keys[2] = {Fp16x3Scale::of(largest[0] * of_tile.y),
                                    Fp16x3Scale::of(largest[1] * of_tile.y)};
    split(dP, statistics(stage, Statistic::kGradient), of_keys[0].to_fp16(), of_keys[1].to_fp16());
    multiply_registers(R, shared_.Q(stage));
    multiply_dS_K(dQ);
    // 5.
    ptx::wgmma_wait<1>();
    ptx::mbarrier_arrive(shared_.q_empty(stage));  // by all threads that read its statistics
    add(dK_, R, of_keys[0].from_fp16(), of_keys[1].from_fp16());
    ptx::wgmma_wait<0>();
    add_dQ(tile, dQ, of_warpgroup.from_fp16());
  }

  // -------------------------------------------------------------------------------- products

  /// `sums` = rows of K or V of the warpgroup times all rows of Q or dO, transposed. Asynchronous. The
  /// small products come first, while the sum is small.
  __device__ void multiply_rows(float (&sums)[kSums], ptx::SharedAddress keys,
                                ptx::SharedAddress queries) {
    ptx::wgmma_fence();
    // Opaque: descriptors that are the same for all tiles would take registers.
    const std::uint64_t A = ptx::matrix_descriptor(
                            ptx::opaque(keys + warpgroup_ * kRows * kPanelRowBytes)),
                        B = ptx::matrix_descriptor(queries);
    const auto multiply = [&](int A_part, int B_part, bool accumulates) {
#pragma unroll
      for (int k = 0; k < Config::kDim / 16; ++k) {
        ptx::wgmma<Float16>(sums,
                            A + ptx::descriptor_step(A_part * Config::kPartBytesOfKeys + 32 * k),
                            B + ptx::descriptor_step(B_part * Config::kPartBytesOfQueries + 32 * k),
                            accumulates || k > 0);
      }
    };
    multiply(kLow, kHigh, false);
    multiply(kHigh, kLow, true);
    multiply(kHigh, kHigh, true);
    ptx::wgmma_commit();
  }

  /// `sums` = the split matrix times dO or Q, asynchronous.
  __device__ void multiply_registers(float (&sums)[Config::kDim / 2], ptx::SharedAddress queries) {
    ptx::wgmma_fence();
    const std::uint64_t B = ptx::matrix_descriptor(queries);
    const auto multiply = [&](const std::uint32_t(&A)[Config::kBlockQ / 16][4], int B_part,
                              bool accumulates) {
#pragma unroll
      for (int k = 0; k < Config::kBlockQ / 16; ++k) {
        ptx::wgmma<Float16>(sums, A[k],
                            B + ptx::descriptor_step(B_part * Config::kPartBytesOfQueries +
                                                     k * 16 * kPanelRowBytes),
                            accumulates || k > 0);
      }
    };
    multiply(low_, kHigh, false);
    multiply(high_, kLow, true);
    multiply(high_, kHigh, true);
    ptx::wgmma_commit();
  }

  /// dQ = D K for the warpgroup's keys, asynchronous.
  __device__ void multiply_dS_K(float (&dQ)[Config::kDim / 2]) {
    ptx::wgmma_fence();
    const std::uint64_t A[2] = {ptx::matrix_descriptor(shared_.dS_part(warpgroup_, kHigh)),
                                ptx::matrix_descriptor(shared_.dS_part(warpgroup_, kLow))};
    const std::uint64_t B =
        ptx::matrix_descriptor(ptx::opaque(shared_.K(0) + warpgroup_ * kRows * kPanelRowBytes));
    const auto multiply = [&](int A_part, int B_part, bool accumulates) {
#pragma unroll
      for (int k = 0; k < kRows / 16; ++k) {
        const std::uint32_t rows = k * 16 * kPanelRowBytes;
        ptx::wgmma<Float16, true>(
            dQ, A[A_part] + ptx::descriptor_step(rows),
            B + ptx::descriptor_step(B_part * Config::kPartBytesOfKeys + rows),
            accumulates || k > 0);
      }
    };
    multiply(kLow, kHigh, false);
    multiply(kHigh, kLow, true);
    multiply(kHigh, kHigh, true);
    ptx::wgmma_commit();
  }

  // -------------------------------------------------------------------------------- scores

  /// Where this thread's first two queries are among a tile's statistics.
  __device__ ptx::SharedAddress statistics(int stage, Statistic which) const {
    return shared_.statistic(stage, which) + 4 * 2 * (lane() % 4);
  }

  /// Of D times the scales of keys, for all keys of the warpgroup. `largest`: D of this thread's keys.
  __device__ Fp16x3Scale scale_of_warpgroup(const float (&largest)[2]) const {
    const float of_warp =
        maximum_of_warp(fmaxf(largest[0] * K_scale_[0], largest[1] * K_scale_[1]));
    const ptx::SharedAddress maxima = shared_.maxima(warpgroup_);
    if (lane() == 0) ptx::store_shared(maxima + 4 * warp(), __float_as_uint(of_warp));
    sync_warpgroup();
    const float4 all = ptx::load_shared_float4(maxima);
    return Fp16x3Scale::of(fmaxf(fmaxf(all.x, all.y), fmaxf(all.z, all.w)));
  }

  // -------------------------------------------------------------------------------- parts

  /// An accumulator has the layout of A, with two columns per register.
  __device__ void split_pair(int register_number, float first, float second) {
    const std::uint32_t high = ptx::pack(Float16{}, first, second);
    float high_first, high_second;
    ptx::unpack(Float16{}, high, high_first, high_second);
    high_[register_number / 4][register_number % 4] = high;
    low_[register_number / 4][register_number % 4] =
        ptx::pack(Float16{}, first - high_first, second - high_second);
  }

  /// Splits P^T or D^T times a factor of each query, and one for each of the thread's keys.
  __device__ void split(const float (&values)[kSums], ptx::SharedAddress factors, float first_key,
                        float second_key) {
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      const float2 factor = ptx::load_shared_float2(factors + 4 * 2 * i);
      split_pair(i / 2, values[i] * factor.x * first_key, values[i + 1] * factor.y * first_key);
      split_pair(i / 2 + 1, values[i + 2] * factor.x * second_key,
                 values[i + 3] * factor.y * second_key);
    }
  }

  /// Writes D^T times the scales of keys and `factor` to shared memory.
  __device__ void split_for_dQ(const float (&D)[kSums], float factor) {
#pragma unroll
    for (int i = 0; i < kSums; i += 2) {
      const float scale = K_scale_[i / 2 % 2];
      split_pair(i / 2, D[i] * scale * factor, D[i + 1] * scale * factor);
    }
    store_rounded(shared_.dS_part(warpgroup_, kHigh), kRows, 16 * warp(), high_, lane());
    store_rounded(shared_.dS_part(warpgroup_, kLow), kRows, 16 * warp(), low_, lane());
    ptx::fence_async_proxy();
    if (is_first_thread()) ptx::wait_stores_read<0>();  // then shared memory is free for dQ
    sync_warpgroup();
  }

  // -------------------------------------------------------------------------------- results

  /// Adds R times a factor for each of the thread's keys.
  __device__ static void add(float (&sums)[Config::kDim / 2], const float (&R)[Config::kDim / 2],
                             float first_key, float second_key) {
#pragma unroll
    for (int i = 0; i < Config::kDim / 2; ++i) {
      sums[i] = fmaf(R[i], i / 2 % 2 == 0 ? first_key : second_key, sums[i]);
    }
  }

  __device__ void add_dQ(const BwdWgmmaTile& tile, const float (&dQ)[Config::kDim / 2],
                         float factor) const {
    const ptx::SharedAddress sums = shared_.sums(warpgroup_);
#pragma unroll
    for (int i = 0; i < Config::kDim / 2; i += 4) {
      ptx::store_shared(
          sums + 16 * (i / 4 * kWarpgroup + thread() % kWarpgroup),
          make_float4(dQ[i] * factor, dQ[i + 1] * factor, dQ[i + 2] * factor, dQ[i + 3] * factor));
    }
    ptx::fence_async_proxy();
    sync_warpgroup();
    if (!is_first_thread()) return;
    ptx::add_floats(arguments_.wgmma.dQ_sums +
                        work_.number_of_tile(tile, arguments_.wgmma) * Config::kSumsOfPart,
                    sums, 4 * Config::kSumsOfPart);
    ptx::commit_stores();
  }

  __device__ void store(const DeviceTensor<float>& tensor, const BwdWgmmaWork<Config>& work,
                        int key, const float (&sums)[Config::kDim / 2], int r, float factor) const {
    float* const to = tensor.row(work.b, work.kv_head, key);
#pragma unroll
    for (int i = 2 * r; i < Config::kDim / 2; i += 4) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = 8 * (i / 4) + 2 * (lane() % 4) + e;
        if (column < sizes().head_dim) to[column * tensor.column_stride] = sums[i + e] * factor;
      }
    }
  }

  const BwdFp16x3Shared& shared_;
  const BwdWgmmaWork<Config>& work_;
  const BwdFp16x3Arguments& arguments_;
  int warpgroup_;
  SeeingAll seeing_all_;
  float K_scale_[2], V_scale_[2];
  std::uint32_t high_[kSums / 8][4], low_[kSums / 8][4];  // of P^T, then of D^T
  float dK_[Config::kDim / 2], dV_[Config::kDim / 2];
};

__global__ void __launch_bounds__(BwdFp16x3Config::kThreads, 1)
    bwd_onepass_fp16x3_sm90_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                                   const __grid_constant__ ptx::TensorMap K_map,
                                   const __grid_constant__ ptx::TensorMap V_map,
                                   const __grid_constant__ ptx::TensorMap dO_map,
                                   const BwdFp16x3Arguments arguments) {
  using Config = BwdFp16x3Config;
  const BwdFp16x3Shared shared(ptx::shared_memory());
  const BwdWgmmaArguments& wgmma = arguments.wgmma;
  initialise_barriers(shared, /*takes_turns=*/false);
  if (threadIdx.x >= Config::kWarpgroup) {
    ptx::take_registers<Config::kComputingRegisters>();
#pragma unroll 1
    for (std::uint32_t taken = 0;; ++taken) {
      const BwdWgmmaWork<Config> work = wait_for_work(shared, wgmma, taken);
      if (!work.is_there()) break;
      BwdFp16x3Computing computing(shared, work, arguments);
      computing.run();
      computing.finish(handed_over(shared, wgmma, taken));  // read again: registers are few
      release_work(shared, taken);
    }
    // Until then, the block's shared memory is read.
    if (threadIdx.x % Config::kWarpgroup == 0) ptx::wait_stores_read<0>();
    return;
  }
  ptx::release_registers<Config::kLoadingRegisters>();
  if (threadIdx.x < 32) {
    if (!ptx::elect_one()) return;
    hand_over(shared, take_first_key_tile<Config>(wgmma), 0);
#pragma unroll 1
    for (std::uint32_t taken = 0;; ++taken) {
      const BwdWgmmaWork<Config> work = handed_over(shared, wgmma, taken);
      if (!work.is_there()) return;
      load_tiles(shared, work, wgmma.sizes, Q_map, K_map, V_map, dO_map);
      hand_over(shared, take_key_tile(wgmma, handed_over(shared, wgmma, taken)), taken + 1);
    }
  }
  if (threadIdx.x < 64) {
#pragma unroll 1
    for (std::uint32_t taken = 0;; ++taken) {
      BwdWgmmaWork<Config> work = wait_for_work(shared, wgmma, taken);
      if (!work.is_there()) return;
      BwdWgmmaTile tile = work.first(wgmma.sizes);
#pragma unroll 1
      while (work.is_there(tile)) {
        load_fp16x3_statistics(shared, work, tile, arguments);
        work = handed_over(shared, wgmma, taken);  // read again: registers are few
        tile = work.next(tile);
      }
      release_work(shared, taken);
    }
  }
}

}  // namespace flashlab::cuda
