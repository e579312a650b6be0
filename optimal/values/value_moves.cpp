#include <algorithm>
#include <bit>
#include <stdexcept>
#include <tuple>

#include "optimal/problem/value_space.hpp"

namespace flashlab::optimal::detail {
namespace {

template <class Places>
void sort_places(Places& places, std::size_t count) {
  for (std::size_t i = 1; i < std::min(count, places.size()); ++i) {
    for (std::size_t j = i; j > 0 && places[j - 1] < places[j]; --j) {
      std::swap(places[j - 1], places[j]);
    }
  }
}

template <class Places>
bool has_place(const Places& places, int value) {
  return std::find(places.begin(), places.end(), place_of(value)) != places.end();
}

}  // namespace

ValueState ValueMoves::start(const ValueProgress& from) const {
  ValueState state;
  const auto check_value = [&](int value) {
    if (value >= problem_.num_values()) throw std::invalid_argument("a value the algebra lacks");
  };
  if (from.held.size() > num_registers() || from.scratch.size() > num_scratch() ||
      (from.stored & ~std::uint64_t{problem_.all_outputs()}) != 0) {
    throw std::invalid_argument("more registers, cells or outputs than the machine has");
  }
  std::size_t registers = 0, cells = 0;
  for (const int value : from.held) {
    check_value(value);
    if (value >= 0 && !has_place(state.registers, value))
      state.registers[registers++] = place_of(value);
  }
  for (const int value : from.scratch) {
    check_value(value);
    if (value >= 0 && !has_place(state.scratch, value)) state.scratch[cells++] = place_of(value);
  }
  state.stored = static_cast<std::uint32_t>(from.stored);
  if (counts_loads()) state.loads = static_cast<std::uint32_t>(std::max(0, from.loads));
  settle(state);
  return state;
}

ValueSet ValueMoves::held(const ValueState& state) const {
  ValueSet result;
  for (const std::uint16_t place : state.registers) {
    if (place != 0) result.add(place - 1);
  }
  return result;
}

ValueSet ValueMoves::loadable(const ValueState& state) const {
  const ValueAlgebra& algebra = problem_.algebra();
  ValueSet result;
  for (const int input : algebra.inputs) result.add(input);
  for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
    if ((state.stored >> i & 1) != 0) result.add(algebra.outputs[i]);
  }
  for (const std::uint16_t place : state.scratch) {
    if (place != 0) result.add(place - 1);
  }
  return result;
}

void ValueMoves::settle(ValueState& state) const {
  for (const std::uint16_t place : state.registers) {
    if (place != 0) state.stored |= problem_.output_bits(place - 1);
  }
  const ValueSet useful = problem_.useful(state.stored);
  for (std::uint16_t& place : state.registers) {
    if (place != 0 && !useful.has(place - 1)) place = 0;
  }
  for (std::uint16_t& place : state.scratch) {
    if (place == 0) continue;
    const int value = place - 1;
    const bool is_stored = (state.stored & problem_.output_bits(value)) != 0;
    if (is_stored || problem_.is_input(value) || !useful.has(value)) place = 0;
  }
  sort_places(state.registers, num_registers());
  sort_places(state.scratch, num_scratch());
}

bool ValueMoves::may_load(const ValueState& state, const ValueBound& bound) const {
  return !counts_loads() ||
         static_cast<std::int64_t>(state.loads) + bound.loads <= *problem_.machine().most_loads;
}

void ValueMoves::add(const ValueState& state, ValueMove move,
                     std::vector<ValueMove>& result) const {
  if (state.registers[num_registers() - 1] == 0) {  // sorted: the last is free
    result.push_back(move);
    return;
  }
  for (std::size_t i = 0; i < num_registers(); ++i) {
    move.lost = state.registers[i] - 1;
    result.push_back(move);
    if (num_scratch() > 0) add_spills(state, move, result);
  }
}

