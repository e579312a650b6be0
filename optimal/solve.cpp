#include "optimal/solve.hpp"

#include <stdexcept>
#include <vector>

#include "optimal/detail/product_states.hpp"
#include "optimal/detail/search.hpp"
#include "optimal/detail/symmetry.hpp"
#include "optimal/detail/witness.hpp"

namespace flashlab::optimal {
namespace {

void check(const MatrixProduct& product, const ProductMachine& machine) {
  if (product.rows < 1 || product.inner < 1 || product.columns < 1 || machine.registers < 1) {
    throw std::invalid_argument("a product and a machine have sizes of at least 1");
  }
  if (!detail::ProductStates::fits(product, machine)) {
    throw std::invalid_argument("a state of this product does not fit 64 bits");
  }
  if (!detail::ProductStates::can_add_up(machine)) {
    throw std::invalid_argument("the costs of LOAD and STORE are too far apart");
  }
}

/// The states of a product, one of each class.
class ProductSpace final : public detail::SearchSpace {
  using State = detail::State;

 public:
  ProductSpace(const detail::ProductStates& states, const detail::Symmetry& symmetry)
      : states_(states), symmetry_(symmetry) {}

  State initial() const override { return states_.initial(); }
  bool is_goal(State state) const override { return states_.is_goal(state); }
  std::int64_t bound(State state) const override { return states_.bound(state); }
  int work_left(State state) const override { return states_.terms_left(state); }
  std::int64_t to_cycles(std::int64_t cost) const override { return states_.to_cycles(cost); }

  void successors(State state, std::int64_t limit,
                  std::vector<detail::Successor>& result) override {
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
  const detail::ProductStates& states_;
  const detail::Symmetry& symmetry_;
  std::vector<detail::Move> moves_;
};

}  // namespace

Answer solve(const MatrixProduct& product, const ProductMachine& machine,
             const SolveLimits& limits) {
  check(product, machine);
  const detail::SearchLimits search_limits{limits};
  const detail::ProductStates states(product, machine);
  const detail::Symmetry symmetry(states);
  ProductSpace space(states, symmetry);
  const detail::Searched searched = detail::search(space, search_limits);
  Answer answer = detail::answer_of(space, searched);
  if (searched.path) {
    const auto moves = detail::moves_along(states, symmetry, searched.path->states);
    answer.program = detail::write_program(states, moves);
  }
  answer.seconds = search_limits.seconds();
  return answer;
}

}  // namespace flashlab::optimal
