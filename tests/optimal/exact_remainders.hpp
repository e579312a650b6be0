// What remains to be paid from states of the solver, by the plain machine alone.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "optimal/products/product_states.hpp"
#include "optimal/solve/plain_search.hpp"

namespace flashlab::test {

using optimal::PlainMachine;
using optimal::PlainState;
using optimal::detail::ProductStates;
using optimal::detail::State;

/// The solver's state as registers and DRAM.
inline PlainState plain_state(const ProductStates& states, const PlainMachine& plain, State state) {
  const optimal::MatrixProduct& product = states.product();
  PlainState result = plain.initial();
  std::vector<std::uint8_t> inputs, sums;
  for (int input = 0; input < product.num_inputs(); ++input) {
    if ((state & states.input_bit(input)) != 0) inputs.push_back(plain.value_of_input(input));
  }
  const std::uint64_t in_registers = states.sums_in_registers(state);
  const int first_sum = plain.value_of_sum(0, 1);
  for (int output = 0; output < product.num_outputs(); ++output) {
    const State terms = (state & states.terms_of_output(output)) >> (output * product.inner);
    if (terms == 0) continue;
    const std::uint8_t value = plain.value_of_sum(output, static_cast<unsigned>(terms));
    if ((in_registers >> output & 1) != 0) {
      sums.push_back(value);
    } else {
      result.stored |= std::uint64_t{1} << (value - first_sum);
    }
  }
  const bool pinned = states.machine().operand_rule == toy::OperandRule::kPinned;
  if (pinned) inputs.resize(2, 0);
  inputs.insert(inputs.end(), sums.begin(), sums.end());
  if (inputs.size() > result.registers.size()) throw std::logic_error("too many values");
  inputs.resize(result.registers.size(), 0);
  result.registers = inputs;
  return plain.normal(result);
}

/// Every state that the solver's moves reach, the first one first.
inline std::vector<State> all_states(const ProductStates& states) {
  std::unordered_set<State> seen{states.initial()};
  std::vector<State> result{states.initial()};
  std::vector<optimal::detail::Move> moves;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const State state = result[i];
    moves.clear();
    states.moves(state, moves);
    for (const optimal::detail::Move& move : moves) {
      const State next = states.apply(state, move);
      if (seen.insert(next).second) result.push_back(next);
    }
  }
  return result;
}

/// The cycles from any state that can be reached from some first ones to the nearest goal.
class ExactRemainders {
 public:
  static constexpr std::int64_t kNever = INT64_MAX;

  ExactRemainders(const PlainMachine& plain, const std::vector<PlainState>& first) {
    std::vector<PlainState> states;
    const auto number = [&](PlainState state) {
      const auto [place, is_new] = numbers_.try_emplace(plain_key(state), numbers_.size());
      if (is_new) states.push_back(std::move(state));
      return place->second;
    };
    for (const PlainState& state : first) number(state);
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> before;
    for (std::size_t from = 0; from < states.size(); ++from) {
      const PlainState state = states[from];
      plain.moves(state, [&](PlainState next, std::int64_t cycles) {
        const std::size_t to = number(std::move(next));
        if (before.size() <= to) before.resize(to + 1);
        if (to != from) before[to].emplace_back(from, cycles);
      });
    }
    before.resize(states.size());
    walk_back(plain, states, before);
  }

  std::int64_t of(const PlainState& state) const { return cycles_[numbers_.at(plain_key(state))]; }
  std::size_t size() const { return cycles_.size(); }

 private:
  void walk_back(const PlainMachine& plain, const std::vector<PlainState>& states,
                 const std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>& before) {
    using Entry = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    cycles_.assign(states.size(), kNever);
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (plain.is_goal(states[i])) open.emplace(cycles_[i] = 0, i);
    }
    while (!open.empty()) {
      const auto [cycles, to] = open.top();
      open.pop();
      if (cycles > cycles_[to]) continue;
      for (const auto& [from, cost] : before[to]) {
        if (cycles + cost >= cycles_[from]) continue;
        open.emplace(cycles_[from] = cycles + cost, from);
      }
    }
  }

  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::int64_t> cycles_;
};

}  // namespace flashlab::test
