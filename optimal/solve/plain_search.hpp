// The cheapest program by uniform-cost search over the whole machine. There is no bound, no
// symmetry except the registers' names, and no rule about what a reasonable program does. It is
// slow, and checks solve().
//
// A state is the contents of each register, and the set of sums in DRAM. A move is one instruction:
// it may overwrite any register, load a value that is held already, or add the same term to two
// sums.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/problem/value_algebra.hpp"

namespace flashlab::optimal {

struct PlainState {
  /// Values by register: 0 for nothing, then the inputs, then the partial sums (see value_of_sum).
  /// Equivalent registers are sorted by value. All registers are equivalent, except R0 and R1 under
  /// pinned operands.
  std::vector<std::uint8_t> registers;
  std::uint64_t stored = 0;  // sums in DRAM: bit output * (2^inner - 1) + terms - 1
  bool operator==(const PlainState&) const = default;
};

class PlainMachine {
 public:
  /// Requires the number of outputs times 2^inner - 1 to be at most 64.
  PlainMachine(const MatrixProduct& product, const ProductMachine& machine);

  PlainState initial() const;
  /// Returns the state with its registers sorted.
  PlainState normal(PlainState state) const;
  bool is_goal(const PlainState& state) const;

  using Visit = std::function<void(PlainState next, std::int64_t cycles)>;
  /// Visits every instruction that is legal in the state.
  void moves(const PlainState& state, const Visit& visit) const;

  std::uint8_t value_of_input(int input) const { return static_cast<std::uint8_t>(1 + input); }
  /// `terms` is the set of the output's terms in the sum; not empty.
  std::uint8_t value_of_sum(int output, unsigned terms) const {
    return static_cast<std::uint8_t>(first_sum_ + output * sums_each_ + static_cast<int>(terms) -
                                     1);
  }

 private:
  struct Sum {
    int output;
    unsigned terms;
  };
  bool is_sum(std::uint8_t value) const { return value >= first_sum_; }
  Sum sum_of(std::uint8_t value) const;
  std::uint64_t stored_bit(std::uint8_t value) const {
    return std::uint64_t{1} << (value - first_sum_);
  }
  /// The term whose factors are in the two registers, or nothing.
  std::optional<int> term_of(std::uint8_t a, std::uint8_t b) const;
  void loads(const PlainState& state, const Visit& visit) const;
  void stores(const PlainState& state, const Visit& visit) const;
  void products(const PlainState& state, int term, const Visit& visit) const;
  void write(const PlainState& state, std::uint8_t value, std::int64_t cycles,
             const Visit& visit) const;

  MatrixProduct product_;
  ProductMachine machine_;
  int first_sum_ = 0, sums_each_ = 0;
  std::uint64_t all_outputs_ = 0;
};

struct PlainAnswer {
  std::optional<std::int64_t> cycles;  // empty: no program exists
  std::uint64_t states = 0;            // reached
};
/// Returns nothing if more than `max_states` states were reached.
std::optional<PlainAnswer> plain_search(const MatrixProduct& product, const ProductMachine& machine,
                                        std::uint64_t max_states);

/// A key of the state for tables.
std::string plain_key(const PlainState& state);

/// The result of plain_value_search().
struct PlainValueAnswer {
  std::int64_t cycles = -1;  // -1: no program exists
  std::uint64_t states = 0;
};
/// A uniform-cost search over everything that registers and cells can hold; any register may be
/// overwritten. It checks solve() for value algebras.
PlainValueAnswer plain_value_search(const ValueAlgebra& algebra, const ValueMachine& machine,
                                    const ValueProgress& from = {});

}  // namespace flashlab::optimal
