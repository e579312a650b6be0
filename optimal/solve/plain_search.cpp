#include "optimal/solve/plain_search.hpp"

#include <algorithm>
#include <cstring>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace flashlab::optimal {

PlainMachine::PlainMachine(const MatrixProduct& product, const ProductMachine& machine)
    : product_(product), machine_(machine) {
  first_sum_ = 1 + product.num_inputs();
  sums_each_ = (1 << product.inner) - 1;
  if (product.inner > 6 || product.num_outputs() * sums_each_ > 64) {
    throw std::invalid_argument("the plain search has room for 64 partial sums");
  }
  const unsigned all_terms = static_cast<unsigned>(sums_each_);
  for (int output = 0; output < product.num_outputs(); ++output) {
    all_outputs_ |= stored_bit(value_of_sum(output, all_terms));
  }
}

PlainState PlainMachine::initial() const {
  return {std::vector<std::uint8_t>(static_cast<std::size_t>(machine_.registers), 0), 0};
}

PlainState PlainMachine::normal(PlainState state) const {
  const bool pinned = machine_.operand_rule == toy::OperandRule::kPinned;
  const std::size_t first = pinned ? std::min<std::size_t>(2, state.registers.size()) : 0;
  std::sort(state.registers.begin() + static_cast<std::ptrdiff_t>(first), state.registers.end());
  return state;
}

bool PlainMachine::is_goal(const PlainState& state) const {
  return (state.stored & all_outputs_) == all_outputs_;
}

PlainMachine::Sum PlainMachine::sum_of(std::uint8_t value) const {
  const int number = value - first_sum_;
  return {number / sums_each_, static_cast<unsigned>(number % sums_each_) + 1};
}

std::optional<int> PlainMachine::term_of(std::uint8_t a, std::uint8_t b) const {
  for (int term = 0; term < product_.num_terms(); ++term) {
    const std::uint8_t x = value_of_input(product_.factor_a(term));
    const std::uint8_t y = value_of_input(product_.factor_b(term));
    if ((a == x && b == y) || (a == y && b == x)) return term;
  }
  return std::nullopt;
}

void PlainMachine::write(const PlainState& state, std::uint8_t value, std::int64_t cycles,
                         const Visit& visit) const {
  for (std::size_t destination = 0; destination < state.registers.size(); ++destination) {
    PlainState next = state;
    next.registers[destination] = value;
    visit(normal(std::move(next)), cycles);
  }
}

void PlainMachine::loads(const PlainState& state, const Visit& visit) const {
  for (int input = 0; input < product_.num_inputs(); ++input) {
    write(state, value_of_input(input), machine_.costs.load, visit);
  }
  if (!machine_.allow_spills) return;
  for (int number = 0; number < product_.num_outputs() * sums_each_; ++number) {
    const auto value = static_cast<std::uint8_t>(first_sum_ + number);
    if ((state.stored & stored_bit(value)) != 0) write(state, value, machine_.costs.load, visit);
  }
}

void PlainMachine::stores(const PlainState& state, const Visit& visit) const {
  for (const std::uint8_t value : state.registers) {
    if (!is_sum(value)) continue;
    const bool is_output = (stored_bit(value) & all_outputs_) != 0;
    if (!is_output && !machine_.allow_spills) continue;
    PlainState next = state;
    next.stored |= stored_bit(value);
    visit(std::move(next), machine_.costs.store);
  }
}

void PlainMachine::products(const PlainState& state, int term, const Visit& visit) const {
  const int output = product_.output_of(term);
  const unsigned bit = 1U << (term % product_.inner);
  write(state, value_of_sum(output, bit), machine_.costs.first_product, visit);
  for (const std::uint8_t value : state.registers) {
    if (!is_sum(value)) continue;
    const Sum sum = sum_of(value);
    if (sum.output != output || (sum.terms & bit) != 0) continue;
    write(state, value_of_sum(output, sum.terms | bit), machine_.costs.next_product, visit);
  }
}

void PlainMachine::moves(const PlainState& state, const Visit& visit) const {
  loads(state, visit);
  stores(state, visit);
  const bool pinned = machine_.operand_rule == toy::OperandRule::kPinned;
  const std::size_t factors =
      pinned ? std::min<std::size_t>(2, state.registers.size()) : state.registers.size();
  for (std::size_t a = 0; a < factors; ++a) {
    for (std::size_t b = a + 1; b < factors; ++b) {
      const auto term = term_of(state.registers[a], state.registers[b]);
      if (term) products(state, *term, visit);
    }
  }
}

std::string plain_key(const PlainState& state) {
  std::string key(state.registers.begin(), state.registers.end());
  char stored[sizeof state.stored];
  std::memcpy(stored, &state.stored, sizeof stored);
  return key.append(stored, sizeof stored);
}

std::optional<PlainAnswer> plain_search(const MatrixProduct& product, const ProductMachine& machine,
                                        std::uint64_t max_states) {
  const PlainMachine plain(product, machine);
  std::unordered_map<std::string, std::int64_t> best;
  using Entry = std::pair<std::int64_t, PlainState>;
  const auto later = [](const Entry& a, const Entry& b) { return a.first > b.first; };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> open(later);
  best[plain_key(plain.initial())] = 0;
  open.emplace(0, plain.initial());
  while (!open.empty()) {
    const auto [cycles, state] = open.top();
    open.pop();
    if (plain.is_goal(state)) return PlainAnswer{cycles, best.size()};
    if (cycles > best.at(plain_key(state))) continue;  // reached more cheaply in the meantime
    if (best.size() > max_states) return std::nullopt;
    plain.moves(state, [&, so_far = cycles](PlainState next, std::int64_t cost) {
      const auto [place, is_new] = best.try_emplace(plain_key(next), so_far + cost);
      if (!is_new && place->second <= so_far + cost) return;
      place->second = so_far + cost;
      open.emplace(so_far + cost, std::move(next));
    });
  }
  return PlainAnswer{std::nullopt, best.size()};
}

}  // namespace flashlab::optimal
