#include "optimal/detail/value_space.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace flashlab::optimal::detail {
namespace {

/// A path has fewer than 2^12 moves, and its cost fits 32 bits.
constexpr std::int64_t kMaxCost = 1 << 20;

std::int64_t checked_cost(const toy::CostTable& costs, std::string_view mnemonic) {
  const std::int64_t cycles = scalar_cycles(costs, mnemonic);
  if (cycles > kMaxCost) throw std::invalid_argument("an instruction costs too much to add up");
  return cycles;
}

}  // namespace

ValueSpace::ValueSpace(const ValueAlgebra& algebra, int registers, const toy::CostTable& costs)
    : algebra_(algebra),
      registers_(registers),
      load_(checked_cost(costs, "LOAD")),
      store_(checked_cost(costs, "STORE")) {
  if (registers < 1 || registers > kMostRegisters || algebra.num_values > kMostValues ||
      algebra.outputs.size() > kMostOutputs) {
    throw std::invalid_argument("a state of this computation does not fit 64 bits");
  }
  const auto count = static_cast<std::size_t>(algebra.num_values);
  cheapest_.assign(count, kUnknownCost);
  makers_.resize(count);
  uses_.resize(count);
  is_operand_.assign(count, false);
  is_input_.assign(count, false);
  output_bits_.assign(count, 0);
  for (const int input : algebra.inputs) {
    is_input_[static_cast<std::size_t>(input)] = true;
    cheapest_[static_cast<std::size_t>(input)] = load_;
  }
  for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
    output_bits_[static_cast<std::size_t>(algebra.outputs[i])] |= 1U << i;
    all_outputs_ |= 1U << i;
  }
  for (const ValueOperation& operation : algebra.operations) {
    const auto result = static_cast<std::size_t>(operation.result);
    const auto a = static_cast<std::size_t>(operation.a);
    const int number = static_cast<int>(operation_costs_.size());
    operation_costs_.push_back(checked_cost(costs, operation.mnemonic));
    cheapest_[result] = std::min(cheapest_[result], operation_costs_.back());
    makers_[result].push_back(number);
    uses_[a].push_back(number);
    is_operand_[a] = true;
    if (operation.b >= 0) is_operand_[static_cast<std::size_t>(operation.b)] = true;
  }
  order_ = from_the_inputs();
  cache_.resize(std::size_t{1} << kCacheBits);
}

std::vector<int> ValueSpace::from_the_inputs() const {
  std::vector<int> result = algebra_.inputs;
  std::vector<bool> made = is_input_;
  const auto is_made = [&](int value) {
    return value < 0 || made[static_cast<std::size_t>(value)];
  };
  for (std::size_t before = 0; before != result.size();) {
    before = result.size();
    for (const ValueOperation& operation : algebra_.operations) {
      if (is_made(operation.result) || !is_made(operation.a) || !is_made(operation.b)) continue;
      made[static_cast<std::size_t>(operation.result)] = true;
      result.push_back(operation.result);
    }
  }
  return result;
}

ValueSpace::Registers ValueSpace::unpack(State state) {
  Registers result;
  for (std::uint8_t& value : result) {
    value = static_cast<std::uint8_t>(state);
    state >>= 8;
  }
  return result;
}

State ValueSpace::pack(Registers registers, unsigned stored) {
  std::sort(registers.begin(), registers.end(), std::greater<>());
  State result = stored;
  for (auto value = registers.rbegin(); value != registers.rend(); ++value) {
    result = result << 8 | *value;
  }
  return result;
}

ValueSpace::Values ValueSpace::held(State state) const {
  Values result;
  for (const std::uint8_t value : unpack(state)) {
    if (value != 0) result.set(value - 1U);
  }
  return result;
}

std::int64_t ValueSpace::to_cycles(std::int64_t cost) const {
  return cost + store_ * static_cast<std::int64_t>(algebra_.outputs.size());
}

int ValueSpace::work_left(State state) const {
  return std::popcount(all_outputs_ & ~stored(state));
}

std::int64_t ValueSpace::bound(State state) const {
  const std::size_t place = (state * 0x9E3779B97F4A7C15U) >> (64 - kCacheBits);
  Known& known = cache_[place];
  if (known.state != state || known.bound < 0) known = {state, computed_bound(state)};
  return known.bound;
}

