// 2^x on whole vectors. Softmax needs no other exponential if the scores include log2(e).
#pragma once

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "attention_cpu/detail/vector.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

inline constexpr double kLog2E = 1.44269504088896340736, kLn2 = 0.69314718055994530942;

/// Coefficients of r, r^2, … of the best polynomial for 2^r on [-1/2, 1/2] in relative error, with
/// constant term 1 (Remez). Error before rounding: at most 2.0e-9 (float) and 3.4e-18 (double).
template <class Element>
inline constexpr Element kExp2Coefficients[] = {0};
template <>
inline constexpr float kExp2Coefficients<float>[] = {
    0.693147202854949534f,   0.240226479136251754f,   0.0555033247132148801f,
    0.00961843735904423085f, 0.00133988743569999892f, 0.000153533614351811467f};
template <>
inline constexpr double kExp2Coefficients<double>[] = {
    0.693147180559945326,     0.240226506959101313,   0.0555041086648200831,
    0.00961812910759412062,   0.00133335581467746513, 0.000154035304571113747,
    0.0000152527334930935225, 1.32154352826754943e-6, 1.01781995873989501e-7,
    7.07378318529506991e-9,   4.43476880082251985e-10};

/// 2^r for r in [-1/2, 1/2].
template <class Element>
inline Vector<Element> exp2_of_fraction(Vector<Element> r) {
  constexpr auto& kCoefficients = kExp2Coefficients<Element>;
  constexpr int kCount = sizeof(kCoefficients) / sizeof(Element);
  Vector<Element> power = broadcast(kCoefficients[kCount - 1]);
#pragma GCC unroll 16
  for (int k = kCount - 2; k >= 0; --k) power = power * r + kCoefficients[k];
  return power * r + broadcast<Element>(1);
}

/// Returns power 2^n. `shifted` is the integer n plus a shifter; its last bits
/// contain the exponent.
template <class Element>
inline Vector<Element> scale_by_exponent(Vector<Element> power, Vector<Element> shifted) {
  Integers<Element> exponent;
  __builtin_memcpy(&exponent, &shifted, sizeof(exponent));
  exponent <<= FloatingPoint<Element>::kMantissaBits;
  Vector<Element> scale;
  __builtin_memcpy(&scale, &exponent, sizeof(scale));
  return power * scale;
}

/// Returns 2^x with an error of about 1 unit in the last place; 0 below the smallest normal number
/// (so 2^-inf = 0), infinity above the largest, NaN for NaN.
template <class Element>
inline Vector<Element> exp2(Vector<Element> x) {
  using Format = FloatingPoint<Element>;
  // Both comparisons are false for NaN, so NaN stays.
  const Vector<Element> lowest = broadcast<Element>(-Format::kExponentBias);
  const Vector<Element> highest = broadcast<Element>(Format::kExponentBias + 1);
  x = x < lowest ? lowest : x;
  x = x > highest ? highest : x;
  // The last bits of the sum contain the nearest integer to x plus the exponent bias.
  const Vector<Element> shifter = broadcast<Element>(
      static_cast<Element>(std::int64_t{3} << (Format::kMantissaBits - 1)) + Format::kExponentBias);
  const Vector<Element> shifted = x + shifter;
  return scale_by_exponent<Element>(exp2_of_fraction<Element>(x - (shifted - shifter)), shifted);
}

#if defined(__AVX512F__)
/// Does the same with fewer instructions: one instruction scales by 2^n for any
/// n, including underflow.
template <>
inline Vector<float> exp2<float>(Vector<float> x) {
  x = x < broadcast(-126.0f) ? broadcast(-200.0f) : x;  // avoids subnormals, which are slow
  const Vector<float> shifter = broadcast(0x1.8p23f);
  const Vector<float> n = (x + shifter) - shifter;
  return _mm512_scalef_ps(exp2_of_fraction<float>(x - n), n);
}
#endif

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
