#include "optimal/products/live_products.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace flashlab::optimal::detail {
namespace {

constexpr State bits(int first, int count) {
  const State low = count >= 64 ? ~State{0} : (State{1} << count) - 1;
  return count == 0 ? 0 : low << first;
}

}  // namespace

LiveProducts::LiveProducts(const MatrixProduct& product, const ProductMachine& machine)
    : product_(product),
      machine_(machine),
      pinned_(machine.operand_rule == toy::OperandRule::kPinned) {
  const int terms = product.num_terms(), outputs = product.num_outputs();
  first_input_ = terms;
  first_stored_ = first_input_ + product.num_inputs();
  first_spilled_ = first_stored_ + outputs;
  first_early_ = first_spilled_ + (machine.allow_spills ? outputs : 0);
  first_undecided_ = first_early_ + (pinned_ ? outputs : 0);
  num_bits_ = first_undecided_ + (pinned_ && machine.allow_spills ? outputs : 0);
  if (num_bits_ > 64) {
    throw std::invalid_argument("a live set of this product does not fit 64 bits");
  }
  all_terms_ = bits(0, terms);
  all_stored_ = bits(first_stored_, outputs);
  if (machine.allow_spills) all_spilled_ = bits(first_spilled_, outputs);
  if (pinned_) all_early_ = bits(first_early_, outputs);
  all_undecided_ = bits(first_undecided_, num_bits_ - first_undecided_);
  output_terms_.resize(static_cast<std::size_t>(outputs));
  input_terms_.resize(static_cast<std::size_t>(product.num_inputs()));
  for (int term = 0; term < terms; ++term) {
    output_terms_[static_cast<std::size_t>(product.output_of(term))] |= term_bit(term);
    input_terms_[static_cast<std::size_t>(product.factor_a(term))] |= term_bit(term);
    input_terms_[static_cast<std::size_t>(product.factor_b(term))] |= term_bit(term);
  }
  add_symmetries();
}

void LiveProducts::add_symmetries() {
  using Axes = std::array<std::vector<int>, 3>;  // rows, inner, columns: new position of each index
  const MatrixProduct& p = product_;
  const auto permutation = [&](const Axes& to, bool transposed) {
    std::vector<int> target(static_cast<std::size_t>(num_bits_));
    const auto place = [&](int bit) -> int& { return target[static_cast<std::size_t>(bit)]; };
    const auto moved = [&](int axis, int index) {
      return to[static_cast<std::size_t>(axis)][static_cast<std::size_t>(index)];
    };
    for (int i = 0; i < p.rows; ++i) {
      for (int k = 0; k < p.inner; ++k) {
        const int row = moved(0, i), inner = moved(1, k);
        place(first_input_ + p.input_a(i, k)) =
            first_input_ + (transposed ? p.input_b(inner, row) : p.input_a(row, inner));
      }
      for (int j = 0; j < p.columns; ++j) {
        const int row = moved(0, i), column = moved(2, j);
        const int output = p.output(i, j);
        const int new_output = transposed ? p.output(column, row) : p.output(row, column);
        for (const int first : {first_stored_, first_spilled_, first_early_, first_undecided_}) {
          if (first + p.num_outputs() > num_bits_) continue;
          place(first + output) = first + new_output;
        }
        for (int k = 0; k < p.inner; ++k) {
          place(p.term(i, k, j)) = new_output * p.inner + moved(1, k);
        }
      }
    }
    for (int k = 0; k < p.inner; ++k) {
      for (int j = 0; j < p.columns; ++j) {
        const int inner = moved(1, k), column = moved(2, j);
        place(first_input_ + p.input_b(k, j)) =
            first_input_ + (transposed ? p.input_a(column, inner) : p.input_b(inner, column));
      }
    }
    return BitPermutation(target);
  };
  Axes same;
  const std::array<int, 3> lengths{p.rows, p.inner, p.columns};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    same[axis].resize(static_cast<std::size_t>(lengths[axis]));
    std::iota(same[axis].begin(), same[axis].end(), 0);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t a = 0; a < same[axis].size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        Axes to = same;
        std::swap(to[axis][a], to[axis][b]);
        exchanges_.push_back(permutation(to, false));
      }
    }
  }
  if (p.rows == p.columns) exchanges_.push_back(permutation(same, true));
}

State LiveProducts::representative(State state) {
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const BitPermutation& exchange : exchanges_) {
      const State other = exchange(state);
      if (other >= state) continue;
      state = other;
      is_new = true;
    }
  }
  return state;
}

std::int64_t LiveProducts::bound(State state) const {
  const ProductCosts& costs = machine_.costs;
  std::int64_t result = costs.next_product * std::popcount(all_terms_ & ~state) +
                        costs.store * std::popcount(all_stored_ & ~state) +
                        costs.load * std::popcount(state & all_spilled_);
  for (int output = 0; output < product_.num_outputs(); ++output) {
    const State all = terms_of(output), done = state & all;
    if (done == 0) result += costs.first_product - costs.next_product;
    // A sum in R0 or R1 is stored to DRAM, and loaded again if it is unfinished.
    const bool is_early = pinned_ && (state & early_bit(output)) != 0;
    if (is_early && done != all) result += costs.store + costs.load;
  }
  for (int input = 0; input < product_.num_inputs(); ++input) {
    if ((state & input_bit(input)) == 0 && is_needed(state, input)) result += costs.load;
  }
  return result;
}

