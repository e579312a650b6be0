// The softmax of a warp's rows, tile by tile, on sums in the layout of the tensor cores.
//
//   m' = max(m, rowmax S);  P = exp(S - m');  l = l exp(m - m') + rowsum P
//   O = O exp(m - m') + P V
//
// Everything is in powers of two: exp(scale (s - m)) = 2^(c (s - m)), c = scale log2(e), where m is the
// largest s. m may be an older one, by which c s is at most kLag too large. Then P is at most 2^kLag,
// which costs fp32 sums and 16-bit P no precision, and O is rarely rescaled. O / l is the same. O is right
// while seqlen_k 2^kLag max|V| is below 2^127. Beyond, sums of tensor cores may stop at the largest float, and O is wrong
// and finite.
//
// A multiply-add of s, c and -(c m) rounds c m before it subtracts. So the largest weight is not exactly 1,
// but 2^e with |e| <= 2^-24 |c m|. Up to kLargestProduct it is 1 in bf16 and fp16, and beyond, (s - m) c
// takes its place: its large parts cancel before anything is rounded.
//
// 16-bit P is rounded, and l is the sum before that. Where one weight is nearly all of l, its error is that of O, unless m
// is its score and it is 1. So O is divided by l + e at the end, with the error e of the largest weight.
#pragma once

#include <cuda_runtime.h>

#include "attention/tensor.hpp"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/exp2.cuh"

namespace flashlab::cuda {

inline constexpr float kLog2E = 1.44269504088896340736f, kLn2 = 0.693147180559945309417f;
/// For P in this type. Of scores with a standard deviation of 16, the largest of a row is seldom above that of its
/// first tile by 64. More would cost V, which may be up to 2^51 in 4096 keys.
template <class Element>
inline constexpr float kLag = 64;
template <>
inline constexpr float kLag<Float16> = 15;  // its largest number is just below 2^16
inline constexpr float kLargestProduct = 4096;

/// The largest score m of each row, as far as the thread knows it, and what weights subtract for it.
template <int kRows, class Element>
class RowMaxima {
 public:
  static constexpr float kLag = cuda::kLag<Element>;
  __device__ __forceinline__ RowMaxima() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) score_[i] = product_[i] = -INFINITY;  // no key is visible
  }
  __device__ __forceinline__ float score(int i) const { return score_[i]; }
  /// c m, rounded; NaN if it is beyond kLargestProduct.
  __device__ __forceinline__ float product(int i) const { return product_[i]; }
  __device__ __forceinline__ bool is_large(int i) const { return isnan(product_[i]); }
  /// False if m is large or -inf: nothing is left to subtract, or nothing was there.
  __device__ __forceinline__ bool subtracts_product(int i) const { return product_[i] > -INFINITY; }

  /// Whether `raise` may change m: true if c `largest` is above c m + kLag, or c m is large.
  __device__ __forceinline__ bool may_rise(int i, float largest, float c) const {
    return !(largest * c <= product_[i] + kLag);
  }
  /// m = largest, if that is above m by more than kLag / c. Returns the factor for sums, 2^(c (old m - m)).
  __device__ __forceinline__ float raise(int i, float largest, float c) {
    const float old = score_[i];
    if (!((largest - old) * c > kLag)) return 1;  // also if both are -inf
    const float product = largest * c;
    score_[i] = largest;
    product_[i] = fabsf(product) <= kLargestProduct ? product : NAN;
    return ptx::exp2_approximate((old - largest) * c);
  }

  /// The same unless m or `largest` is large. It reads c m alone, which is what weights subtracted.
  __device__ __forceinline__ float raise_product(int i, float largest, float c) {
    const float old = product_[i], product = largest * c;
    const bool rises = product > old + kLag;
    if (rises) score_[i] = largest;
    product_[i] = rises ? product : old;
    return rises ? ptx::exp2_approximate(old - product) : 1.F;
  }
  __device__ __forceinline__ bool needs_score(int i, float largest, float c) const {
    return is_large(i) || fabsf(largest * c) > kLargestProduct;
  }

  /// What rounding to Element adds to the weight of `largest`, the largest score that was seen.
  __device__ __forceinline__ float rounding_of(int i, float largest, float c) const {
    float exponent = fmaf(largest, c, -product_[i]);
    if (is_large(i)) exponent = (largest - score_[i]) * c;
    const float weight = ptx::exp2_approximate(exponent);
    const float error = ptx::to_float(ptx::from_float<Element>(weight)) - weight;
    return largest == -INFINITY ? 0 : error;
  }

  /// scale m + ln l. The same of a state and of what the state was made from, unless m is large.
  /// Lanes may have different rows i.
  __device__ __forceinline__ float log_sum(int i, float l, float scale) const {
    if (l == 0) return -INFINITY;
    const float ln_l = log2f(l) * kLn2;
    const float product = of_row(product_, i);
    if (isnan(product)) return fmaf(of_row(score_, i), scale, ln_l);
    // scale m = c m (scale / c), and the quotient's rest makes good that c and ln 2 are rounded.
    const float c = scale * kLog2E, quotient = scale / c;
    const float rest = __fdividef(fmaf(-quotient, c, scale), c);
    return fmaf(product, quotient, fmaf(product, rest, ln_l));
  }

  /// m of a state (attention/forward_state.hpp) to go on with. Returns the factor for sums: 1, unless m is
  /// large.
  __device__ __forceinline__ float go_on(int i, float m, float c) {
    score_[i] = __fdividef(m, c);
    const bool is_small = m == -INFINITY || fabsf(m) <= kLargestProduct;
    product_[i] = is_small ? m : NAN;
    return is_small ? 1.F : ptx::exp2_approximate(-fmaf(score_[i], c, -m));
  }
  /// The same m if it was not raised, and the same sums if it is not large.
  __device__ __forceinline__ float state(int i, float c, float& factor) const {
    factor = 1;
    if (!is_large(i)) return product_[i];
    const float m = score_[i] * c;
    factor = ptx::exp2_approximate(fmaf(score_[i], c, -m));
    return m;
  }

 private:
  /// values[i], but registers have no index that varies.
  template <class Value>
  static __device__ __forceinline__ float of_row(const Value (&values)[kRows], int i) {
    float result = values[0];
#pragma unroll
    for (int k = 1; k < kRows; ++k) {
      if (k == i) result = values[k];
    }
    return result;
  }

  float product_[kRows];
  // Read when m may rise and at the end. Volatile, so that it takes no register.
  volatile float score_[kRows];
};

