// Attention of one warp to a K/V tile on tensor cores: S = Q K^T, hidden keys, O += P V. S, P and O
// stay in registers. The softmax between the products is in device/online_softmax.cuh.
//
// A kernel's Config derives from WarpAttentionConfig, which gives the shapes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention/score.hpp"
#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/device/shared_tile.cuh"
#include "attention_cuda/device/tensor_core.cuh"

namespace flashlab::cuda {

/// 16 kRowTiles queries of a warp, and kBlockKV keys at a time.
template <class UnitType, int kHeadDimension, int kRowTilesAWarp, int kKeys, bool kKeepsQueries>
struct WarpAttentionConfig {
  using Unit = UnitType;
  using Element = typename Unit::Element;
  static constexpr int kHeadDim = kHeadDimension;
  static constexpr int kRowTiles = kRowTilesAWarp, kWarpRows = 16 * kRowTiles;
  static constexpr int kBlockKV = kKeys;
  static constexpr bool kQInRegisters = kKeepsQueries;  // otherwise loaded again for each K/V tile
  static constexpr int kKeyTiles = kBlockKV / 8, kColumnTiles = kHeadDim / 8;
  static constexpr int kDepthSteps = kHeadDim / Unit::kDepth, kKeySteps = kBlockKV / Unit::kDepth;
  using WarpQTile = SharedTile<Element, kWarpRows, kHeadDim>;  // the rows of one warp
  using KVTile = SharedTile<Element, kBlockKV, kHeadDim>;
  static_assert(kBlockKV % 16 == 0 && kHeadDim % 16 == 0);
};

namespace warp_attention {

template <class Config>
using BColumns = typename Config::Unit::template BColumns<typename Config::KVTile>;

template <class Config>
struct Fragments {
  using A = typename Config::Unit::A;
  A Q[Config::kQInRegisters ? Config::kDepthSteps : 1][Config::kRowTiles];
  float S[Config::kRowTiles][Config::kKeyTiles][4];     // [kWarpRows, kBlockKV]
  float O[Config::kRowTiles][Config::kColumnTiles][4];  // [kWarpRows, kHeadDim]
};

template <int kA, int kB>
__device__ __forceinline__ void clear(float (&sums)[kA][kB][4]) {
#pragma unroll
  for (int r = 0; r < kA; ++r) {
#pragma unroll
    for (int n = 0; n < kB; ++n) sums[r][n][0] = sums[r][n][1] = sums[r][n][2] = sums[r][n][3] = 0;
  }
}

/// The factor c of the scores must be positive, so that the largest score has the largest product.
/// So the sign of a negative scale, or a 0, is multiplied into the warp's rows of Q.
template <class Config>
__device__ void take_sign_into_queries(const typename Config::WarpQTile& sQ, float softmax_scale) {
  if (softmax_scale > 0) return;
  using Element = typename Config::Element;
  const float sign = softmax_scale < 0 ? -1.f : 0.f;
  for (int k = lane_id(); k < Config::kWarpRows * Config::kHeadDim; k += 32) {
    Element* const q = sQ.at(k / Config::kHeadDim, k % Config::kHeadDim);
    *q = ptx::from_float<Element>(sign * ptx::to_float(*q));
  }
  __syncwarp();
}

template <class Config>
__device__ __forceinline__ void load_queries(typename Config::Unit::A (&a)[Config::kRowTiles],
                                             const ARows<typename Config::WarpQTile>& sQ,
                                             int depth_step) {
#pragma unroll
  for (int r = 0; r < Config::kRowTiles; ++r) {
    Config::Unit::load(a[r], sQ, 16 * r, depth_step * Config::Unit::kDepth);
  }
}

/// S = Q K^T.
template <class Config>
__device__ __forceinline__ void scores(Fragments<Config>& fragments,
                                       const ARows<typename Config::WarpQTile>& sQ,
                                       const BRows<typename Config::KVTile>& sK) {
  using Unit = typename Config::Unit;
  clear(fragments.S);
  // Not fully unrolled if values are in two parts: with all steps started, they would exceed the
  // registers.
  [[maybe_unused]] constexpr bool kIsLong = Unit::kSplitsValues && Config::kDepthSteps > 8;
  [[maybe_unused]] constexpr int kUnrolled =
      kIsLong && !Config::kQInRegisters ? 2 : Config::kDepthSteps;
#pragma unroll kUnrolled
  for (int k = 0; k < Config::kDepthSteps; ++k) {
    if constexpr (!Config::kQInRegisters) load_queries<Config>(fragments.Q[0], sQ, k);
    const auto& Q = fragments.Q[Config::kQInRegisters ? k : 0];
#pragma unroll
    for (int n = 0; n < Config::kKeyTiles; n += 2) {
      typename Unit::B b[2];
      Unit::load(b, sK, 8 * n, k * Unit::kDepth);
#pragma unroll
      for (int r = 0; r < Config::kRowTiles; ++r) {
        Unit::multiply_add(fragments.S[r][n], Q[r], b[0]);
        Unit::multiply_add(fragments.S[r][n + 1], Q[r], b[1]);
      }
    }
  }
}

/// The score function of S. `scale_log2`: softmax_scale log2(e), positive, as Q has the sign.
template <class Config>
__device__ __forceinline__ void make_scores(Fragments<Config>& fragments, float scale_log2) {
#pragma unroll
  for (int r = 0; r < Config::kRowTiles; ++r) {
    flashlab::make_scores(fragments.S[r][0], 4 * Config::kKeyTiles, kLog2E / scale_log2);
  }
}

/// Sets the scores of keys from `limit` on to -inf, in the row `half` (0 or 1) of this lane in row
/// tile r. limit counts from the tile's first key.
template <class Config>
__device__ __forceinline__ void hide_from(Fragments<Config>& fragments, int r, int half,
                                          int limit) {
  const int lane_limit = limit - lane_id() % 4 * 2;
#pragma unroll
  for (int n = 0; n < Config::kKeyTiles; ++n) {
    if (8 * n >= lane_limit) fragments.S[r][n][2 * half] = -INFINITY;
    if (8 * n + 1 >= lane_limit) fragments.S[r][n][2 * half + 1] = -INFINITY;
  }
}

/// Sets the scores of keys before `limit` to -inf, as hide_from().
template <class Config>
__device__ __forceinline__ void hide_before(Fragments<Config>& fragments, int r, int half,
                                            int limit) {
  const int lane_limit = limit - lane_id() % 4 * 2;
#pragma unroll
  for (int n = 0; n < Config::kKeyTiles; ++n) {
    if (8 * n < lane_limit) fragments.S[r][n][2 * half] = -INFINITY;
    if (8 * n + 1 < lane_limit) fragments.S[r][n][2 * half + 1] = -INFINITY;
  }
}

/// O += P V.
template <class Config>
__device__ __forceinline__ void add_values(Fragments<Config>& fragments,
                                           const BColumns<Config>& sV) {
  using Unit = typename Config::Unit;
#pragma unroll
  for (int k = 0; k < Config::kKeySteps; ++k) {
    typename Unit::A P[Config::kRowTiles];
#pragma unroll
    for (int r = 0; r < Config::kRowTiles; ++r) {
      Unit::a_of_sums(P[r], &fragments.S[r][k * Unit::kSumTiles]);
    }
#pragma unroll
    for (int n = 0; n < Config::kColumnTiles; n += 2) {
      typename Unit::B b[2];
      Unit::load(b, sV, 8 * n, k * Unit::kDepth);
#pragma unroll
      for (int r = 0; r < Config::kRowTiles; ++r) {
        Unit::multiply_add(fragments.O[r][n], P[r], b[0]);
        Unit::multiply_add(fragments.O[r][n + 1], P[r], b[1]);
      }
    }
  }
}

}  // namespace warp_attention

}  // namespace flashlab::cuda
