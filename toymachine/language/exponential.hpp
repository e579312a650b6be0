// e^x for float and double, with equal results on every processor and at every vector width.
//
// x = k ln 2 + r with |r| <= ln 2 / 2, e^x = 2^k e^r. ln 2 is split in two so that r keeps its
// bits. e^r is Taylor's series to below a tenth of an ulp. 2^k is applied as two factors, so that
// subnormal results are right. There are only additions, multiplications and selections, so that a
// loop over it vectorises. The error is about 1 ulp (a test measures it). e^-inf is 0, results
// above the range are +inf, and NaN stays NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace flashlab::toy::detail {

/// Limits |x| to `largest` and keeps the sign. Works on the bits, because compilers turn two
/// comparisons with constants into jumps, and a loop with jumps does not vectorise.
template <class Real, class Bits>
Real clamp_magnitude(Real x, Real largest) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits bits = std::bit_cast<Bits>(x);
  const Bits magnitude = std::min<Bits>(bits & ~kSign, std::bit_cast<Bits>(largest));
  return std::bit_cast<Real>(magnitude | (bits & kSign));
}

inline float exponential(float x) {
  constexpr float kLargest = 120.0F;  // beyond this, the result is +inf or 0 anyway
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kLn2High = 0.693359375F;  // 9 bits: k * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23: adding it rounds to the nearest integer
  const float given = x;
  x = clamp_magnitude<float, std::uint32_t>(x, kLargest);
  const float shifted = x * kLog2E + kRounder;
  const float k = shifted - kRounder;
  const float r = (x - k * kLn2High) - k * kLn2Low;
  float q = 1.0F / 5040.0F;
  q = q * r + 1.0F / 720.0F;
  q = q * r + 1.0F / 120.0F;
  q = q * r + 1.0F / 24.0F;
  q = q * r + 1.0F / 6.0F;
  q = q * r + 0.5F;
  const float e = (q * r * r + r) + 1.0F;
  const auto exponent =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounder);
  const std::int32_t half = exponent >> 1;
  const auto power = [](std::int32_t p) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(p) + 127U) << 23);
  };
  const auto result = e * power(half) * power(exponent - half);
  return given == given ? result : given;
}

inline double exponential(double x) {
  constexpr double kLargest = 800.0;
  constexpr double kLog2E = 1.44269504088896340736;
  constexpr double kLn2High = 6.93145751953125e-1;  // 21 bits
  constexpr double kLn2Low = 1.42860682030941723212e-6;
  constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52
  const double given = x;
  x = clamp_magnitude<double, std::uint64_t>(x, kLargest);
  const double shifted = x * kLog2E + kRounder;
  const double k = shifted - kRounder;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double q = 1.0 / 6227020800.0;
  q = q * r + 1.0 / 479001600.0;
  q = q * r + 1.0 / 39916800.0;
  q = q * r + 1.0 / 3628800.0;
  q = q * r + 1.0 / 362880.0;
  q = q * r + 1.0 / 40320.0;
  q = q * r + 1.0 / 5040.0;
  q = q * r + 1.0 / 720.0;
  q = q * r + 1.0 / 120.0;
  q = q * r + 1.0 / 24.0;
  q = q * r + 1.0 / 6.0;
  q = q * r + 0.5;
  const double e = (q * r * r + r) + 1.0;
  const auto exponent =
      std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kRounder);
  const std::int64_t half = exponent >> 1;
  const auto power = [](std::int64_t p) {
    return std::bit_cast<double>((static_cast<std::uint64_t>(p) + 1023U) << 52);
  };
  const auto result = e * power(half) * power(exponent - half);
  return given == given ? result : given;
}

}  // namespace flashlab::toy::detail
