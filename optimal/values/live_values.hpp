// The live sets of programs that are made of a value algebra's operations.
//
// A value may be made more than once, and a value that is used may live on. A stored output may be
// loaded again from its cell. Any set of at most k values fits k registers, as lifetimes in a
// straight line are intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/problem/value_space.hpp"
#include "optimal/search/live_states.hpp"

namespace flashlab::optimal::detail {

/// A state is the number of a live set and of the outputs stored, in the order in which they were
/// met.
class LiveValues final : public LiveSpace {
 public:
  /// Errors: std::invalid_argument as ValueProblem's; for machines with scratch cells or a limit of
  /// loads; and when an operation costs nothing: what can be done for nothing can be done any
  /// number of times.
  LiveValues(const ValueAlgebra& algebra, const ValueMachine& machine);

  State initial() const override { return 0; }
  /// All outputs are stored, and nothing is kept for a use that does not come.
  bool is_goal(State state) const override;
  std::int64_t bound(State state) const override;
  void steps(State state, std::vector<LiveStep>& result) override;
  void without_one(State state, std::vector<State>& result) override;
  State representative(State state) override;
  std::size_t bytes() const override;

  /// At most as many different values as there are registers. `stored`: bit by output.
  State state(const std::vector<int>& live, std::uint32_t stored);

 private:
  struct Hash {
    std::size_t operator()(const ValueState& state) const;
  };
  State number(const ValueState& state);
  const ValueState& at(State state) const { return states_[static_cast<std::size_t>(state)]; }
  /// The state with one value less, and with one more; the highest first in both.
  static ValueState without(ValueState state, int value);
  bool has_room(const ValueState& state) const;
  /// Appends the step if all that is live can be of use.
  void push(const ValueState& next, std::int64_t cost, std::vector<LiveStep>& result);
  void store(const ValueState& from, std::vector<LiveStep>& result);
  /// The result instead of each possible choice of the operands.
  void make(const ValueState& from, const Operands& operands, int made, std::int64_t cost,
            std::vector<LiveStep>& result);

  ValueProblem problem_;
  mutable ValueMoves moves_;
  std::vector<ValueProblem::Operation> operations_;  // each once, whatever commutes
  std::vector<ValueState> states_;                   // by number
  mutable std::vector<std::int64_t> bounds_;         // by number; -1: not computed yet
  std::unordered_map<ValueState, State, Hash> numbers_;
};

}  // namespace flashlab::optimal::detail
