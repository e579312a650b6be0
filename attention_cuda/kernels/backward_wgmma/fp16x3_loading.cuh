// What the warpgroups of bwd_onepass_fp16x3_sm90 share, and the statistics of queries that one warp brings.
#pragma once

#include <cstdint>

#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/kernels/bwd_onepass_fp16x3_sm90.hpp"
#include "attention_cuda/kernels/flash2_fp16x3_split.cuh"

namespace flashlab::cuda {

struct BwdFp16x3Config : BwdWgmmaConfig<Float16, kBwdFp16x3Shape.wgmma> {
  static constexpr int kDim = kBwdFp16x3Shape.head_dim();
  static constexpr int kStatisticsBytes = kBwdFp16x3Shape.statistics_bytes();
  static constexpr int kSharedBytes = kBwdFp16x3Shape.shared_bytes();
  static constexpr int kBarrierBytes = kShape.barrier_bytes();
  static constexpr int kPartBytesOfKeys = kKeysBytes / BwdFp16x3Shape::kParts;
  static constexpr int kPartBytesOfQueries = kQueriesBytes / BwdFp16x3Shape::kParts;
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
  static_assert(kSumsOfPart == kBlockQ * kDim && kBlockQ == BwdWgmmaShape::kRowsOfWarpgroup);
  static_assert(kDim == WgmmaShape::kPanelColumns, "a part is a panel");
};

struct BwdFp16x3Arguments {
  BwdWgmmaArguments wgmma;
  DeviceTensor<float> dK, dV;
  /// By row: what the parts are multiplied by. Q's: times softmax_scale log2(e).
  const float *Q_scales, *dO_scales;  // [batch, num_heads, seqlen_q]
  const float *K_scales, *V_scales;   // [batch, num_kv_heads, seqlen_k]
};

/// Numbers for each query of a tile. With q and o: scales of the rows of Q and of dO, and o' the largest
/// one of the tile.
enum class BwdFp16x3Statistic {
  kLse,       // lse log2(e)
  kDelta,     // delta / o
  kScale,     // q
  kWeight,    // 2^15 o / o', which P is multiplied by for dV
  kGradient,  // o q, which dS / o is multiplied by for dK
};

class BwdFp16x3Shared : public BwdWgmmaShared<BwdFp16x3Config> {
 public:
  using BwdWgmmaShared::BwdWgmmaShared;
  /// A warpgroup's dS^T [64, kBlockQ], its high part, then its low one.
  __device__ ptx::SharedAddress dS_part(int warpgroup, int part) const {
    return dS(warpgroup) + part * (BwdFp16x3Config::kGradientBytes / BwdFp16x3Shape::kParts);
  }
  __device__ ptx::SharedAddress statistic(int stage, BwdFp16x3Statistic which) const {
    return statistics(stage) + 4 * BwdFp16x3Config::kBlockQ * static_cast<int>(which);
  }
  /// Of a tile: 2^-15 times the largest scale of dO, and the largest factor for dS.
  __device__ ptx::SharedAddress statistics_of_tile(int stage) const {
    return statistics(stage) + 4 * BwdFp16x3Config::kBlockQ * BwdFp16x3Shape::kStatistics;
  }
  /// A number for each warp of a warpgroup.
  __device__ ptx::SharedAddress maxima(int warpgroup) const {
    return work(2) + BwdFp16x3Config::kBarrierBytes + 16 * warpgroup;
  }
};

__device__ __forceinline__ float maximum_of_warp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0U, value, distance));
  }
  return value;
}

/// By one warp, as load_statistics. All scales are powers of two, and products with them exact.
__device__ __forceinline__ void load_fp16x3_statistics(const BwdFp16x3Shared& shared,
                                                       const BwdWgmmaWork<BwdFp16x3Config>& work,
                                                       const BwdWgmmaTile& tile,
                                                       const BwdFp16x3Arguments& arguments) {
  constexpr int kBlockQ = BwdFp16x3Config::kBlockQ, kRowsOfLane = kBlockQ / 32;
  constexpr float kUp = 1 << Fp16x3Scale::kProbabilityPower;
  const int lane = static_cast<int>(threadIdx.x) % 32, stage = work.stage(tile);
  const BwdWgmmaArguments& wgmma = arguments.wgmma;
  const Sizes& sizes = wgmma.sizes;
  // 32 bits are enough for a place: Q would not fit memory.
  const int head = work.b * sizes.num_heads + tile.head;
  float lse_log2[kRowsOfLane], delta[kRowsOfLane], Q_scale[kRowsOfLane], dO_scale[kRowsOfLane];
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const int query = tile.q_tile * kBlockQ + lane + 32 * r;
    const bool is_there = query < sizes.seqlen_q;
    const int place = head * sizes.seqlen_q + query;
    lse_log2[r] = is_there ? *wgmma.lse.row(work.b, tile.head, query) : -INFINITY;
    delta[r] = is_there ? wgmma.delta[place] : 0.F;
    Q_scale[r] = is_there ? arguments.Q_scales[place] : 0.F;
    dO_scale[r] = is_there ? arguments.dO_scales[place] : 0.F;
  }
  float largest_scale = 0, largest_factor = 0;
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const QueryStatistics statistics = query_statistics(lse_log2[r], delta[r]);
    lse_log2[r] = statistics.lse_log2;
    delta[r] = dO_scale[r] > 0 ? statistics.delta * Fp16x3Scale::inverse(dO_scale[r]) : 0.F;
    largest_scale = fmaxf(largest_scale, dO_scale[r]);
    largest_factor = fmaxf(largest_factor, dO_scale[r] * Q_scale[r]);
  }
  largest_scale = maximum_of_warp(largest_scale);
  largest_factor = maximum_of_warp(largest_factor);
  const float to_weight = Fp16x3Scale::inverse(largest_scale) * kUp;
  ptx::mbarrier_wait(shared.q_empty(stage), work.parity(tile) ^ 1);
  const auto store = [&](BwdFp16x3Statistic which, int row, float value) {
    ptx::store_shared(shared.statistic(stage, which) + 4 * row, __float_as_uint(value));
  };
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const int row = lane + 32 * r;
    store(BwdFp16x3Statistic::kLse, row, lse_log2[r]);
    store(BwdFp16x3Statistic::kDelta, row, delta[r]);
    store(BwdFp16x3Statistic::kScale, row, Q_scale[r]);
    store(BwdFp16x3Statistic::kWeight, row, dO_scale[r] * to_weight);
    store(BwdFp16x3Statistic::kGradient, row, dO_scale[r] * Q_scale[r]);
  }
  if (lane == 0) {
    ptx::store_shared(shared.statistics_of_tile(stage), largest_scale / kUp, largest_factor);
  }
  ptx::mbarrier_arrive(shared.q_full(stage));
}

}  // namespace flashlab::cuda
