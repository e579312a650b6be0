#include "optimal/solve.hpp"

#include <chrono>
#include <stdexcept>

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

}  // namespace

Answer solve(const MatrixProduct& product, const ProductMachine& machine,
             const SolveLimits& limits) {
  check(product, machine);
  const detail::ProductStates states(product, machine);
  const detail::Symmetry symmetry(states);
  const detail::SearchSpace space{states, symmetry, limits, std::chrono::steady_clock::now()};

  std::optional<detail::Path> path;
  if (limits.beam_width > 0) path = detail::beam_search(space);
  const std::int64_t upper = path ? path->cost : detail::kUnknownCost;
  detail::Proof proof = detail::best_first_search(space, upper);
  if (proof.path) path = std::move(proof.path);

  Answer answer;
  answer.states = proof.states;
  answer.bytes = proof.bytes;
  if (path) {
    const auto moves = detail::moves_along(states, symmetry, path->states);
    answer.program = detail::write_program(states, moves);
  }
  if (proof.is_finished) answer.verdict = path ? Verdict::kOptimal : Verdict::kInfeasible;
  if (answer.verdict != Verdict::kInfeasible) answer.lower_cycles = states.to_cycles(proof.lower);
  answer.seconds = space.seconds();
  return answer;
}

}  // namespace flashlab::optimal