/// Counts the sums in registers, including R0 and R1.
int LiveProducts::live_sums(State state) const {
  int result = 0;
  for (int output = 0; output < product_.num_outputs(); ++output) {
    const bool is_made = (state & terms_of(output)) != 0;
    if (is_made && (state & stored_bit(output)) == 0 && !is_spilled(state, output)) ++result;
  }
  return result;
}

int LiveProducts::live_inputs(State state) const {
  return std::popcount(state & bits(first_input_, product_.num_inputs()));
}

bool LiveProducts::room_for_factors(State state) const {
  const int early = std::popcount(state & all_early_);
  return live_inputs(state) + early <= std::min(2, machine_.registers);
}

bool LiveProducts::room_beside_factors(State state) const {
  const int early = std::popcount(state & all_early_);
  return live_sums(state) - early <= std::max(0, machine_.registers - 2);
}

bool LiveProducts::settle(State& state) const {
  if (!pinned_) return live_inputs(state) + live_sums(state) <= machine_.registers;
  const State undecided = state & all_undecided_;
  if (undecided == 0) return room_for_factors(state) && room_beside_factors(state);
  const State elsewhere = state & ~undecided;
  const State early = elsewhere | undecided >> (first_undecided_ - first_early_);
  const bool can_be_early = room_for_factors(early) && room_beside_factors(early);
  const bool can_be_elsewhere = room_for_factors(elsewhere) && room_beside_factors(elsewhere);
  if (!(can_be_early && can_be_elsewhere)) state = can_be_early ? early : elsewhere;
  return can_be_early || can_be_elsewhere;
}

void LiveProducts::push(State next, std::int64_t cost, std::vector<LiveStep>& result) const {
  if (settle(next)) result.push_back({next, cost});
}

void LiveProducts::steps(State state, std::vector<LiveStep>& result) {
  result.clear();
  loads(state, result);
  stores(state, result);
  if ((state & all_early_) != 0) return;  // R0 or R1 holds a sum, not a factor
  for_each_bit(all_terms_ & ~state, [&](int term) { multiply(state, term, result); });
}

void LiveProducts::without_one(State state, std::vector<State>& result) {
  result.clear();
  for_each_bit(state & bits(first_input_, product_.num_inputs()),
               [&](int bit) { result.push_back(state & ~(State{1} << bit)); });
  for (int output = 0; output < product_.num_outputs(); ++output) {
    if ((state & terms_of(output)) == 0 || (state & stored_bit(output)) != 0) continue;
    State rest = state & ~terms_of(output);
    if (machine_.allow_spills) rest &= ~spilled_bit(output);
    if (pinned_) rest &= ~early_bit(output);
    if (all_undecided_ != 0) rest &= ~undecided_bit(output);
    result.push_back(rest);
  }
}

void LiveProducts::loads(State state, std::vector<LiveStep>& result) const {
  for (int input = 0; input < product_.num_inputs(); ++input) {
    const State next = state | input_bit(input);
    if (next != state && is_needed(state, input)) push(next, machine_.costs.load, result);
  }
  for (int output = 0; output < product_.num_outputs(); ++output) {
    if (!is_spilled(state, output)) continue;
    push(state & ~spilled_bit(output), machine_.costs.load, result);
  }
}

void LiveProducts::stores(State state, std::vector<LiveStep>& result) const {
  for (int output = 0; output < product_.num_outputs(); ++output) {
    const State all = terms_of(output), done = state & all;
    if (done == 0 || (state & stored_bit(output)) != 0 || is_spilled(state, output)) continue;
    if (done != all && !machine_.allow_spills) continue;
    State next = state | (done == all ? stored_bit(output) : spilled_bit(output));
    if (pinned_) next &= ~early_bit(output);
    if (all_undecided_ != 0) next &= ~undecided_bit(output);
    push(next, machine_.costs.store, result);
  }
}

void LiveProducts::multiply(State state, int term, std::vector<LiveStep>& result) const {
  const int a = product_.factor_a(term), b = product_.factor_b(term);
  const State factors = input_bit(a) | input_bit(b);
  const int output = product_.output_of(term);
  if ((state & factors) != factors || is_spilled(state, output)) return;
  const bool is_first = (state & terms_of(output)) == 0;
  const std::int64_t cost = is_first ? machine_.costs.first_product : machine_.costs.next_product;
  const State made = (state | term_bit(term)) & ~all_undecided_;  // elsewhere; R0, R1: factors
  const bool is_finished = (made & terms_of(output)) == terms_of(output);
  for (const State lost : {State{0}, input_bit(a), input_bit(b), factors}) {
    State next = made & ~lost;
    // An input is kept only for a later use.
    if ((next & input_bit(a)) != 0 && !is_needed(made, a)) continue;
    if ((next & input_bit(b)) != 0 && !is_needed(made, b)) continue;
    if (pinned_ && machine_.allow_spills) {
      next |= undecided_bit(output);
    } else if (pinned_ && is_finished && !room_beside_factors(next)) {
      next |= early_bit(output);
    }
    push(next, cost, result);
  }
}

}  // namespace flashlab::optimal::detail
