// The matrix product of tiles, C = A B or C += A B, which all fast variants use.
//
// Every vector is along the columns of B and C; an element of A is broadcast. So a tile of scores
// has one query per lane, S^T [keys, queries] = K Q^T with K in the caller's layout. P^T is both
// the right operand of O^T += V^T P^T and (broadcast) the left one of dV += P^T dO. So nothing is
// transposed between products, and K and V need no packing.
//
// A block of kMicroRows x 3 vectors of C stays in registers over the whole depth: 24 sums, 3
// vectors of B and one element of A in 32 registers (12, 3 and 1 in 16). These independent sums
// hide the latency of a multiply-add (4 cycles x 2 units).
#pragma once

#include "attention_cpu/detail/vector.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

inline constexpr int kMicroRows = kVectorRegisters == 32 ? 8 : 4, kMicroVectors = 3;

/// Queries in a group: as many as the columns of a block of the product.
template <class Element>
inline constexpr int kGroup = kMicroVectors* kLanes<Element>;

/// The memory layout of A [rows, depth].
enum class Layout : std::uint8_t {
  kRows,     // A(i, k) at data[i stride + k]
  kColumns,  // A(i, k) at data[k stride + i]: transpose of a row-major matrix
};

enum class Update : std::uint8_t { kAssign, kAdd };

template <class Element>
struct Operand {
  Element* data;
  std::int64_t stride;
};

template <Layout kLayout, Update kUpdate, int kRows, int kVectors, class Element>
inline void micro_product(std::int64_t depth, Operand<const Element> A, Operand<const Element> B,
                          Operand<Element> C) {
  constexpr int kL = kLanes<Element>;
  Vector<Element> sums[kRows][kVectors] = {};
  const std::int64_t next_row = kLayout == Layout::kRows ? A.stride : 1,
                     next_column = kLayout == Layout::kRows ? 1 : A.stride;
  const Element* a = A.data;
  const Element* b = B.data;
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector<Element> b_row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) b_row[v] = load(b + v * kL);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vector<Element> a_i = broadcast(a[i * next_row]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[i][v] += a_i * b_row[v];
    }
    a += next_column;
    b += B.stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    Element* const c = C.data + i * C.stride;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      store(c + v * kL, kUpdate == Update::kAdd ? load(c + v * kL) + sums[i][v] : sums[i][v]);
    }
  }
}

/// C [rows, kVectors vectors] from A [rows, depth] and B [depth, kVectors vectors].
template <Layout kLayout, Update kUpdate, int kVectors, class Element>
void product(std::int64_t rows, std::int64_t depth, Operand<const Element> A,
             Operand<const Element> B, Operand<Element> C) {
  const auto some_rows = [&]<int kRows>() {
    micro_product<kLayout, kUpdate, kRows, kVectors>(depth, A, B, C);
    A.data += kRows * (kLayout == Layout::kRows ? A.stride : 1);
    C.data += kRows * C.stride;
    rows -= kRows;
  };
  while (rows >= kMicroRows) some_rows.template operator()<kMicroRows>();
  if (kMicroRows > 4 && rows >= 4) some_rows.template operator()<4>();
  if (rows >= 2) some_rows.template operator()<2>();
  if (rows >= 1) some_rows.template operator()<1>();
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
