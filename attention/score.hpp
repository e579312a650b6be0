// The score function: what softmax_scale q . k becomes before the softmax.
//
// All forward variants ask it, on CPUs and GPUs, so another function is an edit of this file.
// Backward variants do not yet: they need its derivative, too.
#pragma once

#include <cstdint>

// Always inlined: CPU variants are compiled for several instruction sets, and none may run another
// one's code.
#ifdef __CUDACC__
#define FLASHLAB_EVERYWHERE __host__ __device__ __forceinline__
#else
#define FLASHLAB_EVERYWHERE [[gnu::always_inline]] inline
#endif

namespace flashlab {

/// Weights are the softmax of `of(softmax_scale Q K^T)` over the visible keys. Hidden scores become
/// -inf afterwards.
struct ScoreFunction {
  static constexpr bool kIsIdentity = true;  // then nothing is computed

  template <class Real>
  FLASHLAB_EVERYWHERE static Real of(Real s) {
    return s;
  }
};

/// The score where scores have another unit: `value` is `unit` softmax_scale q . k, and the function's
/// value is returned in that unit, too. Units are 1, log2(e) for weights 2^score, and
/// 1 / softmax_scale for products.
template <class Real>
FLASHLAB_EVERYWHERE Real score_of(Real value, Real unit = 1) {
  if constexpr (ScoreFunction::kIsIdentity) {
    return value;
  } else {
    return unit * ScoreFunction::of(value / unit);
  }
}

/// The same of `count` values, in place.
template <class Real>
FLASHLAB_EVERYWHERE void make_scores(Real* values, std::int64_t count, Real unit = 1) {
  if constexpr (!ScoreFunction::kIsIdentity) {
    for (std::int64_t k = 0; k < count; ++k) values[k] = score_of(values[k], unit);
  }
}

}  // namespace flashlab
