// The widest vectors of the instruction set that is compiled for, by the compilers' vector
// extension:
// + - * / and comparisons work lane by lane, a * b + c is fused where the processor can.
#pragma once

#include <cstdint>
#include <limits>

#include "attention_cpu/detail/build.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kVectorRegisters = 32;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kVectorRegisters = 16;
#elif defined(__aarch64__)
inline constexpr int kVectorBytes = 16, kVectorRegisters = 32;
#else
inline constexpr int kVectorBytes = 16, kVectorRegisters = 16;
#endif

template <class Element>
struct FloatingPoint;
template <>
struct FloatingPoint<float> {
  using Integer = std::int32_t;
  static constexpr int kMantissaBits = 23, kExponentBias = 127;
};
template <>
struct FloatingPoint<double> {
  using Integer = std::int64_t;
  static constexpr int kMantissaBits = 52, kExponentBias = 1023;
};

template <class Element>
struct VectorOf {
  typedef Element Type __attribute__((vector_size(kVectorBytes)));
};
template <class Element>
using Vector = typename VectorOf<Element>::Type;
/// As many integers as wide: what a comparison gives, -1 where it holds.
template <class Element>
using Integers = Vector<typename FloatingPoint<Element>::Integer>;

template <class Element>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Element));

template <class Element>
inline Vector<Element> load(const Element* from) {
  Vector<Element> result;
  __builtin_memcpy(&result, from, kVectorBytes);
  return result;
}

template <class Element>
inline void store(Element* to, Vector<Element> value) {
  __builtin_memcpy(to, &value, kVectorBytes);
}

template <class Element>
inline Vector<Element> broadcast(Element value) {
  return value - Vector<Element>{};  // not +: -0 stays -0
}

/// b where a is NaN.
template <class V>
inline V maximum(V a, V b) {
  return a > b ? a : b;
}

/// Whether the comparison holds in some lane.
template <class Integer>
inline bool any(Integer mask) {
  constexpr int kCount = static_cast<int>(sizeof(mask) / sizeof(mask[0]));
  std::int64_t found = 0;
  for (int k = 0; k < kCount; ++k) found |= mask[k];
  return found != 0;
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
