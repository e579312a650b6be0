// The 16-bit formats by their definition: sign, biased exponent, fraction. Slow and independent of
// the library's bit tricks.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace flashlab::test {

struct HalfFormat {
  int exponent_bits, fraction_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int special_exponent() const { return (1 << exponent_bits) - 1; }
};

inline constexpr HalfFormat kBFloat16Format{8, 7}, kFloat16Format{5, 10};

/// What 16 bits stand for.
inline double value_of(std::uint16_t bits, const HalfFormat& format) {
  const int exponent = bits >> format.fraction_bits & format.special_exponent();
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  double magnitude;
  if (exponent == format.special_exponent()) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - format.bias() - format.fraction_bits);
  } else {
    magnitude = std::ldexp((1 << format.fraction_bits) + fraction,
                           exponent - format.bias() - format.fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The bits of the nearest value, ties to even; what is beyond the largest by half a unit or more
/// becomes infinity. NaN becomes some NaN.
inline std::uint16_t nearest(double x, const HalfFormat& format) {
  const int fraction_bits = format.fraction_bits, infinity = format.special_exponent()
                                                             << fraction_bits;
  const int sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | infinity | 1 << (fraction_bits - 1));
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | infinity);
  const int lowest = 1 - format.bias();
  const int exponent = x == 0 ? lowest : std::max(std::ilogb(x), lowest);
  // In units of the last place; the processor's nearbyint goes to the nearest, ties to even.
  const int units =
      static_cast<int>(std::nearbyint(std::ldexp(std::fabs(x), fraction_bits - exponent)));
  if (exponent > format.bias()) return static_cast<std::uint16_t>(sign | infinity);
  // A subnormal has units below 2^fraction_bits and the exponent field 0; a carry moves it up.
  const int magnitude = ((exponent - lowest) << fraction_bits) + units;
  return static_cast<std::uint16_t>(sign | (magnitude < infinity ? magnitude : infinity));
}

}  // namespace flashlab::test
