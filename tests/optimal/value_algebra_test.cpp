// Sum, maximum and softmax: the solver against the plain search, and its programs on the machine.
#include "optimal/problem/value_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "optimal/problem/value_space.hpp"
#include "optimal/solve/plain_search.hpp"
#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
namespace toy = flashlab::toy;

using Values = std::vector<double>;

double apply(std::string_view mnemonic, double a, double b) {
  if (mnemonic == "ADD") return a + b;
  if (mnemonic == "SUB") return a - b;
  if (mnemonic == "MUL") return a * b;
  if (mnemonic == "DIV") return a / b;
  if (mnemonic == "MAX") return std::max(a, b);
  REQUIRE(mnemonic == "EXP");
  return std::exp(a);
}

/// Every value of the algebra at a point x, each operation having made the same of it.
Values evaluated(const ValueAlgebra& algebra, const Values& x) {
  Values values(static_cast<std::size_t>(algebra.num_values), std::nan(""));
  const auto at = [&](int value) -> double& { return values[static_cast<std::size_t>(value)]; };
  for (std::size_t i = 0; i < x.size(); ++i) at(algebra.inputs[i]) = x[i];
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const ValueOperation& operation : algebra.operations) {
      const auto [first, second, third] = operation.operands;
      const double a = at(first), b = second == kNoValue ? 0 : at(second);
      if (std::isnan(a) || std::isnan(b)) continue;
      const double result = apply(operation.mnemonic, a, b);
      INFO(operation.mnemonic << " of " << first << " and " << second);
      if (std::isnan(at(operation.result))) {
        at(operation.result) = result;
        is_new = true;
      }
      REQUIRE(std::abs(result - at(operation.result)) < 1e-12);
    }
  }
  return values;
}

Values softmax(const Values& x) {
  double sum = 0;
  for (const double element : x) sum += std::exp(element);
  Values result;
  for (const double element : x) result.push_back(std::exp(element) / sum);
  return result;
}

/// What the program leaves in o.
Values run_algebra(const std::string& text, const Values& x, const toy::CostTable& costs,
                   toy::Counters& counters) {
  const toy::BoundProgram program = flashlab::test::bound(text);
  Values dram(static_cast<std::size_t>(program.dram_elements),
              std::numeric_limits<double>::quiet_NaN());
  std::copy(x.begin(), x.end(), dram.begin() + program.arrays[0].offset);
  const auto execution = toy::run(program, dram);
  REQUIRE(execution);
  counters = toy::count(program, execution->executions, costs);
  const auto first = dram.begin() + program.arrays[1].offset;
  return {first, first + program.arrays[1].size};
}

}  // namespace

TEST_CASE("an operation of softmax makes the value that it says, for every order of the elements") {
  Values x = {-1.25, 0.5, 2};
  const ValueAlgebra algebra = safe_softmax(3);
  do {
    const Values values = evaluated(algebra, x);
    CHECK(std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
    const Values expected = softmax(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(std::abs(values[static_cast<std::size_t>(algebra.outputs[i])] - expected[i]) < 1e-12);
    }
  } while (std::next_permutation(x.begin(), x.end()));
}

TEST_CASE("a renumbering of values maps operations to operations") {
  const ValueAlgebra algebra = safe_softmax(3);
  const auto normal = [](const ValueOperation& operation) {
    const bool commutes =
        operation.mnemonic == "ADD" || operation.mnemonic == "MUL" || operation.mnemonic == "MAX";
    auto [a, b, c] = operation.operands;
    if (commutes && a < b) std::swap(a, b);
    return std::tuple(operation.mnemonic, a, b, operation.result);
  };
  std::set<std::tuple<std::string_view, int, int, int>> operations;
  for (const ValueOperation& operation : algebra.operations) operations.insert(normal(operation));
  REQUIRE(algebra.symmetries.size() == 6);
  for (const std::vector<int>& renumbered : algebra.symmetries) {
    const auto at = [&](int value) {
      return value < 0 ? value : renumbered[static_cast<std::size_t>(value)];
    };
    for (const ValueOperation& o : algebra.operations) {
      const auto [a, b, c] = o.operands;
      CHECK(operations.count(normal({o.mnemonic, {at(a), at(b), at(c)}, at(o.result)})) == 1);
    }
  }
}

TEST_CASE("the solver and the plain search agree on sums, maxima and softmax") {
  toy::CostTable costs;
  const std::string table = GENERATE("LOAD=1", "LOAD=10,EXP=4,DIV=7,MUL=2", "LOAD=0,STORE=3");
  REQUIRE(costs.parse(table));
  const auto algebra = GENERATE(vector_sum(1), vector_sum(4), vector_maximum(3), safe_softmax(2),
                                online_statistics(2));
  for (int registers = 1; registers <= 4; ++registers) {
    INFO(algebra.title << ", " << registers << " registers, " << table);
    const PlainValueAnswer plain = plain_value_search(algebra, {registers, costs});
    const Answer answer = solve(algebra, {registers, costs});
    CHECK(answer.verdict == (plain.cycles < 0 ? Verdict::kInfeasible : Verdict::kOptimal));
    if (plain.cycles >= 0) CHECK(answer.lower_cycles == plain.cycles);
  }
}

TEST_CASE("a softmax of three needs three registers, and loads nothing twice with four") {
  const ValueAlgebra algebra = safe_softmax(3);
  CHECK(solve(algebra, {2}).verdict == Verdict::kInfeasible);
  const Answer three = solve(algebra, {3}), four = solve(algebra, {4});
  REQUIRE(three.verdict == Verdict::kOptimal);
  REQUIRE(four.verdict == Verdict::kOptimal);
  CHECK(three.lower_cycles == 26);
  CHECK(four.lower_cycles == 19);
  CHECK(four.program->loads == 3);
}

TEST_CASE("the toy machine runs the cheapest softmax to the right result, in the proven cycles") {
  toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=20", "EXP=30,STORE=2")));
  const auto registers = GENERATE(3, 4);
  const Answer answer = solve(safe_softmax(3), {registers, costs});
  REQUIRE(answer.program);
  INFO(answer.program->text);
  const Values x = {0.75, 3, -2};
  toy::Counters counters;
  const Values got = run_algebra(answer.program->text, x, costs, counters), expected = softmax(x);
  REQUIRE(got.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(got[i] - expected[i]) < 1e-12);
  CHECK(counters.cycles == answer.lower_cycles);
  CHECK(counters.loads == answer.program->loads);
  CHECK(counters.stores == answer.program->stores);
  CHECK(counters.compute == answer.program->products);
}

TEST_CASE("the bound of softmax falls by at most a move's cost, and to nothing at the goal") {
  const ValueAlgebra algebra = safe_softmax(2);
  toy::CostTable costs;
  REQUIRE(costs.parse("LOAD=5,EXP=3,DIV=2"));
  const int scratch_cells = GENERATE(0, 1);
  const detail::ValueProblem problem(algebra, {3, costs, scratch_cells});
  detail::ValueMoves space(problem);
  const auto key = [](const detail::ValueState& s) {
    return std::tuple(s.registers, s.scratch, s.stored);
  };
  std::vector<detail::ValueState> all{space.start({})};
  std::set<decltype(key(all[0]))> seen{key(all[0])};
  std::vector<detail::ValueMove> moves;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const detail::ValueState state = all[i];
    const std::int64_t bound = space.bound(state).cost;
    if (space.is_goal(state)) CHECK(bound == 0);
    moves.clear();
    space.moves(state, moves);
    for (const detail::ValueMove& move : moves) {
      const detail::ValueState next = space.apply(state, move);
      REQUIRE(bound <= move.cost + space.bound(next).cost);
      REQUIRE(space.bound(space.canonical(next)).cost == space.bound(next).cost);
      if (seen.insert(key(next)).second) all.push_back(next);
    }
  }
  CHECK(all.size() > 200);
}