std::int64_t ValueSpace::computed_bound(State state) const {
  const Values have = held(state);
  const auto count = static_cast<std::size_t>(algebra_.num_values);
  // By value: what every way to it makes. From all that is possible down, until nothing changes.
  thread_local std::vector<Values> landmarks;
  landmarks.assign(count, Values().set());
  for (bool changes = true; changes;) {
    changes = false;
    for (const int number : order_) {
      const auto value = static_cast<std::size_t>(number);
      Values always = Values().set();
      if (have.test(value) || is_input_[value]) always.reset();
      for (const int maker : makers_[value]) {
        const ValueOperation& operation = algebra_.operations[static_cast<std::size_t>(maker)];
        Values way = landmarks[static_cast<std::size_t>(operation.a)];
        if (operation.b >= 0) way |= landmarks[static_cast<std::size_t>(operation.b)];
        always &= way;
        if (always.none()) break;
      }
      if (!have.test(value)) always.set(value);
      if (always != landmarks[value]) {
        landmarks[value] = always;
        changes = true;
      }
    }
  }
  Values needed;
  for (std::size_t i = 0; i < algebra_.outputs.size(); ++i) {
    if ((stored(state) >> i & 1) != 0) continue;
    needed |= landmarks[static_cast<std::size_t>(algebra_.outputs[i])];
  }
  std::int64_t result = 0;
  for (std::size_t value = 0; value < count; ++value) {
    if (needed.test(value)) result += cheapest_[value];
  }
  return result;
}

void ValueSpace::add(State state, ValueMove move, std::vector<ValueMove>& result) const {
  const Registers registers = unpack(state);
  if (registers[static_cast<std::size_t>(registers_ - 1)] == 0) {  // sorted: the last is free
    result.push_back(move);
    return;
  }
  for (int i = 0; i < registers_; ++i) {
    move.lost = registers[static_cast<std::size_t>(i)] - 1;
    result.push_back(move);
  }
}

void ValueSpace::moves(State state, std::vector<ValueMove>& result) const {
  const Values have = held(state);
  const auto is_new = [&](int value) {
    const unsigned outputs = output_bits_[static_cast<std::size_t>(value)];
    const bool is_done = is_only_output(value) && (outputs & ~stored(state)) == 0;
    return !have.test(static_cast<std::size_t>(value)) && !is_done;
  };
  for (const int input : algebra_.inputs) {
    if (is_new(input)) add(state, {-1, input, -1, load_}, result);
  }
  for (const std::uint8_t held_value : unpack(state)) {
    if (held_value == 0) continue;
    for (const int number : uses_[held_value - 1U]) {
      const ValueOperation& operation = algebra_.operations[static_cast<std::size_t>(number)];
      const bool can = operation.b < 0 || have.test(static_cast<std::size_t>(operation.b));
      if (!can || !is_new(operation.result)) continue;
      add(state, {number, operation.result, -1, operation_cost(number)}, result);
    }
  }
}

State ValueSpace::apply(State state, const ValueMove& move) const {
  Registers registers = unpack(state);
  const auto lost = static_cast<std::uint8_t>(move.lost + 1);  // 0, a free one, for -1
  std::uint8_t& place = *std::find(registers.begin(), registers.end(), lost);
  place = is_only_output(move.value) ? std::uint8_t{0} : static_cast<std::uint8_t>(move.value + 1);
  return pack(registers, stored(state) | output_bits_[static_cast<std::size_t>(move.value)]);
}

State ValueSpace::canonical(State state) const {
  State result = ~State{0};
  const Registers registers = unpack(state);
  for (const std::vector<int>& renumbered : algebra_.symmetries) {
    Registers moved{};
    for (std::size_t i = 0; i < registers.size(); ++i) {
      if (registers[i] == 0) continue;
      moved[i] = static_cast<std::uint8_t>(renumbered[registers[i] - 1U] + 1);
    }
    unsigned outputs = 0;
    for (std::size_t i = 0; i < algebra_.outputs.size(); ++i) {
      if ((stored(state) >> i & 1) == 0) continue;
      const int value = renumbered[static_cast<std::size_t>(algebra_.outputs[i])];
      outputs |= output_bits_[static_cast<std::size_t>(value)];
    }
    result = std::min(result, pack(moved, outputs));
  }
  return result;
}

void ValueSpace::successors(State state, std::int64_t limit, std::vector<Successor>& result) {
  result.clear();
  moves_.clear();
  moves(state, moves_);
  for (const ValueMove& move : moves_) {
    if (move.cost >= limit) continue;
    const State next = canonical(apply(state, move));
    result.push_back({next, static_cast<std::uint32_t>(move.cost), bound(next)});
    if (move.cost + result.back().bound >= limit) result.pop_back();
  }
}

}  // namespace flashlab::optimal::detail
