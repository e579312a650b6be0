#include "optimal/products/symmetry.hpp"

#include <algorithm>
#include <numeric>

namespace flashlab::optimal::detail {
namespace {

/// Longer axes keep their order, because there are too many permutations to try for each state.
constexpr int kLongestPermutedAxis = 5;

}  // namespace

BitPermutation::BitPermutation(const std::vector<int>& target)
    : num_bytes_((target.size() + 7) / 8), table_(num_bytes_) {
  for (std::size_t byte = 0; byte < num_bytes_; ++byte) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      State result = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        if ((bits >> i & 1) == 0 || 8 * byte + i >= target.size()) continue;
        result |= State{1} << target[8 * byte + i];
      }
      table_[byte][bits] = result;
    }
  }
}

Symmetry::Symmetry(const ProductStates& states) : states_(states), product_(states.product()) {
  for (int output = 0; output < product_.num_outputs(); ++output) {
    all_terms_ |= states.terms_of_output(output);
  }
  for (int axis = 0; axis < 3; ++axis) axes_[static_cast<std::size_t>(axis)] = make_axis(axis);
  if (product_.rows == product_.columns) {
    std::array<std::vector<int>, 3> same;
    for (int axis = 0; axis < 3; ++axis) {
      auto& order = same[static_cast<std::size_t>(axis)];
      order.resize(static_cast<std::size_t>(axis_length(axis)));
      std::iota(order.begin(), order.end(), 0);
    }
    transposition_.emplace_back(targets(same, true));
  }
}

int Symmetry::axis_length(int axis) const {
  return std::array{product_.rows, product_.inner,
                    product_.columns}[static_cast<std::size_t>(axis)];
}

std::vector<int> Symmetry::targets(const std::array<std::vector<int>, 3>& new_index,
                                   bool transposed) const {
  const MatrixProduct& product = product_;
  const int terms = product.num_terms(), inputs = product.num_inputs();
  // Without spills, a state has no bits for outputs, and 64 bits have no room for them.
  const int spills = states_.machine().allow_spills ? product.num_outputs() : 0;
  std::vector<int> result(static_cast<std::size_t>(terms + inputs + spills));
  const auto set = [&](int from, int to) {
    if (from < static_cast<int>(result.size())) result[static_cast<std::size_t>(from)] = to;
  };
  const auto at = [&](int axis, int index) {
    return new_index[static_cast<std::size_t>(axis)][static_cast<std::size_t>(index)];
  };
  for (int i = 0; i < product.rows; ++i) {
    for (int j = 0; j < product.columns; ++j) {
      const int row = transposed ? at(kColumns, j) : at(kRows, i);
      const int column = transposed ? at(kRows, i) : at(kColumns, j);
      set(terms + inputs + product.output(i, j), terms + inputs + product.output(row, column));
      for (int p = 0; p < product.inner; ++p) {
        const int inner = at(kInner, p);
        set(product.term(i, p, j), product.term(row, inner, column));
        set(terms + product.input_a(i, p),
            terms +
                (transposed ? product.input_b(inner, at(kRows, i)) : product.input_a(row, inner)));
        set(terms + product.input_b(p, j),
            terms + (transposed ? product.input_a(at(kColumns, j), inner)
                                : product.input_b(inner, column)));
      }
    }
  }
  return result;
}

Symmetry::Axis Symmetry::make_axis(int axis) const {
  Axis result;
  result.masks.resize(static_cast<std::size_t>(axis_length(axis)));
  for (int term = 0; term < product_.num_terms(); ++term) {
    const int output = product_.output_of(term);
    const std::array indices{output / product_.columns, term % product_.inner,
                             output % product_.columns};
    State& mask = result.masks[static_cast<std::size_t>(indices[static_cast<std::size_t>(axis)])];
    mask |= State{1} << term;
    if (axis != kColumns) mask |= states_.input_bit(product_.factor_a(term));
    if (axis != kRows) mask |= states_.input_bit(product_.factor_b(term));
  }
  std::array<std::vector<int>, 3> new_index;
  for (int other = 0; other < 3; ++other) {
    auto& order = new_index[static_cast<std::size_t>(other)];
    order.resize(static_cast<std::size_t>(axis_length(other)));
    std::iota(order.begin(), order.end(), 0);
  }
  auto& moved = new_index[static_cast<std::size_t>(axis)];
  std::vector<int> order = moved;
  do {
    for (std::size_t position = 0; position < order.size(); ++position) {
      moved[static_cast<std::size_t>(order[position])] = static_cast<int>(position);
    }
    result.orders.push_back(order);
    result.permutations.emplace_back(targets(new_index, false));
  } while (axis_length(axis) <= kLongestPermutedAxis &&
           std::next_permutation(order.begin(), order.end()));
  return result;
}

unsigned Symmetry::weight(State mask, State state) const {
  const State part = state & mask;
  return static_cast<unsigned>(std::popcount(part & all_terms_) * 64 +
                               std::popcount(part & ~all_terms_));
}

void Symmetry::sorting(int axis, State state, std::vector<const BitPermutation*>& result) const {
  const Axis& all = axes_[static_cast<std::size_t>(axis)];
  std::array<unsigned, 64> weights;
  for (std::size_t i = 0; i < all.masks.size(); ++i) weights[i] = weight(all.masks[i], state);
  result.clear();
  for (std::size_t number = 0; number < all.orders.size(); ++number) {
    const std::vector<int>& order = all.orders[number];
    const bool sorts =
        all.orders.size() == 1 || std::is_sorted(order.begin(), order.end(), [&](int a, int b) {
          return weights[static_cast<std::size_t>(a)] < weights[static_cast<std::size_t>(b)];
        });
    if (sorts) result.push_back(&all.permutations[number]);
  }
}

State Symmetry::smallest(State state) const {
  thread_local std::array<std::vector<const BitPermutation*>, 3> candidates;
  for (int axis = 0; axis < 3; ++axis) {
    sorting(axis, state, candidates[static_cast<std::size_t>(axis)]);
  }
  State result = ~State{0};
  for (const BitPermutation* rows : candidates[kRows]) {
    const State by_rows = (*rows)(state);
    for (const BitPermutation* inner : candidates[kInner]) {
      const State by_inner = (*inner)(by_rows);
      for (const BitPermutation* columns : candidates[kColumns]) {
        result = std::min(result, (*columns)(by_inner));
      }
    }
  }
  return result;
}

State Symmetry::canonical(State state) const {
  const State result = smallest(state);
  return transposition_.empty() ? result : std::min(result, smallest(transposition_[0](state)));
}

}  // namespace flashlab::optimal::detail
