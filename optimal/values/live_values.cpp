#include "optimal/values/live_values.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

namespace flashlab::optimal::detail {
namespace {

constexpr std::size_t kBytesOfLiveState = 2 * sizeof(ValueState) + 64;  // in the list and the table

bool is_live(const ValueState& state, int value) {
  return std::find(state.registers.begin(), state.registers.end(), place_of(value)) !=
         state.registers.end();
}

ValueState with(ValueState state, int value) {
  auto end = std::find(state.registers.begin(), state.registers.end(), std::uint16_t{0});
  *end = place_of(value);
  std::sort(state.registers.begin(), end + 1, std::greater<>());
  return state;
}

}  // namespace

std::size_t LiveValues::Hash::operator()(const ValueState& state) const {
  std::uint64_t result = state.stored;
  for (const std::uint16_t place : state.registers) result = mixed_bits(result ^ place);
  return static_cast<std::size_t>(result);
}

LiveValues::LiveValues(const ValueAlgebra& algebra, const ValueMachine& machine)
    : problem_(algebra, machine), moves_(problem_) {
  if (machine.scratch_cells != 0 || machine.most_loads) {
    throw std::invalid_argument(
        "live sets of values support neither scratch cells nor a limit on loads");
  }
  std::set<std::tuple<std::string_view, Operands, int, std::string>> seen;
  for (const ValueProblem::Operation& operation : problem_.operations()) {
    const ValueOperation& of = algebra.operations[static_cast<std::size_t>(operation.number)];
    // Operations commute if they differ only in the order of operands and make the same value.
    Operands sorted = operation.operands;
    std::sort(sorted.begin(), sorted.end());
    if (!seen.insert({of.mnemonic, sorted, of.result, of.constant}).second) continue;
    operations_.push_back(operation);
    if (operation.cost == 0) {
      throw std::invalid_argument(std::string(of.mnemonic) +
                                  " costs nothing: the number of programs is infinite");
    }
  }
  number({});
}

State LiveValues::number(const ValueState& state) {
  const auto [place, is_new] = numbers_.try_emplace(state, states_.size());
  if (is_new) {
    states_.push_back(state);
    bounds_.push_back(-1);
  }
  return place->second;
}

std::size_t LiveValues::bytes() const { return states_.size() * kBytesOfLiveState; }

State LiveValues::state(const std::vector<int>& live, std::uint32_t stored) {
  ValueState result;
  result.stored = stored;
  for (const int value : live) {
    if (!is_live(result, value)) result = with(result, value);
  }
  return number(result);
}

bool LiveValues::is_goal(State state) const {
  return moves_.is_goal(at(state)) && at(state).registers[0] == 0;
}

std::int64_t LiveValues::bound(State state) const {
  std::int64_t& known = bounds_[static_cast<std::size_t>(state)];
  if (known < 0) {
    const int left = std::popcount(problem_.all_outputs() & ~at(state).stored);
    known = moves_.bound(at(state)).cost + problem_.store_cost() * left;
  }
  return known;
}

State LiveValues::representative(State state) {
  return number(moves_.canonical(ValueState(at(state))));
}

ValueState LiveValues::without(ValueState state, int value) {
  const auto place = std::find(state.registers.begin(), state.registers.end(), place_of(value));
  std::move(place + 1, state.registers.end(), place);
  state.registers.back() = 0;
  return state;
}

bool LiveValues::has_room(const ValueState& state) const {
  return state.registers[static_cast<std::size_t>(problem_.machine().registers - 1)] == 0;
}

void LiveValues::without_one(State from, std::vector<State>& result) {
  result.clear();
  const ValueState live = at(from);
  for (const std::uint16_t place : live.registers) {
    if (place != 0) result.push_back(number(without(live, place - 1)));
  }
}

void LiveValues::push(const ValueState& next, std::int64_t cost, std::vector<LiveStep>& result) {
  const ValueSet useful = problem_.useful(next.stored);
  for (const std::uint16_t place : next.registers) {
    if (place != 0 && !useful.has(place - 1)) return;
  }
  result.push_back({number(next), cost});
}

void LiveValues::steps(State state, std::vector<LiveStep>& result) {
  result.clear();
  const ValueState from = at(state);
  const ValueAlgebra& algebra = problem_.algebra();
  const Operands none{kNoValue, kNoValue, kNoValue};
  for (const int input : algebra.inputs) make(from, none, input, problem_.load_cost(), result);
  for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
    if ((from.stored >> i & 1) == 0) continue;
    make(from, none, algebra.outputs[i], problem_.load_cost(), result);
  }
  for (const ValueProblem::Operation& operation : operations_) {
    make(from, operation.operands, operation.result, operation.cost, result);
  }
  store(from, result);
}

void LiveValues::store(const ValueState& from, std::vector<LiveStep>& result) {
  const ValueAlgebra& algebra = problem_.algebra();
  for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
    const int value = algebra.outputs[i];
    if ((from.stored >> i & 1) != 0 || !is_live(from, value)) continue;
    ValueState next = from;
    next.stored |= std::uint32_t{1} << i;
    push(next, problem_.store_cost(), result);
    push(without(next, value), problem_.store_cost(), result);
  }
}

void LiveValues::make(const ValueState& from, const Operands& operands, int made, std::int64_t cost,
                      std::vector<LiveStep>& result) {
  std::vector<int> different;
  for (const int operand : operands) {
    if (operand == kNoValue) continue;
    if (!is_live(from, operand)) return;
    if (std::find(different.begin(), different.end(), operand) == different.end()) {
      different.push_back(operand);
    }
  }
  for (unsigned lost = 0; lost < 1U << different.size(); ++lost) {
    ValueState next = from;
    for (std::size_t i = 0; i < different.size(); ++i) {
      if ((lost >> i & 1) != 0) next = without(next, different[i]);
    }
    if (is_live(next, made) || !has_room(next)) continue;  // a second copy is useless
    push(with(next, made), cost, result);
  }
}

}  // namespace flashlab::optimal::detail
