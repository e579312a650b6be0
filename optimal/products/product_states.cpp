#include "optimal/products/product_states.hpp"

#include <algorithm>
#include <numeric>

namespace flashlab::optimal::detail {
namespace {

/// The cost of a start, before the first move.
constexpr std::int64_t kMaxStartCost = kMaxMoveCost << 8;

constexpr State low_bits(int count) { return count >= 64 ? ~State{0} : (State{1} << count) - 1; }

}  // namespace

bool ProductStates::fits(const MatrixProduct& product, const ProductMachine& machine) {
  const int spills = machine.allow_spills ? product.num_outputs() : 0;
  return product.num_terms() + product.num_inputs() + spills <= 64;
}

std::int64_t ProductStates::unit(const ProductMachine& machine, std::int64_t differences) {
  if (!machine.allow_spills && differences == 0) return machine.costs.load;
  const std::int64_t stores = machine.allow_spills ? machine.costs.store : 0;
  return std::max<std::int64_t>(1, std::gcd(std::gcd(machine.costs.load, stores), differences));
}

bool ProductStates::costs_fit(const ProductMachine& machine, std::int64_t differences,
                              std::int64_t most_excess) {
  const std::int64_t stores = machine.allow_spills ? machine.costs.store : 0;
  if (!machine.allow_spills && differences == 0) return true;
  const std::int64_t one = unit(machine, differences);
  return machine.costs.load + stores <= kMaxMoveCost * one && most_excess <= kMaxStartCost * one;
}

ProductStates::ProductStates(const MatrixProduct& product, const ProductMachine& machine,
                             std::int64_t differences)
    : product_(product),
      machine_(machine),
      most_sums_(std::max(0, machine.registers - 2)),
      num_terms_(product.num_terms()),
      num_inputs_(product.num_inputs()),
      num_outputs_(product.num_outputs()) {
  all_terms_ = low_bits(num_terms_);
  all_inputs_ = low_bits(num_inputs_) << num_terms_;
  unit_ = unit(machine, differences);
  if (unit_ != 0) load_cost_ = machine.costs.load / unit_;  // otherwise free loads are counted
  if (machine.allow_spills) {
    all_spills_ = low_bits(num_outputs_) << (num_terms_ + num_inputs_);
    store_cost_ = machine.costs.store / unit_;
  }
  output_terms_.resize(static_cast<std::size_t>(num_outputs_));
  input_terms_.resize(static_cast<std::size_t>(num_inputs_));
  for (int term = 0; term < num_terms_; ++term) {
    const State bit = State{1} << term;
    output_terms_[static_cast<std::size_t>(product.output_of(term))] |= bit;
    input_terms_[static_cast<std::size_t>(product.factor_a(term))] |= bit;
    input_terms_[static_cast<std::size_t>(product.factor_b(term))] |= bit;
  }
}

std::int64_t ProductStates::cost(const Move& move) const {
  const bool loads = move.kind == MoveKind::kLoad || move.kind == MoveKind::kReload;
  // Every program has the store of a one-term output.
  const bool stores_start = move.kind == MoveKind::kStartStored && product_.inner > 1;
  return (loads ? load_cost_ : 0) + (stores_start ? store_cost_ : 0) +
         (move.spilled != kNothing ? store_cost_ : 0);
}

std::int64_t ProductStates::to_cycles(std::int64_t cost) const {
  const ProductCosts& costs = machine_.costs;
  const std::int64_t every_program = num_outputs_ * (costs.first_product + costs.store) +
                                     (num_terms_ - num_outputs_) * costs.next_product;
  return every_program + cost * unit_;
}

std::int64_t ProductStates::bound(State state) const {
  const State missing = needed_inputs(state) & ~state;
  return load_cost_ * (std::popcount(missing) + std::popcount(state & all_spills_));
}

std::uint64_t ProductStates::sums_in_registers(State state) const {
  std::uint64_t result = 0;
  for (int output = 0; output < num_outputs_; ++output) {
    const State all = terms_of_output(output), done = state & all;
    if (done != 0 && done != all && !is_spilled(state, output))
      result |= std::uint64_t{1} << output;
  }
  return result;
}

ProductStates::Use ProductStates::use(State state) const {
  return {std::popcount(held(state)), std::popcount(sums_in_registers(state))};
}

bool ProductStates::room_for_input(const Use& use) const {
  if (pinned()) return use.inputs < 2 && use.inputs < machine_.registers;
  return use.inputs + use.sums < machine_.registers;
}

bool ProductStates::room_for_sum(const Use& use) const {
  if (pinned()) return use.sums < machine_.registers - 2;
  return use.inputs + use.sums < machine_.registers;
}

State ProductStates::doable(State state) const {
  State by_a = 0, by_b = 0;
  const int inputs_of_a = product_.rows * product_.inner;
  for_each_bit(held(state) >> num_terms_, [&](int input) {
    (input < inputs_of_a ? by_a : by_b) |= input_terms_[static_cast<std::size_t>(input)];
  });
  return by_a & by_b & ~state;
}

State ProductStates::needed_inputs(State state) const {
  State result = 0;
  for (int input = 0; input < num_inputs_; ++input) {
    if ((input_terms_[static_cast<std::size_t>(input)] & ~state) != 0) result |= input_bit(input);
  }
  return result;
}

void ProductStates::moves(State state, std::vector<Move>& result) const {
  add_loads(state, result);
  add_sums(state, result);
}

void ProductStates::add_over_inputs(State state, Move move, std::vector<Move>& result) const {
  for_each_bit(held(state) >> num_terms_, [&](int input) {
    move.lost_input = input;
    result.push_back(move);
  });
}

void ProductStates::add_over_sums(State state, Move move, std::vector<Move>& result) const {
  if (!machine_.allow_spills) return;
  for_each_bit(sums_in_registers(state), [&](int output) {
    move.spilled = output;
    result.push_back(move);
  });
}

void ProductStates::add_loads(State state, std::vector<Move>& result) const {
  const bool room = room_for_input(use(state));
  for_each_bit((needed_inputs(state) & ~state) >> num_terms_, [&](int input) {
    const Move load{MoveKind::kLoad, input};
    if (room) {
      result.push_back(load);
    } else {
      add_over_inputs(state, load, result);
      if (!pinned()) add_over_sums(state, load, result);
    }
  });
}

void ProductStates::add_sums(State state, std::vector<Move>& result) const {
  const bool room = room_for_sum(use(state));
  const State can = doable(state);
  for (int output = 0; output < num_outputs_; ++output) {
    const State all = terms_of_output(output);
    if (is_spilled(state, output)) {
      const Move reload{MoveKind::kReload, output};
      // A finished sum is only stored, so any register will do.
      const bool is_finished = (state & all) == all;
      if (room || (is_finished && room_for_input(use(state)))) {
        result.push_back(reload);
      } else {
        if (!pinned() || is_finished) add_over_inputs(state, reload, result);
        add_over_sums(state, reload, result);
      }
    } else if ((state & all) == 0 && (can & all) != 0) {
      add_starts(state, can & all, result);
    }
  }
}

void ProductStates::add_starts(State state, State terms, std::vector<Move>& result) const {
  Move start{MoveKind::kStart, std::countr_zero(terms)};
  if (room_for_sum(use(state))) {
    result.push_back(start);  // the output's other terms follow at once
    return;
  }
  add_over_sums(state, start, result);
  if (pinned()) {
    start.kind = MoveKind::kStartStored;
    if (product_.inner > 1 && !machine_.allow_spills) return;
  }
  for_each_bit(held(state) >> num_terms_, [&](int input) {
    // A term with the lost input as a factor cannot be started afterwards.
    const State last_chance = terms & input_terms_[static_cast<std::size_t>(input)];
    start.item = std::countr_zero(last_chance != 0 ? last_chance : terms);
    start.lost_input = input;
    result.push_back(start);
  });
}

}  // namespace flashlab::optimal::detail
