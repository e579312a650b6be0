// States that differ only in the order of rows, columns or terms, or by transposing the product.
//
// Permuting the rows of A and C, the columns of B and C, or A's columns with B's rows maps programs
// to programs of the same cost. If C is square, exchanging A with B and rows with columns does
// this, too, because C^T = B^T A^T and factors commute. The search needs only one state of each
// class.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "optimal/products/product_states.hpp"

namespace flashlab::optimal::detail {

/// A permutation of a state's bits, eight at a time.
class BitPermutation {
 public:
  /// Bit i goes to position `target[i]`.
  explicit BitPermutation(const std::vector<int>& target);
  State operator()(State state) const {
    State result = 0;
    for (std::size_t byte = 0; byte < num_bytes_; ++byte) {
      result |= table_[byte][(state >> (8 * byte)) & 255];
    }
    return result;
  }

 private:
  std::size_t num_bytes_;
  std::vector<std::array<State, 256>> table_;
};

class Symmetry {
 public:
  explicit Symmetry(const ProductStates& states);

  /// Returns the representative of the state's class.
  State canonical(State state) const;

 private:
  /// The permutations of one axis of the product (rows, inner, columns).
  struct Axis {
    std::vector<State> masks;              // by index: the terms and inputs that belong to it
    std::vector<std::vector<int>> orders;  // permutations: new position -> old index
    std::vector<BitPermutation> permutations;
  };
  enum { kRows, kInner, kColumns };

  int axis_length(int axis) const;
  Axis make_axis(int axis) const;
  /// The new position of each bit when the axes' indices are renumbered and, if `transposed`, the
  /// product is then transposed.
  std::vector<int> targets(const std::array<std::vector<int>, 3>& new_index, bool transposed) const;
  /// Counts the bits of a state that belong to an index. Permutations of other axes do not change
  /// this count.
  unsigned weight(State mask, State state) const;
  State smallest(State state) const;
  /// The permutations of an axis that sort its weights.
  void sorting(int axis, State state, std::vector<const BitPermutation*>& result) const;

  const ProductStates& states_;
  MatrixProduct product_;
  State all_terms_ = 0;
  std::array<Axis, 3> axes_;
  std::vector<BitPermutation> transposition_;  // a single one if C is square, else none
};

}  // namespace flashlab::optimal::detail
