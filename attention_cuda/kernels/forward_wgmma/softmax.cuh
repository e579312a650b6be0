// Softmax in flash2_wgmma_sm90: S becomes P, and M and l follow.
#pragma once

#include <cstdint>

#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/kernels/forward_wgmma/loading.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"

namespace flashlab::cuda {

/// How large the weights of a thread in one row of S may become, in sum, before M is raised. So P
/// fits fp16, whose largest number is 65504.
inline constexpr float kLargestSum = 4096;

/// A thread's part of 64 queries and a tile of keys: two rows, 8 apart, in the layout of wgmma's sums.
template <class Config>
class WgmmaSoftmax {
 protected:
  __device__ explicit WgmmaSoftmax(const WgmmaArguments& arguments) : arguments_(arguments) {}

  /// c must be positive, so that the largest score has the largest product.
  __device__ void scale_scores() {
    if (arguments_.factor == 1) return;
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) S_[i] *= arguments_.factor;
  }

  /// Raises m if a row of S exceeds it by too much. Computes the factor for O and rescales l.
  __device__ void raise_maximum() {
    const float c = arguments_.scale_log2;
    float largest[2];
    bool may_rise = false;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float of_thread = fmaxf(S_[2 * r], S_[2 * r + 1]);
#pragma unroll
      for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
        of_thread = fmaxf(of_thread, fmaxf(S_[i], S_[i + 1]));
      }
      largest[r] = row_maximum(of_thread);
      may_rise |= maxima_.may_rise(r, largest[r], c);
    }
    if (!__any_sync(~0U, may_rise)) return;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rescale_[r] = maxima_.raise(r, largest[r], c);
      row_sum_[r] *= rescale_[r];
    }
    is_raised_ = true;
  }

  /// Replaces S by P and adds to l, per thread until the end.
  __device__ void exponentiate() {
    const float c = arguments_.scale_log2;
    float product[2];  // as take_products does
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      product[r] = maxima_.product(r) == -INFINITY ? 0.F : maxima_.product(r);  // no -inf - -inf
    }
    if (__any_sync(~0U, maxima_.is_large(0) || maxima_.is_large(1))) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        if (!maxima_.is_large(r)) continue;
        const float m = maxima_.score(r);
        product[r] = 0;
#pragma unroll
        for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
          S_[i] -= m;
          S_[i + 1] -= m;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
        S_[i] = ptx::exp2_approximate(fmaf(S_[i], c, -product[r]));
        S_[i + 1] = ptx::exp2_approximate(fmaf(S_[i + 1], c, -product[r]));
        row_sum_[r] += S_[i] + S_[i + 1];
      }
    }
  }

  /// The same with m as it is, which is probably large enough. Returns false, with S lost and l
  /// unchanged, if a weight is too large for P in any row of the warpgroup. The sum of a thread's
  /// weights shows it, because it is large, infinite or NaN. So it is while a row has seen no key, where
  /// c m is -inf, and if c m is large. `barrier`: a named one of the warpgroup.
  __device__ bool exponentiate_if_M_holds(int barrier) {
    const float c = arguments_.scale_log2;
    float sum[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      const int r = i / 2 % 2;
      S_[i] = ptx::exp2_approximate(fmaf(S_[i], c, -maxima_.product(r)));
      sum[r] += S_[i];
    }
    const bool holds = sum[0] <= kLargestSum && sum[1] <= kLargestSum;
    if (ptx::barrier_any(barrier, kWarpgroup, !holds)) return false;
    row_sum_[0] += sum[0];
    row_sum_[1] += sum[1];
    return true;
  }

  /// An accumulator has the layout of A, with two columns per register.
  __device__ void store_P() {
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 4; ++i) {
      P_[i / 4][i % 4] = ptx::pack(typename Config::Element{}, S_[2 * i], S_[2 * i + 1]);
    }
  }

  const WgmmaArguments& arguments_;
  float S_[Config::kBlockKV / 2];
  std::uint32_t P_[Config::kBlockKV / 16][4];
  RowMaxima<2> maxima_;
  float row_sum_[2] = {0, 0}, rescale_[2] = {0, 0};
  bool is_raised_ = false;  // O must be multiplied by rescale_
};

}  // namespace flashlab::cuda
