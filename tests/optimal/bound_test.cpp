// The solver's bound, moves and symmetry against what the plain machine says of the same states.
#include <memory>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "optimal/products/symmetry.hpp"
#include "tests/catch_shim.hpp"
#include "tests/optimal/exact_remainders.hpp"
#include "tests/seed.hpp"

namespace {

using namespace flashlab::optimal;          // NOLINT: a test of that namespace
using namespace flashlab::optimal::detail;  // NOLINT
using flashlab::test::ExactRemainders;
using flashlab::toy::OperandRule;

struct Instance {
  MatrixProduct product;
  ProductMachine machine;
};

const ProductCosts kUnequal = {3, 2, 1, 1};

Instance small_instance() {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto [product, registers, spills, costs] =
      GENERATE(std::tuple(MatrixProduct{2, 2, 2}, 3, false, ProductCosts{}),
               std::tuple(MatrixProduct{2, 1, 3}, 3, false, ProductCosts{}),
               std::tuple(MatrixProduct{2, 2, 1}, 4, false, kUnequal),
               std::tuple(MatrixProduct{1, 3, 2}, 3, false, ProductCosts{}),
               std::tuple(MatrixProduct{2, 2, 1}, 3, true, ProductCosts{}),
               std::tuple(MatrixProduct{1, 2, 2}, 3, true, kUnequal));
  return {product, {registers, rule, spills, costs}};
}

bool is_same(const Instance& a, const Instance& b) {
  const auto all = [](const Instance& i) {
    const auto& [p, m] = i;
    return std::tuple(p.rows, p.inner, p.columns, m.registers, m.operand_rule, m.allow_spills,
                      m.costs.load, m.costs.store);
  };
  return all(a) == all(b);
}

/// States of the solver, and what remains from each in the unit of its costs.
class Known {
 public:
  explicit Known(const Instance& instance)
      : states_(instance.product, instance.machine), plain_(instance.product, instance.machine) {
    all_ = flashlab::test::all_states(states_);
    std::vector<PlainState> first;
    for (const State state : all_) first.push_back(plain(state));
    exact_.emplace(plain_, first);
  }

  const ProductStates& states() const { return states_; }
  const std::vector<State>& all() const { return all_; }

  /// In cycles, less the products and final stores that every program still has to make.
  std::int64_t remainder(State state) const {
    const std::int64_t cycles = exact_->of(plain(state));
    if (cycles == ExactRemainders::kNever) return cycles;
    const ProductCosts& costs = states_.machine().costs;
    const MatrixProduct& product = states_.product();
    std::int64_t rest = states_.terms_left(state) * costs.next_product;
    for (int output = 0; output < product.num_outputs(); ++output) {
      const State all = states_.terms_of_output(output);
      if ((state & all) != all) rest += costs.store;
    }
    return cycles - rest;
  }
  std::int64_t in_cycles(std::int64_t cost) const {
    return states_.to_cycles(cost) - states_.to_cycles(0);
  }

 private:
  PlainState plain(State state) const {
    return flashlab::test::plain_state(states_, plain_, state);
  }

  ProductStates states_;
  PlainMachine plain_;
  std::vector<State> all_;
  std::optional<ExactRemainders> exact_;
};

/// Found once for all tests.
const Known& known_small_instance() {
  static std::vector<std::pair<Instance, std::unique_ptr<Known>>> found;
  const Instance instance = small_instance();
  for (const auto& [other, known] : found) {
    if (is_same(other, instance)) return *known;
  }
  return *found.emplace_back(instance, std::make_unique<Known>(instance)).second;
}

}  // namespace

TEST_CASE("the bound is never above what remains, and never falls faster than a move costs") {
  const Known& known = known_small_instance();
  const ProductStates& states = known.states();
  std::vector<Move> moves;
  for (const State state : known.all()) {
    const std::int64_t bound = states.bound(state);
    REQUIRE(known.in_cycles(bound) <= known.remainder(state));
    moves.clear();
    states.moves(state, moves);
    for (const Move& move : moves) {
      REQUIRE(bound <= states.cost(move) + states.bound(states.apply(state, move)));
    }
  }

  CHECK(known.all().size() > 20);
}

// A state can hold a sum that were better thrown away, which the solver's programs never do: from
// such a state they need more than the plain machine. No cheapest program comes through one.
TEST_CASE("wherever a cheapest program is, one of the solver's moves goes on with it") {
  const Known& known = known_small_instance();
  const ProductStates& states = known.states();
  std::mt19937 random(flashlab::test::seeded(11));
  std::vector<Move> moves, cheapest;
  for (int walk = 0; walk < 100; ++walk) {
    State state = states.initial();
    while (!states.is_goal(state)) {
      moves.clear();
      cheapest.clear();
      states.moves(state, moves);
      for (const Move& move : moves) {
        const State next = states.apply(state, move);
        if (states.is_dead_end(next)) continue;
        const std::int64_t rest = known.remainder(next);
        if (rest == ExactRemainders::kNever) continue;
        const std::int64_t all = known.in_cycles(states.cost(move)) + rest;
        REQUIRE(all >= known.remainder(state));
        if (all == known.remainder(state)) cheapest.push_back(move);
      }
      INFO("after " << states.product().num_terms() - states.terms_left(state) << " terms");
      REQUIRE_FALSE(cheapest.empty());
      state = states.apply(state, cheapest[random() % cheapest.size()]);
    }
  }
}

TEST_CASE("a class of symmetric states has one representative, and all cost the same") {
  const Known& known = known_small_instance();
  const Symmetry symmetry(known.states());
  std::size_t changed = 0;
  for (const State state : known.all()) {
    const State canonical = symmetry.canonical(state);
    REQUIRE(symmetry.canonical(canonical) == canonical);
    changed += canonical != state ? 1 : 0;
    REQUIRE(known.remainder(canonical) == known.remainder(state));
  }
  CHECK(changed > 0);
}