TEST_CASE("neither bound of a value algebra is above what remains") {
  toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=5,EXP=3,DIV=2", "LOAD=0,MAX=4")));
  const auto algebra = GENERATE(vector_sum(4), vector_maximum(3), safe_softmax(2),
                                online_statistics(2), online_statistics(3), one_query_attention(2));
  const bool is_small = algebra.num_values < 20;
  const ValueMachine machine{3, costs, is_small ? GENERATE(0, 1) : 0};
  const detail::ValueProblem problem(algebra, machine);
  const detail::ValueMoves space(problem);
  std::mt19937 random(flashlab::test::seeded(3));
  for (int trial = 0; trial < (is_small ? 60 : 8); ++trial) {
    ValueProgress from;
    for (int i = 0; i < 3; ++i) {
      from.held.push_back(static_cast<int>(random() % static_cast<unsigned>(algebra.num_values)));
    }
    from.stored = random() % (std::uint64_t{1} << algebra.outputs.size());
    const detail::ValueState state = space.start(from);
    std::int64_t stores = 0;  // that both bounds leave out
    for (std::size_t i = 0; i < algebra.outputs.size(); ++i) {
      stores += (from.stored >> i & 1) == 0 ? 1 : 0;
    }
    const std::int64_t exact = plain_value_search(algebra, machine, from).cycles - stores;
    REQUIRE(exact >= 0);
    REQUIRE(space.bound(state).cost <= exact);
    const std::int64_t second = space.second_bound(state, 1000);
    REQUIRE(second <= exact);
    REQUIRE(space.second_bound(state, second / 2) >= second / 2);
    REQUIRE(space.second_bound(space.canonical(state), 1000) <= exact);
  }
}

TEST_CASE("sums and maxima of many elements take 2 n cycles however many registers there are") {
  const auto& [n, registers, algebra] = GENERATE(table<int, int, ValueAlgebra>(
      {{8, 7, vector_sum(8)}, {7, 2, vector_sum(7)}, {7, 4, vector_maximum(7)}}));
  CAPTURE(n, registers);
  const Answer answer = solve(algebra, {registers});
  CHECK(answer.verdict == Verdict::kOptimal);
  CHECK(answer.lower_cycles == 2 * n);
  REQUIRE(answer.program);
  CHECK(answer.program->loads == n);
  CHECK(answer.program->cycles == 2 * n);
  CHECK(answer.states < 1000);
}

TEST_CASE("a computation that does not fit a state is refused") {
  CHECK_THROWS_AS(safe_softmax(0), std::invalid_argument);
  CHECK_THROWS_AS(one_query_attention(4), std::invalid_argument);
  CHECK_THROWS_AS(vector_sum(9), std::invalid_argument);
  CHECK_THROWS_AS(solve(vector_sum(2), {17}), std::invalid_argument);
  toy::CostTable costs;
  REQUIRE(costs.parse("EXP=100000000"));
  CHECK_THROWS_AS(solve(safe_softmax(2), {3, costs}), std::invalid_argument);
}
