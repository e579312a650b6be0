#include "attention_cpu/detail/half.hpp"

#include <bit>

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

BFloat16 to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

float to_float(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  // As a float whose exponent is 112 too small; the product is exact, subnormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

Float16 to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const auto with_sign = [&](std::uint32_t half) {
    return Float16{static_cast<std::uint16_t>(sign | half)};
  };
  if (magnitude > 0x7f800000u) return with_sign(0x7e00);
  if (magnitude >= 0x477ff000u) return with_sign(0x7c00);  // rounds to 65536 or more
  if (magnitude < 0x38800000u) {                           // subnormal: units of 2^-24
    // Adding 0.5 leaves the last bit of the sum worth 2^-24, rounded to nearest even.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return with_sign(std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f));
  }
  const std::uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return with_sign((rounded - 0x38000000u) >> 13);
}

template <class Stored>
void load(const void* from, std::int64_t stride, std::int64_t count, float* to) {
  const Stored* const elements = static_cast<const Stored*>(from);
  for (std::int64_t k = 0; k < count; ++k) to[k] = to_float(elements[k * stride]);
}

}  // namespace

void load_floats(const void* from, DataType dtype, std::int64_t stride, std::int64_t count,
                 float* to) {
  switch (dtype) {
    case DataType::kBFloat16:
      return load<BFloat16>(from, stride, count, to);
    case DataType::kFloat16:
      return load<Float16>(from, stride, count, to);
    case DataType::kFloat32:
    case DataType::kFloat64:
      break;
  }
  const float* const elements = static_cast<const float*>(from);
  for (std::int64_t k = 0; k < count; ++k) to[k] = elements[k * stride];
}

void store_floats(const float* from, std::int64_t count, void* to, DataType dtype,
                  std::int64_t stride) {
  if (dtype == DataType::kBFloat16) {
    BFloat16* const elements = static_cast<BFloat16*>(to);
    for (std::int64_t k = 0; k < count; ++k) elements[k * stride] = to_bf16(from[k]);
  } else if (dtype == DataType::kFloat16) {
    Float16* const elements = static_cast<Float16*>(to);
    for (std::int64_t k = 0; k < count; ++k) elements[k * stride] = to_fp16(from[k]);
  } else {
    float* const elements = static_cast<float*>(to);
    for (std::int64_t k = 0; k < count; ++k) elements[k * stride] = from[k];
  }
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
