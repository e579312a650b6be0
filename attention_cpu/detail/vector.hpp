// The widest vectors of the target instruction set, as a compiler extension: arithmetic and
// comparisons work lane by lane; a * b + c is fused if the processor supports it.
#pragma once

#include <cstdint>
#include <utility>

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
/// Integers of the same width: the result of a comparison, -1 in lanes where it holds.
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

namespace transposition {

/// The lane of the pair (a, b) that moves to lane `lane` when odd blocks of `block` lanes of a are
/// exchanged with even blocks of b.
constexpr int source(int lane, int block, int lanes, bool second) {
  const bool odd = (lane & block) != 0;
  if (second) return odd ? lanes + lane : lane + block;
  return odd ? lanes + lane - block : lane;
}

template <int kBlock, class Element, int... kLane>
inline void exchange(Vector<Element>& a, Vector<Element>& b, std::integer_sequence<int, kLane...>) {
  constexpr int kCount = sizeof...(kLane);
  const Vector<Element> first =
      __builtin_shufflevector(a, b, source(kLane, kBlock, kCount, false)...);
  b = __builtin_shufflevector(a, b, source(kLane, kBlock, kCount, true)...);
  a = first;
}

template <int kBlock, class Element>
inline void exchange_all(Vector<Element> (&rows)[kLanes<Element>]) {
  if constexpr (kBlock < kLanes<Element>) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<Element>; ++i) {
      if ((i & kBlock) != 0) continue;
      exchange<kBlock, Element>(rows[i], rows[i + kBlock],
                                std::make_integer_sequence<int, kLanes<Element>>());
    }
    exchange_all<2 * kBlock, Element>(rows);
  }
}

}  // namespace transposition

/// to(c, i) = factor from(i, c) for kLanes rows i and columns c of a matrix in memory.
template <class Element>
inline void transpose_block(const Element* from, std::int64_t from_stride, Element* to,
                            std::int64_t to_stride, Vector<Element> factor) {
  Vector<Element> rows[kLanes<Element>];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes<Element>; ++i) rows[i] = factor * load(from + i * from_stride);
  transposition::exchange_all<1, Element>(rows);
#pragma GCC unroll 16
  for (int c = 0; c < kLanes<Element>; ++c) store(to + c * to_stride, rows[c]);
}

/// to(c, i) = factor from(i, c), for any size.
template <class Element>
inline void transpose(const Element* from, std::int64_t from_stride, std::int64_t rows,
                      std::int64_t columns, Element* to, std::int64_t to_stride, Element factor) {
  constexpr int kL = kLanes<Element>;
  for (std::int64_t i = 0; i < rows; i += kL) {
    for (std::int64_t c = 0; c < columns; c += kL) {
      if (rows - i >= kL && columns - c >= kL) {
        transpose_block(from + i * from_stride + c, from_stride, to + c * to_stride + i, to_stride,
                        broadcast(factor));
        continue;
      }
      for (std::int64_t k = i; k < rows && k < i + kL; ++k) {
        for (std::int64_t m = c; m < columns && m < c + kL; ++m) {
          to[m * to_stride + k] = factor * from[k * from_stride + m];
        }
      }
    }
  }
}

/// b in lanes where a is NaN.
template <class V>
inline V maximum(V a, V b) {
  return a > b ? a : b;
}

/// Returns whether the comparison holds in any lane.
template <class Integer>
inline bool any(Integer mask) {
  constexpr int kCount = static_cast<int>(sizeof(mask) / sizeof(mask[0]));
  std::int64_t found = 0;
  for (int k = 0; k < kCount; ++k) found |= mask[k];
  return found != 0;
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
