// The cheapest completion from anywhere: against the plain machine's exact remainders.
#include "optimal/problem/progress.hpp"

#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/solve/plain_search.hpp"
#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"
#include "tests/optimal/exact_remainders.hpp"
#include "tests/seed.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::test::ExactRemainders;
using flashlab::toy::OperandRule;
using Kind = ProductProgress::Kind;

constexpr std::int64_t kNoRemainder = -1;  // no program exists

/// What a plain state holds, register by register.
ProductProgress standing_of(const PlainMachine& plain, const MatrixProduct& product,
                            const PlainState& state) {
  ProductProgress result;
  const int first_sum = plain.value_of_sum(0, 1), sums_each = (1 << product.inner) - 1;
  const auto sum = [&](int number) {
    return ProductProgress::Content{Kind::kSum, number / sums_each,
                                    static_cast<std::uint64_t>(number % sums_each + 1)};
  };
  for (const std::uint8_t value : state.registers) {
    if (value == 0) {
      result.registers.emplace_back();
    } else if (value < first_sum) {
      result.registers.push_back({Kind::kInput, value - 1, 0});
    } else {
      result.registers.push_back(sum(value - first_sum));
    }
  }
  for (int number = 0; number < product.num_outputs() * sums_each; ++number) {
    if ((state.stored >> number & 1) == 0) continue;
    if (number % sums_each + 1 == sums_each) {
      result.finished |= std::uint64_t{1} << (number / sums_each);
    } else {
      result.stored.push_back(sum(number));
    }
  }
  return result;
}

/// The states of walks that do anything that is legal, sensible or not.
std::vector<PlainState> random_states(const PlainMachine& plain, unsigned seed, int walks) {
  std::mt19937 random(flashlab::test::seeded(seed));
  std::vector<PlainState> result;
  for (int walk = 0; walk < walks; ++walk) {
    PlainState state = plain.initial();
    for (auto left = 1 + random() % 25; left > 0; --left) {
      std::vector<PlainState> next;
      plain.moves(state, [&](PlainState s, std::int64_t) {
        if (!(s == state)) next.push_back(std::move(s));
      });
      if (next.empty()) break;
      state = next[random() % next.size()];
      result.push_back(state);
    }
  }
  return result;
}

std::int64_t remaining(const Answer& answer) {
  if (answer.verdict == Verdict::kInfeasible) return kNoRemainder;
  CHECK(answer.verdict == Verdict::kOptimal);
  CHECK(answer.upper_cycles == answer.lower_cycles);
  CHECK_FALSE(answer.program);
  return answer.lower_cycles;
}

}  // namespace

TEST_CASE("the cheapest completion of a product is what the plain machine says, from anywhere") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto [product, registers, spills, costs] =
      GENERATE(std::tuple(MatrixProduct{2, 2, 1}, 3, false, ProductCosts{}),
               std::tuple(MatrixProduct{2, 2, 1}, 4, false, ProductCosts{3, 2, 5, 1}),
               std::tuple(MatrixProduct{1, 3, 1}, 3, false, ProductCosts{2, 1, 4, 3}),
               std::tuple(MatrixProduct{2, 1, 2}, 3, false, ProductCosts{}),
               std::tuple(MatrixProduct{1, 3, 1}, 3, true, ProductCosts{7, 2, 4, 1}),
               std::tuple(MatrixProduct{2, 2, 1}, 3, true, ProductCosts{4, 3, 2, 1}),
               std::tuple(MatrixProduct{1, 2, 2}, 3, true, ProductCosts{0, 1, 1, 1}),
               std::tuple(MatrixProduct{1, 2, 1}, 2, true, ProductCosts{1, 0, 1, 1}),
               std::tuple(MatrixProduct{1, 2, 1}, 4, true, ProductCosts{}));
  const ProductMachine machine{registers, rule, spills, costs};
  const PlainMachine plain(product, machine);
  const std::vector<PlainState> states = random_states(plain, 5, 12);
  const ExactRemainders exact(plain, states);
  for (const PlainState& state : states) {
    const ProductProgress from = standing_of(plain, product, state);
    SolveLimits limits;
    limits.beam_width = 4;
    const Answer answer = solve(product, machine, limits, from);
    if (answer.program) continue;  // it stands at the beginning
    const std::int64_t expected = exact.of(state);
    REQUIRE(remaining(answer) == (expected == ExactRemainders::kNever ? kNoRemainder : expected));
  }
}

