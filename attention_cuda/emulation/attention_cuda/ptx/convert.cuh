// Stands in for attention_cuda/ptx/convert.cuh.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"
#include "attention_cuda/emulation/formats.hpp"

namespace flashlab::cuda::ptx {

using emulation::to_float;

inline std::uint32_t pack(BFloat16 format, float first, float second) {
  return emulation::round_to(format, first).bits |
         static_cast<std::uint32_t>(emulation::round_to(format, second).bits) << 16;
}

inline std::uint32_t pack(Float16 format, float first, float second) {
  return emulation::round_to(format, first).bits |
         static_cast<std::uint32_t>(emulation::round_to(format, second).bits) << 16;
}

template <class Element>
void unpack(Element, std::uint32_t packed, float& first, float& second) {
  first = to_float(Element{static_cast<std::uint16_t>(packed)});
  second = to_float(Element{static_cast<std::uint16_t>(packed >> 16)});
}

template <class Element>
Element from_float(float value) {
  return emulation::round_to(Element{}, value);
}
template <>
inline float from_float<float>(float value) {
  return value;
}

inline std::uint32_t to_tf32(float value) { return emulation::round_to_tf32(value); }

}  // namespace flashlab::cuda::ptx
