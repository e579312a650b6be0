// Conversions between fp32 and the types of stored or multiplied values, rounding to nearest even.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention/tensor.hpp"

namespace flashlab::cuda::ptx {

/// Packs two elements into one register, the first in the lower half.
__device__ __forceinline__ std::uint32_t pack(BFloat16, float first, float second) {
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
  return packed;
}

__device__ __forceinline__ std::uint32_t pack(Float16, float first, float second) {
  std::uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
  return packed;
}

__device__ __forceinline__ float to_float(float value) { return value; }

__device__ __forceinline__ float to_float(BFloat16 value) {
  return __uint_as_float(static_cast<std::uint32_t>(value.bits) << 16);
}

__device__ __forceinline__ float to_float(Float16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}

/// Unpacks two elements of one register, the first from the lower half.
__device__ __forceinline__ void unpack(Float16, std::uint32_t packed, float& first, float& second) {
  asm("{\n.reg .b16 lower, upper;\nmov.b32 {lower, upper}, %2;\n"
      "cvt.f32.f16 %0, lower;\ncvt.f32.f16 %1, upper;\n}\n"
      : "=f"(first), "=f"(second)
      : "r"(packed));
}

__device__ __forceinline__ void unpack(BFloat16, std::uint32_t packed, float& first,
                                       float& second) {
  first = __uint_as_float(packed << 16);
  second = __uint_as_float(packed & 0xFFFF0000U);
}

template <class Element>
__device__ __forceinline__ Element from_float(float value) {
  return {static_cast<std::uint16_t>(pack(Element{}, value, 0.f))};
}
template <>
__device__ __forceinline__ float from_float<float>(float value) {
  return value;
}

/// Returns the nearest tf32 value as a tensor core operand (ties away from zero).
__device__ __forceinline__ std::uint32_t to_tf32(float value) {
  std::uint32_t result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return result;
}

}  // namespace flashlab::cuda::ptx