TEST_CASE("a finished sum that lies elsewhere than in its cell is brought there") {
  const ProductCosts costs{5, 3, 1, 1};
  ProductProgress from;
  from.stored = {{Kind::kSum, 0, 3}};
  for (const OperandRule rule : {OperandRule::kAny, OperandRule::kPinned}) {
    CHECK(remaining(solve({1, 2, 1}, {1, rule, true, costs}, {}, from)) == 5 + 3);
    CHECK(remaining(solve({1, 2, 1}, {3, rule, true, costs}, {}, from)) == 5 + 3);
  }
  from.finished = 1;
  CHECK(remaining(solve({1, 2, 1}, {3, OperandRule::kAny, true, costs}, {}, from)) == 0);
}

TEST_CASE("costs of products that do not add up are refused where a sum may be given up") {
  ProductProgress from;
  from.registers = {{}, {}, {Kind::kSum, 0, 1}};  // goes on, or is computed again
  const auto solved = [&](std::int64_t product) {
    return solve({2, 2, 2}, {4, OperandRule::kAny, false, {1, 1, product, product}}, {}, from);
  };
  CHECK(solved(10'000'000).lower_cycles % 10'000'000 == solved(1'000).lower_cycles % 1'000);
  CHECK_THROWS_AS(solved(1'000'000'001), std::invalid_argument);
}

TEST_CASE("a progress that the machine cannot have is refused") {
  ProductProgress from;
  from.registers.resize(4);
  CHECK_THROWS_AS(solve({2, 2, 2}, {}, {}, from), std::invalid_argument);
  from.registers = {{Kind::kInput, 8, 0}};
  CHECK_THROWS_AS(solve({2, 2, 2}, {}, {}, from), std::invalid_argument);
  from.registers = {{Kind::kSum, 0, 4}};
  CHECK_THROWS_AS(solve({2, 2, 2}, {}, {}, from), std::invalid_argument);
  ValueProgress values;
  values.held = {0, 1, 2, 2};
  CHECK_THROWS_AS(solve(vector_sum(2), {3}, {}, values), std::invalid_argument);
  values.held = {7};
  CHECK_THROWS_AS(solve(vector_sum(2), {3}, {}, values), std::invalid_argument);
}

TEST_CASE("the cheapest completion of a value algebra is the plain search's, from anywhere") {
  flashlab::toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=3,STORE=2,EXP=4,DIV=2")));
  const auto [algebra, registers, scratch] =
      GENERATE(std::tuple(vector_sum(3), 2, 1), std::tuple(vector_maximum(3), 3, 0),
               std::tuple(safe_softmax(2), 2, 0), std::tuple(safe_softmax(2), 3, 0),
               std::tuple(safe_softmax(2), 2, 1));
  ValueMachine machine{registers, costs, scratch};
  std::mt19937 random(flashlab::test::seeded(9));
  for (int trial = 0; trial < 40; ++trial) {
    ValueProgress from;
    const auto value = [&] {
      return static_cast<int>(random() % static_cast<unsigned>(algebra.num_values + 1)) - 1;
    };
    for (int i = 0; i < registers; ++i) from.held.push_back(value());
    for (int i = 0; i < scratch; ++i) from.scratch.push_back(value());
    from.stored = random() % (std::uint64_t{1} << algebra.outputs.size());
    from.loads = 1;
    machine.most_loads = trial % 3 == 0 ? std::optional<int>(3) : std::nullopt;
    INFO(algebra.title << ", trial " << trial);
    REQUIRE(remaining(solve(algebra, machine, {}, from)) ==
            plain_value_search(algebra, machine, from).cycles);
  }
}