void ValueMoves::add_spills(const ValueState& state, ValueMove move,
                            std::vector<ValueMove>& result) const {
  const bool is_stored = (state.stored & problem_.output_bits(move.lost)) != 0;
  if (is_stored || problem_.is_input(move.lost) || has_place(state.scratch, move.lost)) return;
  move.spills = true;
  move.cost += problem_.store_cost();
  if (state.scratch[num_scratch() - 1] == 0) {
    result.push_back(move);
    return;
  }
  for (std::size_t i = 0; i < num_scratch(); ++i) {
    move.lost_scratch = state.scratch[i] - 1;
    // The move may load the value of a scratch cell, but only before that cell is overwritten.
    if (move.operation >= 0 || move.lost_scratch != move.value) result.push_back(move);
  }
}

void ValueMoves::moves(const ValueState& state, std::vector<ValueMove>& result) const {
  const ValueSet have = held(state), useful = problem_.useful(state.stored);
  const auto is_new = [&](int value) { return !have.has(value) && useful.has(value); };
  const auto load = [&](int value) {
    if (is_new(value)) add(state, {-1, value, -1, false, -1, problem_.load_cost()}, result);
  };
  const auto operate = [&](int number) {
    const auto& operation = problem_.operations()[static_cast<std::size_t>(number)];
    if (!is_new(operation.result)) return;
    for (const int operand : operation.operands) {
      if (operand != kNoValue && !have.has(operand)) return;
    }
    add(state, {number, operation.result, -1, false, -1, operation.cost}, result);
  };
  const bool may_load_more =
      !counts_loads() || static_cast<std::int64_t>(state.loads) < *problem_.machine().most_loads;
  if (may_load_more) {
    const ValueSet can_load = loadable(state);
    for (const int value : problem_.order()) {
      if (can_load.has(value)) load(value);
    }
  }
  for (const int number : problem_.from_nothing()) operate(number);
  for (const std::uint16_t place : state.registers) {
    if (place == 0) break;
    for (const int number : problem_.by_last_operand(place - 1)) operate(number);
  }
}

ValueState ValueMoves::apply(const ValueState& state, const ValueMove& move) const {
  ValueState next = state;
  if (move.spills) {
    *std::find(next.scratch.begin(), next.scratch.end(), place_of(move.lost_scratch)) =
        place_of(move.lost);
  }
  *std::find(next.registers.begin(), next.registers.end(), place_of(move.lost)) =
      place_of(move.value);
  if (move.operation < 0 && counts_loads()) ++next.loads;
  settle(next);
  return next;
}

ValueState ValueMoves::canonical(const ValueState& state) const {
  const ValueAlgebra& algebra = problem_.algebra();
  ValueState best = state;
  const auto key = [](const ValueState& s) { return std::tie(s.stored, s.registers, s.scratch); };
  for (std::size_t number = 1; number < algebra.symmetries.size(); ++number) {
    const std::vector<int>& renumbered = algebra.symmetries[number];
    ValueState other;
    other.loads = state.loads;
    for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
      if ((state.stored >> i & 1) == 0) continue;
      other.stored |=
          problem_.output_bits(renumbered[static_cast<std::size_t>(algebra.outputs[i])]);
    }
    if (other.stored > best.stored) continue;
    const auto move_place = [&](std::uint16_t place) {
      return place == 0 ? place : place_of(renumbered[place - 1U]);
    };
    for (std::size_t i = 0; i < num_registers(); ++i) {
      other.registers[i] = move_place(state.registers[i]);
    }
    for (std::size_t i = 0; i < num_scratch(); ++i) {
      other.scratch[i] = move_place(state.scratch[i]);
    }
    sort_places(other.registers, num_registers());
    sort_places(other.scratch, num_scratch());
    if (key(other) < key(best)) best = other;
  }
  return best;
}

unsigned ValueMoves::place_bits(const ValueProblem& problem) {
  return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(problem.num_values())));
}

unsigned ValueMoves::load_bits(const ValueProblem& problem) {
  const auto most = problem.machine().most_loads;
  return most && *most > 0 ? static_cast<unsigned>(std::bit_width(static_cast<unsigned>(*most)))
                           : 0;
}

std::size_t ValueMoves::words(const ValueProblem& problem) {
  const auto places =
      static_cast<unsigned>(problem.machine().registers + problem.machine().scratch_cells);
  const std::size_t bits =
      places * place_bits(problem) + problem.algebra().outputs.size() + load_bits(problem);
  return (bits + 63) / 64;
}

}  // namespace flashlab::optimal::detail
