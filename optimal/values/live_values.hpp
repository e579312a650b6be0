// The live sets of programs that consist of a value algebra's operations.
//
// A value may be made more than once, and may stay live after a use. A stored output may be loaded
// again from its cell. Any set of at most k values fits k registers, because live ranges in
// straight-line code are intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/problem/value_space.hpp"
#include "optimal/search/live_states.hpp"

namespace flashlab::optimal::detail {

/// A state is a number. It stands for a live set and a set of stored outputs; these pairs are
/// numbered in the order of discovery.
class LiveValues final : public LiveSpace {
 public:
  /// Errors: std::invalid_argument as for ValueProblem; for machines with scratch cells or a limit
  /// of loads; and if an operation costs nothing, because it could be repeated any number of times.
  LiveValues(const ValueAlgebra& algebra, const ValueMachine& machine);

  State initial() const override { return 0; }
  /// Whether all outputs are stored, and no value is kept for a later use.
  bool is_goal(State state) const override;
  std::int64_t bound(State state) const override;
  void steps(State state, std::vector<LiveStep>& result) override;
  void without_one(State state, std::vector<State>& result) override;
  State representative(State state) override;
  std::size_t bytes() const override;

  /// The number of `live` values is at most the number of registers. `stored`: one bit per output.
  State state(const std::vector<int>& live, std::uint32_t stored);

 private:
  struct Hash {
    std::size_t operator()(const ValueState& state) const;
  };
  State number(const ValueState& state);
  const ValueState& at(State state) const { return states_[static_cast<std::size_t>(state)]; }
  /// Returns the state without one value. The places stay in descending order.
  static ValueState without(ValueState state, int value);
  bool has_room(const ValueState& state) const;
  /// Appends the step if all live values can be useful.
  void push(const ValueState& next, std::int64_t cost, std::vector<LiveStep>& result);
  void store(const ValueState& from, std::vector<LiveStep>& result);
  /// Appends the steps that make a value, one for each choice of operands that die.
  void make(const ValueState& from, const Operands& operands, int made, std::int64_t cost,
            std::vector<LiveStep>& result);

  ValueProblem problem_;
  mutable ValueMoves moves_;
  /// One operation of each group that differs only in the order of the operands.
  std::vector<ValueProblem::Operation> operations_;
  std::vector<ValueState> states_;            // by number
  mutable std::vector<std::int64_t> bounds_;  // by number; -1: not computed yet
  std::unordered_map<ValueState, State, Hash> numbers_;
};

}  // namespace flashlab::optimal::detail
