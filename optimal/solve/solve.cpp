#include "optimal/solve/solve.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "optimal/products/product_starts.hpp"
#include "optimal/products/product_states.hpp"
#include "optimal/products/symmetry.hpp"
#include "optimal/products/witness.hpp"
#include "optimal/search/checkpoint.hpp"
#include "optimal/search/search.hpp"
#include "optimal/solve/answer_of.hpp"

namespace flashlab::optimal {
namespace {

using detail::State;

void check_product(const MatrixProduct& product, const ProductMachine& machine) {
  if (product.rows < 1 || product.inner < 1 || product.columns < 1 || machine.registers < 1) {
    throw std::invalid_argument("a product and a machine have sizes of at least 1");
  }
  if (!detail::ProductStates::fits(product, machine)) {
    throw std::invalid_argument("a state of this product does not fit 64 bits");
  }
  if (!detail::ProductStates::costs_fit(machine)) {
    throw std::invalid_argument("the costs of LOAD and STORE are too far apart");
  }
}

/// The states of a product, one from each class.
class ProductSpace final : public detail::SearchSpace<State> {
 public:
  ProductSpace(const detail::ProductStates& states, const detail::Symmetry& symmetry,
               const detail::ProductStarts& from)
      : states_(states), symmetry_(symmetry), from_(from) {}

  std::unique_ptr<detail::SearchSpace<State>> clone() const override {
    return std::make_unique<ProductSpace>(*this);
  }
  std::vector<detail::Start<State>> starts() const override {
    std::vector<detail::Start<State>> result;
    for (const detail::ProductStart& start : from_.starts) {
      const State state = settled(start);
      if (states_.is_dead_end(state)) continue;
      const std::int64_t more = start.cycles - from_.least_cycles;
      result.push_back({symmetry_.canonical(state),
                        static_cast<std::uint32_t>(more == 0 ? 0 : more / states_.unit())});
    }
    return result;
  }
  bool is_goal(const State& state) const override { return states_.is_goal(state); }
  std::int64_t bound(const State& state) override { return states_.bound(state); }
  int work_left(const State& state) const override { return states_.terms_left(state); }
  /// Cycles that remain from the starts.
  std::int64_t to_cycles(std::int64_t cost) const override {
    return from_.least_cycles + cost * states_.unit();
  }

  void successors(const State& state, std::int64_t limit,
                  std::vector<detail::Successor<State>>& result) override {
    result.clear();
    moves_.clear();
    states_.moves(state, moves_);
    for (const detail::Move& move : moves_) {
      const State next = states_.apply(state, move);
      const std::int64_t cost = states_.cost(move), bound = states_.bound(next);
      if (cost + bound >= limit || states_.is_dead_end(next)) continue;
      result.push_back({symmetry_.canonical(next), static_cast<std::uint32_t>(cost), bound});
    }
  }

 private:
  State settled(const detail::ProductStart& start) const {
    State state = start.terms;
    for (const int input : from_.inputs) state |= states_.input_bit(input);
    detail::for_each_bit(start.in_dram, [&](int output) { state |= states_.spill_bit(output); });
    return states_.settle(state);
  }

  const detail::ProductStates& states_;
  const detail::Symmetry& symmetry_;
  const detail::ProductStarts& from_;
  std::vector<detail::Move> moves_;
};

std::uint64_t product_fingerprint(const MatrixProduct& product, const ProductMachine& machine,
                                  const detail::ProductStarts& from, const SolveLimits& limits) {
  detail::Fingerprint result;
  result.add("product").add(product.rows).add(product.inner).add(product.columns);
  result.add(machine.registers).add(machine.operand_rule == toy::OperandRule::kPinned ? 1 : 0);
  result.add(machine.allow_spills ? 1 : 0).add(machine.costs.load).add(machine.costs.store);
  result.add(machine.costs.first_product).add(machine.costs.next_product);
  result.add(static_cast<std::int64_t>(limits.beam_width));
  for (const int input : from.inputs) result.add(input);
  for (const detail::ProductStart& start : from.starts) {
    result.add(static_cast<std::int64_t>(start.terms)).add(start.cycles);
    result.add(static_cast<std::int64_t>(start.in_dram));
  }
  return result.value();
}

/// Returns by how many cycles the most expensive start exceeds the cheapest.
std::int64_t most_excess(const detail::ProductStarts& from) {
  std::int64_t most = 0;
  for (const detail::ProductStart& start : from.starts) {
    most = std::max(most, start.cycles - from.least_cycles);
  }
  return most;
}

bool is_product_beginning(const ProductProgress& from) {
  return from.finished == 0 && from.stored.empty() &&
         std::all_of(from.registers.begin(), from.registers.end(), [](const auto& content) {
           return content.kind == ProductProgress::Kind::kNothing;
         });
}

}  // namespace

Answer solve(const MatrixProduct& product, const ProductMachine& machine, const SolveLimits& limits,
             const ProductProgress& from, const ProgramFrame& frame) {
  check_product(product, machine);
  const detail::ProductStarts starts = detail::product_starts(product, machine, from);
  const detail::SearchLimits search_limits{limits,
                                           product_fingerprint(product, machine, starts, limits)};
  if (!detail::ProductStates::costs_fit(machine, starts.differences, most_excess(starts))) {
    throw std::invalid_argument("the costs of the instructions are too far apart");
  }
  const detail::ProductStates states(product, machine, starts.differences);
  const detail::Symmetry symmetry(states);
  ProductSpace space(states, symmetry, starts);
  const detail::Searched<State> searched = detail::search(space, search_limits);
  Answer answer = detail::answer_of(space, searched);
  if (searched.path && is_product_beginning(from)) {
    const auto moves = detail::moves_along(states, symmetry, searched.path->states);
    const bool has_frame = !frame.input_cells.empty();
    answer.program =
        detail::write_program(states, moves, has_frame ? frame : product_frame(product));
  }
  answer.seconds = search_limits.seconds();
  return answer;
}

}  // namespace flashlab::optimal