/// The rows that one lane shares with three other lanes: two for each 16 x 8 tile of sums.
template <int kRowTiles, class Element>
struct RowStatistics {
  static constexpr bool kRounds = sizeof(Element) == 2;  // P

  RowMaxima<2 * kRowTiles, Element> maxima;  // of row 8 half of tile r: 2 r + half
  float sum[kRowTiles][2];                   // l, this lane's part
  float largest[kRowTiles][2];               // score that was seen, if P is rounded

  __device__ __forceinline__ RowStatistics() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      sum[r][0] = sum[r][1] = 0;
      largest[r][0] = largest[r][1] = -INFINITY;
    }
  }

  /// What rounding P adds to the largest weight of a row.
  __device__ __forceinline__ float error(int r, int half, float c) const {
    if constexpr (!kRounds) return 0;
    return maxima.rounding_of(2 * r + half, largest[r][half], c);
  }
};

/// The reductions over the four lanes that share a row.
__device__ __forceinline__ float row_maximum(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ __forceinline__ float row_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/// 1 / (l + e), e the error of the largest weight.
__device__ __forceinline__ float inverse_of(float l, float error) {
  return __fdividef(1, l + error);
}
/// The factor that makes e good in O of a state, l / (l + e); 1 if no key was seen.
__device__ __forceinline__ float without_error(float l, float error) {
  return error == 0 ? 1 : l * inverse_of(l, error);
}

/// Raises m if a row of S exceeds it by too much, and rescales l and O. scale_log2: c, positive.
template <class Element, int kRowTiles, int kKeyTiles, int kColumnTiles>
__device__ __forceinline__ void raise_maximum(RowStatistics<kRowTiles, Element>& rows,
                                              const float (&S)[kRowTiles][kKeyTiles][4],
                                              float scale_log2,
                                              float (&O)[kRowTiles][kColumnTiles][4]) {
  float largest[kRowTiles][2];
  bool may_rise = false;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float of_lane = fmaxf(S[r][0][2 * half], S[r][0][2 * half + 1]);
#pragma unroll
      for (int n = 1; n < kKeyTiles; ++n) {
        of_lane = fmaxf(of_lane, fmaxf(S[r][n][2 * half], S[r][n][2 * half + 1]));
      }
      largest[r][half] = row_maximum(of_lane);
      if constexpr (RowStatistics<kRowTiles, Element>::kRounds) {
        rows.largest[r][half] = fmaxf(rows.largest[r][half], largest[r][half]);
      }
      may_rise |= rows.maxima.may_rise(2 * r + half, largest[r][half], scale_log2);
    }
  }
  if (!__any_sync(0xffffffffu, may_rise)) return;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float rescale = rows.maxima.raise(2 * r + half, largest[r][half], scale_log2);
      rows.sum[r][half] *= rescale;
#pragma unroll
      for (int n = 0; n < kColumnTiles; ++n) {
        O[r][n][2 * half] *= rescale;
        O[r][n][2 * half + 1] *= rescale;
      }
    }
  }
}

/// What the exponents subtract: c m. Where that is large, S becomes S - m, so that its large part
/// is gone before anything is rounded, and nothing is left to subtract.
template <class Element, int kRowTiles, int kKeyTiles>
__device__ __forceinline__ void take_products(const RowStatistics<kRowTiles, Element>& rows,
                                              float (&S)[kRowTiles][kKeyTiles][4],
                                              float (&product)[kRowTiles][2]) {
  bool is_large = false;
#pragma unroll
  for (int i = 0; i < 2 * kRowTiles; ++i) {
    const float c_m = rows.maxima.product(i);
    product[i / 2][i % 2] = c_m == -INFINITY ? 0.f : c_m;  // -inf - -inf is NaN
    is_large |= rows.maxima.is_large(i);
  }
  if (!__any_sync(0xffffffffu, is_large)) return;
#pragma unroll
  for (int i = 0; i < 2 * kRowTiles; ++i) {
    if (!rows.maxima.is_large(i)) continue;
    const float m = rows.maxima.score(i);
    product[i / 2][i % 2] = 0;
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
      S[i / 2][n][2 * (i % 2)] -= m;
      S[i / 2][n][2 * (i % 2) + 1] -= m;
    }
  }
}

/// Replaces S by P and adds to l.
template <class Element, int kRowTiles, int kKeyTiles>
__device__ __forceinline__ void exponentiate(RowStatistics<kRowTiles, Element>& rows,
                                             float (&S)[kRowTiles][kKeyTiles][4],
                                             float scale_log2) {
  float product[kRowTiles][2];
  take_products(rows, S, product);
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          S[r][n][e] = ptx::exp2_approximate(fmaf(S[r][n][e], scale_log2, -product[r][half]));
          rows.sum[r][half] += S[r][n][e];
        }
      }
    }
  }
}

}  // namespace flashlab::cuda
