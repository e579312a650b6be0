// The search space of a value algebra: what the registers hold, and which outputs are stored.
//
// Which register holds a value does not matter, and neither does a second copy: a state is a set.
// A value is overwritten only when no register is free, and an output is stored as soon as it is
// made: every program stores it, and nothing is lost by doing so at once. An output that no
// operation takes is forgotten then.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "optimal/detail/search.hpp"
#include "optimal/value_algebra.hpp"

namespace flashlab::optimal::detail {

/// Makes a value by an operation, or (operation < 0) loads an input's.
struct ValueMove {
  int operation = -1;
  int value = 0;  // that is made
  int lost = -1;  // the value that it overwrites; -1: a free register
  std::int64_t cost = 0;
};

/// A state's bytes from the lowest: 1 + value for each register, sorted, 0 for free ones; the last
/// byte: the outputs stored.
class ValueSpace final : public SearchSpace {
 public:
  static constexpr int kMostRegisters = 7, kMostOutputs = 8, kMostValues = 255;

  ValueSpace(const ValueAlgebra& algebra, int registers, const toy::CostTable& costs);

  State initial() const override { return 0; }
  bool is_goal(State state) const override { return stored(state) == all_outputs_; }
  /// Values that every way to an output that is left goes through, each at its cheapest: the
  /// landmarks of the relaxation in which nothing is overwritten. A move makes one value, so that
  /// the bound falls by at most the move's cost.
  /// Source: Keyder, Richter, Helmert 2010, Sound and Complete Landmarks for And/Or Graphs.
  std::int64_t bound(State state) const override;
  int work_left(State state) const override;
  void successors(State state, std::int64_t limit, std::vector<Successor>& result) override;
  std::int64_t to_cycles(std::int64_t cost) const override;

  void moves(State state, std::vector<ValueMove>& result) const;
  State apply(State state, const ValueMove& move) const;
  State canonical(State state) const;
  /// Whether the value is an output that is stored when it is made, and then of no use.
  bool is_only_output(int value) const { return is_output(value) && !is_operand(value); }
  bool is_output(int value) const { return output_bits_[static_cast<std::size_t>(value)] != 0; }
  std::int64_t operation_cost(int operation) const {
    return operation < 0 ? load_ : operation_costs_[static_cast<std::size_t>(operation)];
  }

 private:
  using Values = std::bitset<kMostValues>;
  using Registers = std::array<std::uint8_t, kMostRegisters>;

  /// Most states are reached many times, and their bound takes longest to compute.
  struct Known {
    State state = 0;
    std::int64_t bound = -1;  // not computed yet
  };
  static constexpr int kCacheBits = 18;

  std::int64_t computed_bound(State state) const;
  static unsigned stored(State state) { return static_cast<unsigned>(state >> 56); }
  /// All values, operands before the results that are first made of them.
  std::vector<int> from_the_inputs() const;
  static Registers unpack(State state);
  static State pack(Registers registers, unsigned stored);
  bool is_operand(int value) const { return is_operand_[static_cast<std::size_t>(value)]; }
  Values held(State state) const;
  void add(State state, ValueMove move, std::vector<ValueMove>& result) const;

  const ValueAlgebra& algebra_;
  int registers_;
  unsigned all_outputs_ = 0;
  std::int64_t load_ = 0, store_ = 0;
  std::vector<std::int64_t> operation_costs_;    // by operation
  std::vector<std::int64_t> cheapest_;           // by value: the least that makes it
  std::vector<std::vector<int>> makers_, uses_;  // by value: operations with it as result, as a
  std::vector<bool> is_operand_, is_input_;      // by value
  std::vector<unsigned> output_bits_;            // by value
  std::vector<int> order_;                       // of the values, for bound()
  mutable std::vector<Known> cache_;
  std::vector<ValueMove> moves_;
};

}  // namespace flashlab::optimal::detail
