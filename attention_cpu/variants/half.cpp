// Converts 16-bit floats to float and back, in vectors if they are contiguous.
//
// fp16  uses the processor's conversions if the build has them (F16C, AVX-512), otherwise integer
//       operations with the same bits; NaN becomes quiet and keeps what fits of its payload
// bf16  always integer arithmetic, which compilers vectorise. AVX-512's vcvtneps2bf16 would flush
//       subnormal numbers to 0, so that results would depend on the processor
#include "attention_cpu/detail/half.hpp"

#include <bit>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {
namespace {

float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

BFloat16 to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t quiet = bits >> 16 | 0x40, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {static_cast<std::uint16_t>(is_nan ? quiet : rounded)};
}

float to_float(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
  const auto with_sign = [&](std::uint32_t bits) { return std::bit_cast<float>(sign | bits); };
  if (magnitude > 0x7c00) return with_sign(0x7fc00000u | magnitude << 13);  // NaN, made quiet
  if (magnitude == 0x7c00) return with_sign(0x7f800000u);
  if (magnitude >= 0x400) return with_sign((magnitude << 13) + 0x38000000u);
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return with_sign(std::bit_cast<std::uint32_t>(subnormal));
}

Float16 to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const auto with_sign = [&](std::uint32_t half) {
    return Float16{static_cast<std::uint16_t>(sign | half)};
  };
  if (magnitude > 0x7f800000u) return with_sign(0x7e00 | (magnitude >> 13 & 0x1ff));
  if (magnitude >= 0x477ff000u) return with_sign(0x7c00);  // rounds to 65536 or more
  if (magnitude < 0x38800000u) {                           // subnormal: in units of 2^-24
    // After adding 0.5, the last bit of the sum is worth 2^-24, rounded to nearest even.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return with_sign(std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f));
  }
  const std::uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return with_sign((rounded - 0x38000000u) >> 13);
}

// Converts whole vectors from the front of `count` elements. Returns the number converted.
#if defined(__AVX512F__)
std::int64_t load_vectors(const Float16* from, std::int64_t count, float* to) {
  std::int64_t k = 0;
  for (; k + 16 <= count; k += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k));
    _mm512_storeu_ps(to + k, _mm512_cvtph_ps(halves));
  }
  return k;
}
std::int64_t store_vectors(const float* from, std::int64_t count, Float16* to) {
  std::int64_t k = 0;
  for (; k + 16 <= count; k += 16) {
    const __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k), halves);
  }
  return k;
}
#elif defined(__F16C__)
std::int64_t load_vectors(const Float16* from, std::int64_t count, float* to) {
  std::int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k));
    _mm256_storeu_ps(to + k, _mm256_cvtph_ps(halves));
  }
  return k;
}
std::int64_t store_vectors(const float* from, std::int64_t count, Float16* to) {
  std::int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + k), halves);
  }
  return k;
}
#else
std::int64_t load_vectors(const Float16*, std::int64_t, float*) { return 0; }
std::int64_t store_vectors(const float*, std::int64_t, Float16*) { return 0; }
#endif

void load_fp16(const Float16* from, std::int64_t stride, std::int64_t count, float* to) {
  std::int64_t k = stride == 1 ? load_vectors(from, count, to) : 0;
  for (; k < count; ++k) to[k] = to_float(from[k * stride]);
}

void store_fp16(const float* from, std::int64_t count, Float16* to, std::int64_t stride) {
  std::int64_t k = stride == 1 ? store_vectors(from, count, to) : 0;
  for (; k < count; ++k) to[k * stride] = to_fp16(from[k]);
}

// The loops with a constant stride of 1 are separate, so that the compiler can vectorise them.

void load_bf16(const BFloat16* from, std::int64_t stride, std::int64_t count, float* to) {
  if (stride == 1) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = to_float(from[k]);
  } else {
    for (std::int64_t k = 0; k < count; ++k) to[k] = to_float(from[k * stride]);
  }
}

void store_bf16(const float* from, std::int64_t count, BFloat16* to, std::int64_t stride) {
  if (stride == 1) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = to_bf16(from[k]);
  } else {
    for (std::int64_t k = 0; k < count; ++k) to[k * stride] = to_bf16(from[k]);
  }
}

}  // namespace

void load_floats(const void* from, DataType dtype, std::int64_t stride, std::int64_t count,
                 float* to) {
  if (dtype == DataType::kBFloat16) {
    load_bf16(static_cast<const BFloat16*>(from), stride, count, to);
  } else if (dtype == DataType::kFloat16) {
    load_fp16(static_cast<const Float16*>(from), stride, count, to);
  } else {
    const float* const elements = static_cast<const float*>(from);
    for (std::int64_t k = 0; k < count; ++k) to[k] = elements[k * stride];
  }
}

void store_floats(const float* from, std::int64_t count, void* to, DataType dtype,
                  std::int64_t stride) {
  if (dtype == DataType::kBFloat16) {
    store_bf16(from, count, static_cast<BFloat16*>(to), stride);
  } else if (dtype == DataType::kFloat16) {
    store_fp16(from, count, static_cast<Float16*>(to), stride);
  } else {
    float* const elements = static_cast<float*>(to);
    for (std::int64_t k = 0; k < count; ++k) elements[k * stride] = from[k];
  }
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
