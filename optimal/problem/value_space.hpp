// The search space of a value algebra: the contents of registers and scratch cells, and which
// outputs are stored.
//
// It does not matter which register holds a value, and second copies are useless: a state is a set.
// A value is overwritten only when no register is free. An output is stored as soon as it is made:
// every program stores it, and storing it at once costs nothing more. A value that no longer leads
// to a remaining output is forgotten and not made.
// A value goes to a scratch cell only when it is about to be overwritten. An earlier store can wait
// until then, so that the cell keeps its former content for longer. Values that can be loaded
// anyway (inputs and stored outputs) are never in scratch cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "optimal/problem/landmark_cuts.hpp"
#include "optimal/problem/landmarks.hpp"
#include "optimal/problem/value_problem.hpp"
#include "optimal/search/search.hpp"

namespace flashlab::optimal::detail {

/// Makes a value by an operation, or loads it if operation < 0.
struct ValueMove {
  int operation = -1;     // of the problem
  int value = 0;          // the value made
  int lost = -1;          // the value overwritten; -1: a free register
  bool spills = false;    // the lost value is stored first
  int lost_scratch = -1;  // the value overwritten in its scratch cell; -1: a free cell
  std::int64_t cost = 0;
};

/// Each place (an element of an array) contains a value's number plus 1, or 0 if the register or
/// cell is empty. The contents are in descending order, so that equal sets are equal states.
struct ValueState {
  std::array<std::uint16_t, ValueProblem::kMostRegisters> registers{};
  std::array<std::uint16_t, ValueProblem::kMostScratch> scratch{};
  std::uint32_t stored = 0;  // one bit per output
  std::uint32_t loads = 0;   // so far, if the machine limits them; else 0
  bool operator==(const ValueState&) const = default;
};

inline std::uint16_t place_of(int value) { return static_cast<std::uint16_t>(value + 1); }

/// States, moves and bounds, independently of how a state is packed.
class ValueMoves {
 public:
  explicit ValueMoves(const ValueProblem& problem)
      : problem_(problem), landmarks_(problem), cuts_(problem) {}

  const ValueProblem& problem() const { return problem_; }
  ValueSet held(const ValueState& state) const;
  /// The values that LOAD can bring: inputs, stored outputs, scratch cells.
  ValueSet loadable(const ValueState& state) const;
  /// Errors: std::invalid_argument for a state that is impossible on the machine.
  ValueState start(const ValueProgress& from) const;
  bool is_goal(const ValueState& state) const { return state.stored == problem_.all_outputs(); }

  ValueBound bound(const ValueState& state) const {
    return landmarks_.bound(held(state), loadable(state), state.stored);
  }
  std::int64_t second_bound(const ValueState& state, std::int64_t limit) const {
    const ValueSet have = held(state), can_load = loadable(state);
    const std::int64_t joining = landmarks_.joining_bound(have, can_load, state.stored);
    if (joining >= limit) return joining;
    const auto needed = landmarks_.needed(have, can_load, state.stored);
    return std::max(joining, cuts_.bound(have, can_load, state.stored, needed, limit));
  }
  /// Whether the machine's limit allows the loads that remain.
  bool may_load(const ValueState& state, const ValueBound& bound) const;

  void moves(const ValueState& state, std::vector<ValueMove>& result) const;
  ValueState apply(const ValueState& state, const ValueMove& move) const;
  /// The smallest of the states that are symmetric to this one.
  ValueState canonical(const ValueState& state) const;
  /// The number of words that a state needs.
  static std::size_t words(const ValueProblem& problem);
  /// The bits of one place.
  static unsigned place_bits(const ValueProblem& problem);
  static unsigned load_bits(const ValueProblem& problem);

 private:
  void add(const ValueState& state, ValueMove move, std::vector<ValueMove>& result) const;
  void add_spills(const ValueState& state, ValueMove move, std::vector<ValueMove>& result) const;
  bool counts_loads() const { return problem_.machine().most_loads.has_value(); }
  std::size_t num_registers() const {
    return static_cast<std::size_t>(problem_.machine().registers);
  }
  std::size_t num_scratch() const {
    return static_cast<std::size_t>(problem_.machine().scratch_cells);
  }
  /// Stores the outputs that are held, and forgets useless values.
  void settle(ValueState& state) const;

  const ValueProblem& problem_;
  Landmarks landmarks_;
  LandmarkCuts cuts_;
};

template <class State>
class ValueSpace final : public SearchSpace<State> {
 public:
  /// `stores_cycles`: cycles of the stores that every way from the start to the goal has. The
  /// search does not count them.
  ValueSpace(const ValueProblem& problem, const ValueState& start, std::int64_t stores_cycles)
      : start_(start), stores_cycles_(stores_cycles), moves_(problem) {}

  std::unique_ptr<SearchSpace<State>> clone() const override {
    return std::make_unique<ValueSpace>(moves_.problem(), start_, stores_cycles_);
  }
  std::vector<Start<State>> starts() const override;
  bool is_goal(const State& state) const override;
  std::int64_t bound(const State& state) override;
  std::int64_t second_bound(const State& state, std::int64_t limit) override;
  int work_left(const State& state) const override;
  void successors(const State& state, std::int64_t limit,
                  std::vector<Successor<State>>& result) override;
  std::int64_t to_cycles(std::int64_t cost) const override { return stores_cycles_ + cost; }

  ValueState unpack(const State& state) const;
  State pack(const ValueState& state) const;
  const ValueMoves& moves() const { return moves_; }

 private:
  ValueState start_;
  std::int64_t stores_cycles_;
  ValueMoves moves_;
  std::vector<ValueMove> list_;
};

}  // namespace flashlab::optimal::detail
