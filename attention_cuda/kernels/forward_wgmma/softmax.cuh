// Softmax in flash2_wgmma_sm90: S becomes P, and M and l follow.
#pragma once

#include <cstdint>

#include "attention/score.hpp"
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

  /// The score function. c must be positive, so that the largest score has the largest product.
  __device__ void scale_scores() {
    if (arguments_.factor != 1) {
#pragma unroll
      for (int i = 0; i < Config::kBlockKV / 2; ++i) S_[i] *= arguments_.factor;
    }
    make_scores(S_, Config::kBlockKV / 2, 1 / arguments_.scale);
  }

  /// Raises m if a row of S exceeds it by too much; computes the factor for O and rescales l. Then replaces S
  /// by P and adds to l, per thread until the end.
  __device__ void exponentiate() {
    const float c = arguments_.scale_log2;
    find_largest();
    if (__any_sync(~0U,
                   maxima_.may_rise(0, largest_[0], c) || maxima_.may_rise(1, largest_[1], c))) {
      raise_maximum();
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
  /// Score k of the thread's row r.
  __device__ float score(int r, int k) const { return S_[4 * (k / 2) + 2 * r + k % 2]; }
  __device__ int bits(int r, int k) const { return __float_as_int(score(r, k)); }
  static constexpr int kScores = Config::kBlockKV / 4;  // in a row of the thread

  /// Adds the tile's scores to largest_.
  __device__ void find_largest() {
    if constexpr (Config::kComparesThree) {
      const bool has_positive = (__float_as_int(largest_[0]) | __float_as_int(largest_[1])) >= 0;
      if (__all_sync(~0U, has_positive)) {
        find_largest_positive();
        return;
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // Two chains, as each comparison waits for the one before.
      float even = largest_[r], odd = score(r, 1);
#pragma unroll
      for (int k = 0; k < kScores; k += 2) {
        even = fmaxf(even, score(r, k));
        if (k > 0) odd = fmaxf(odd, score(r, k + 1));
      }
      largest_[r] = fmaxf(even, odd);
    }
  }

  /// Positive floats are in the order of their bits as integers, and above all negative ones; the
  /// largest of three integers is one instruction. Of negative ones alone it would find the smallest,
  /// but largest_ is not negative.
  __device__ void find_largest_positive() {
    static_assert(kScores % 4 == 0);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int one = __float_as_int(largest_[r]), other = bits(r, 0);
#pragma unroll
      for (int k = 1; k < kScores - 3; k += 4) {
        one = __vimax3_s32(one, bits(r, k), bits(r, k + 1));
        other = __vimax3_s32(other, bits(r, k + 2), bits(r, k + 3));
      }
      one = __vimax3_s32(one, bits(r, kScores - 3), bits(r, kScores - 2));
      largest_[r] = __int_as_float(__vimax3_s32(one, other, bits(r, kScores - 1)));
    }
  }

  /// If a row of S may exceed m by too much, or m is large.
  __device__ void raise_maximum() {
    const float c = arguments_.scale_log2;
    largest_[0] = row_maximum(largest_[0]);
    largest_[1] = row_maximum(largest_[1]);
    if (__any_sync(~0U, maxima_.needs_score(0, largest_[0], c) ||
                            maxima_.needs_score(1, largest_[1], c))) {
      raise_large();
    } else {
      rescale_[0] = maxima_.raise_product(0, largest_[0], c);
      rescale_[1] = maxima_.raise_product(1, largest_[1], c);
    }
    row_sum_[0] *= rescale_[0];
    row_sum_[1] *= rescale_[1];
    is_raised_ = true;
  }
  /// Where c m is large, S becomes S - m (device/online_softmax.cuh).
  __device__ void raise_large() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rescale_[r] = maxima_.raise(r, largest_[r], arguments_.scale_log2);
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
  RowMaxima<2, typename Config::Element> maxima_;
  float largest_[2] = {-INFINITY, -INFINITY};  // score that this thread has seen in each row
  float row_sum_[2] = {0, 0}, rescale_[2] = {0, 0};
  bool is_raised_ = false;  // O must be multiplied by rescale_
};

}  // namespace flashlab::cuda
