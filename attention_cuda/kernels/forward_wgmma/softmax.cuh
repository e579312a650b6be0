// Softmax in flash2_wgmma_sm90: S becomes P, and M and l follow.
#pragma once

#include <cstdint>

#include "attention_cuda/device/online_softmax.cuh"
#include "attention_cuda/kernels/forward_wgmma/loading.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"

namespace flashlab::cuda {

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

  /// Raises m if a row of S exceeds it by too much; computes the factor for O and rescales l. Then replaces S
  /// by P and adds to l, per thread until the end.
  __device__ void exponentiate() {
    const float c = arguments_.scale_log2;
    float largest[2];  // of this thread
    find_largest(largest);
    if (__any_sync(~0U, maxima_.may_rise(0, largest[0], c) || maxima_.may_rise(1, largest[1], c))) {
      raise_maximum(largest);
    }
    // No -inf - -inf. Where c m is large, raise_maximum has subtracted m.
    const float product[2] = {maxima_.subtracts_product(0) ? maxima_.product(0) : 0.F,
                              maxima_.subtracts_product(1) ? maxima_.product(1) : 0.F};
    float sum[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      const int r = i / 2 % 2;
      S_[i] = ptx::exp2_approximate(fmaf(S_[i], c, -product[r]));
      sum[r] += S_[i];
    }
    row_sum_[0] += sum[0];
    row_sum_[1] += sum[1];
  }

  /// An accumulator has the layout of A, with two columns per register.
  __device__ void store_P() {
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 4; ++i) {
      P_[i / 4][i % 4] = ptx::pack(typename Config::Element{}, S_[2 * i], S_[2 * i + 1]);
    }
  }

 private:
  /// The largest score of this thread in each of its rows, if that is above m. Else any of its scores.
  __device__ void find_largest(float (&largest)[2]) const {
    const bool may_be_negative = maxima_.product(0) < -kLag || maxima_.product(1) < -kLag ||
                                 maxima_.is_large(0) || maxima_.is_large(1);
    if (Config::kComparesThree && !__any_sync(~0U, may_be_negative)) {
      find_largest_positive(largest);
      return;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // Two chains, as each comparison waits for the one before.
      float even = S_[2 * r], odd = S_[2 * r + 1];
#pragma unroll
      for (int i = 2 * r + 4; i < Config::kBlockKV / 2; i += 4) {
        even = fmaxf(even, S_[i]);
        odd = fmaxf(odd, S_[i + 1]);
      }
      largest[r] = fmaxf(even, odd);
    }
  }

  /// Positive floats are in the order of their bits as integers, and above all negative ones; the largest
  /// of three integers is one instruction. Among negative ones alone it finds the smallest.
  __device__ void find_largest_positive(float (&largest)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int even = __float_as_int(S_[2 * r]), odd = __float_as_int(S_[2 * r + 1]);
#pragma unroll
      for (int i = 2 * r + 4; i < Config::kBlockKV / 2; i += 8) {
        if (i + 4 < Config::kBlockKV / 2) {
          even = __vimax3_s32(even, __float_as_int(S_[i]), __float_as_int(S_[i + 4]));
          odd = __vimax3_s32(odd, __float_as_int(S_[i + 1]), __float_as_int(S_[i + 5]));
        } else {
          even = __vimax3_s32(even, __float_as_int(S_[i]), __float_as_int(S_[i + 1]));
        }
      }
      largest[r] = __int_as_float(max(even, odd));
    }
  }

  /// If a row of S may exceed m by too much, or m is large.
  __device__ void raise_maximum(float (&largest)[2]) {
    const float c = arguments_.scale_log2;
    largest[0] = row_maximum(largest[0]);
    largest[1] = row_maximum(largest[1]);
    if (__any_sync(
            ~0U, maxima_.needs_score(0, largest[0], c) || maxima_.needs_score(1, largest[1], c))) {
      raise_large(largest);
    } else {
      rescale_[0] = maxima_.raise_product(0, largest[0], c);
      rescale_[1] = maxima_.raise_product(1, largest[1], c);
    }
    row_sum_[0] *= rescale_[0];
    row_sum_[1] *= rescale_[1];
    is_raised_ = true;
  }
  /// Where c m is large, S becomes S - m (device/online_softmax.cuh).
  __device__ void raise_large(const float (&largest)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rescale_[r] = maxima_.raise(r, largest[r], arguments_.scale_log2);
      if (!maxima_.is_large(r)) continue;
      const float m = maxima_.score(r);
#pragma unroll
      for (int i = 2 * r; i < Config::kBlockKV / 2; i += 4) {
        S_[i] -= m;
        S_[i + 1] -= m;
      }
    }
  }

 protected:
  const WgmmaArguments& arguments_;
  float S_[Config::kBlockKV / 2];
  std::uint32_t P_[Config::kBlockKV / 16][4];
  RowMaxima<2> maxima_;
  float row_sum_[2] = {0, 0}, rescale_[2] = {0, 0};
  bool is_raised_ = false;  // O must be multiplied by rescale_
};

}  // namespace flashlab::cuda
