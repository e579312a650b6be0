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
    float raised[2];
    bool is_raised = false;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = -INFINITY;
#pragma unroll
      for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
        largest = fmaxf(largest, fmaxf(S_[i], S_[i + 1]));
      }
      largest = row_maximum(largest);
      raised[r] = (largest - row_max_[r]) * c > kLag ? largest : row_max_[r];
      is_raised |= raised[r] != row_max_[r];
    }
    if (!__any_sync(~0U, is_raised)) return;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rescale_[r] =
          raised[r] == row_max_[r] ? 1.F : ptx::exp2_approximate((row_max_[r] - raised[r]) * c);
      row_max_[r] = raised[r];
      row_sum_[r] *= rescale_[r];
    }
    is_raised_ = true;
  }

  /// Replaces S by P and adds to l, per thread until the end.
  __device__ void exponentiate() {
    const float c = arguments_.scale_log2;
    float m[2], product[2];
    bool is_large = false;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      m[r] = row_max_[r] == -INFINITY ? 0.F : row_max_[r];  // -inf - -inf is NaN
      product[r] = m[r] * c;
      is_large |= fabsf(product[r]) > kLargestProduct;
    }
    if (__any_sync(~0U, is_large)) {  // the large parts cancel before anything is rounded
#pragma unroll
      for (int i = 0; i < Config::kBlockKV / 2; ++i) S_[i] -= m[i / 2 % 2];
      product[0] = product[1] = 0;
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
  /// weights shows it, because it is large, infinite or NaN. So it is while a row has seen no key: m is
  /// -inf there. Also if c m is too large. `barrier`: a named one of the warpgroup.
  __device__ bool exponentiate_if_M_holds(int barrier) {
    const float c = arguments_.scale_log2;
    float sum[2] = {0, 0};
    const float product[2] = {row_max_[0] * c, row_max_[1] * c};
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      const int r = i / 2 % 2;
      S_[i] = ptx::exp2_approximate(fmaf(S_[i], c, -product[r]));
      sum[r] += S_[i];
    }
    const bool holds = sum[0] <= kLargestSum && sum[1] <= kLargestSum &&
                       fmaxf(fabsf(product[0]), fabsf(product[1])) <= kLargestProduct;
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
  float row_max_[2] = {-INFINITY, -INFINITY};  // m
  float row_sum_[2] = {0, 0}, rescale_[2] = {0, 0};
  bool is_raised_ = false;  // O must be multiplied by rescale_
};

}  // namespace flashlab::cuda
