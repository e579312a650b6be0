#include "optimal/problem/item_assignments.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "optimal/problem/computation.hpp"
#include "optimal/problem/value_space.hpp"
#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

namespace flashlab::optimal {
namespace {

/// What both bounds say at the start, with the stores that they leave out.
std::int64_t bound_at_start(const ValueAlgebra& algebra) {
  const detail::ValueProblem problem(algebra, ValueMachine{8});
  const detail::ValueMoves space(problem);
  const auto stores = static_cast<std::int64_t>(algebra.outputs.size());
  return space.second_bound(space.start({}), 1000) + stores;
}

/// By trying every choice of parts.
int fewest_by_trial(const std::vector<std::uint64_t>& parts, std::uint64_t all) {
  int best = 64;
  for (std::size_t choice = 0; choice < std::size_t{1} << parts.size(); ++choice) {
    std::uint64_t missing = all;
    int count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if ((choice >> i & 1) == 0) continue;
      missing &= ~parts[i];
      ++count;
    }
    best = std::min(best, count + std::popcount(missing));
  }
  return best;
}

}  // namespace

TEST_CASE("the fewest parts that make up all items are found, or fewer of many parts") {
  std::mt19937 random(test::seeded(8));
  for (int trial = 0; trial < 2000; ++trial) {
    const std::uint64_t all = (1U << (1 + random() % 9)) - 1;
    std::vector<std::uint64_t> parts(random() % 12);
    for (std::uint64_t& part : parts) part = random() & random() & 1023U;
    const int exact = fewest_by_trial(parts, all);
    const int found = detail::fewest_parts(parts, all);
    CAPTURE(all, parts);
    REQUIRE(found >= 1);
    REQUIRE(found <= exact);
    if (parts.size() <= 8) REQUIRE(found == exact);
  }
}

TEST_CASE("what softmax takes with registers enough is known before any search") {
  // n loads, differences, exponentials, quotients and stores; n - 1 maxima, n - 1 additions.
  const int n = GENERATE(1, 2, 3, 4, 5);
  CHECK(bound_at_start(safe_softmax(n)) == (n == 1 ? 4 : 7 * n - 2));
}

TEST_CASE("with one register more than elements a softmax takes no more than that") {
  const int n = GENERATE(2, 3, 4, 5);
  const Answer answer = solve(safe_softmax(n), ValueMachine{n + 1});
  CHECK(answer.verdict == Verdict::kOptimal);
  CHECK(answer.lower_cycles == 7 * n - 2);
  CHECK(answer.upper_cycles == 7 * n - 2);
}

TEST_CASE("what is gathered of a softmax is its maximum, its sum and its differences") {
  const ValueAlgebra algebra = safe_softmax(4);
  const detail::ValueProblem problem(algebra, ValueMachine{});
  const std::vector<detail::ItemAssignment> found = detail::item_assignments(problem);
  REQUIRE(found.size() == 3);
  const auto only = [&](const detail::ItemAssignment& assignment, auto&& counts) {
    std::string names;
    for (std::size_t i = 0; i < problem.operations().size(); ++i) {
      const auto number = static_cast<std::size_t>(problem.operations()[i].number);
      const std::string name(algebra.operations[number].mnemonic);
      if (counts(assignment, i) && names.find(name) == std::string::npos) names += name;
    }
    return names;
  };
  const auto joins = [](const auto& assignment, std::size_t i) { return assignment.joins[i] > 0; };
  const auto brings = [](const auto& assignment, std::size_t i) {
    return assignment.brings[i] != detail::ItemAssignment::kNone;
  };
  CHECK(only(found[0], joins) == "MAX");
  CHECK(only(found[1], joins) == "ADD");
  CHECK(only(found[2], brings) == "SUB");
  CHECK(found[2].join_cost == 0);
  for (const detail::ItemAssignment& assignment : found) CHECK(assignment.all == 0xF);
}

TEST_CASE("no operation's cost is counted by two item assignments") {
  toy::CostTable costs;
  REQUIRE(costs.parse("ADD=3,MAC=5,SUB=2,MUL=2"));
  const ValueAlgebra algebra = one_query_attention(3);
  const detail::ValueProblem problem(algebra, ValueMachine{6, costs});
  const std::vector<detail::ItemAssignment> found = detail::item_assignments(problem);
  CHECK(found.size() > 2);
  for (std::size_t i = 0; i < problem.operations().size(); ++i) {
    std::int64_t counted = 0;
    for (const detail::ItemAssignment& assignment : found) {
      counted += assignment.joins[i] * assignment.join_cost;
      const std::int8_t item = assignment.brings[i];
      if (item >= 0) counted += assignment.bring_costs[static_cast<std::size_t>(item)];
    }
    REQUIRE(counted <= problem.operations()[i].cost);
  }
}

TEST_CASE("an algebra that says nothing of its values' forms has nothing to gather") {
  ValueAlgebra algebra = vector_sum(3);
  algebra.forms.clear();
  const detail::ValueProblem problem(algebra, ValueMachine{});
  CHECK(detail::item_assignments(problem).empty());
  CHECK(solve(algebra, ValueMachine{}).lower_cycles == 6);
}

}  // namespace flashlab::optimal
