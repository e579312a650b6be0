// Conversions of the 16-bit formats and tf32 with the GPU's results.
#pragma once

#include <bit>
#include <cstdint>

#include "attention/tensor.hpp"

namespace flashlab::cuda::emulation {

inline float to_float(float value) { return value; }

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Exponent and fraction in a float's places are the value times 2^-112, also for subnormals.
inline float to_float(Float16 value) {
  const std::uint32_t bits = value.bits, sign = (bits & 0x8000u) << 16;
  const std::uint32_t moved = (bits & 0x7FFFu) << 13;
  const bool is_finite = (bits & 0x7C00u) != 0x7C00u;
  const std::uint32_t magnitude =
      is_finite ? std::bit_cast<std::uint32_t>(std::bit_cast<float>(moved) * 0x1p112f)
                : moved | 0x7F800000u;
  return std::bit_cast<float>(sign | magnitude);
}

/// Removes the lowest `count` bits, rounding to nearest, ties to even. A carry
/// increments the exponent.
inline std::uint32_t round_off(std::uint32_t bits, int count) {
  const std::uint32_t below_half = (1u << (count - 1)) - 1;
  return (bits + below_half + (bits >> count & 1u)) >> count;
}

inline BFloat16 round_to(BFloat16, float value) {
  if (value != value) return {0x7FFF};
  return {static_cast<std::uint16_t>(round_off(std::bit_cast<std::uint32_t>(value), 16))};
}

inline Float16 round_to(Float16, float value) {
  if (value != value) return {0x7FFF};
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  constexpr std::uint32_t kTwoTo16 = 143u << 23, kSmallestNormal = 113u << 23;
  std::uint32_t rounded;
  if (magnitude >= kTwoTo16) {
    rounded = 0x7C00u;
  } else if (magnitude >= kSmallestNormal) {  // changes the exponent's bias from 127 to 15
    rounded = round_off(magnitude - (112u << 23), 13);
  } else {
    // In a sum with 1/2 the last place is 2^-24, the unit of subnormals: the addition rounds.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    rounded = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f);
  }
  return {static_cast<std::uint16_t>(sign | rounded)};
}

/// tf32 is the upper 19 bits; ties round away from zero.
inline std::uint32_t round_to_tf32(float value) {
  if (value != value) return 0x7FFFFFFFu;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_infinite = (bits & 0x7FFFFFFFu) == 0x7F800000u;
  return is_infinite ? bits : (bits + 0x1000u) & ~0x1FFFu;
}

}  // namespace flashlab::cuda::emulation
