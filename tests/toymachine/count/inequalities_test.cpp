// Inequalities at the point where they stop to hold: what follows, what contradicts, what is exact.
#include "toymachine/count/inequalities.hpp"

#include <vector>

#include "tests/catch_shim.hpp"
#include "toymachine/count/regions.hpp"

namespace flashlab::toy::detail {
namespace {

using Rows = std::vector<std::vector<mpq_class>>;

const Polynomial fact_n = Polynomial::symbol("n");
const Polynomial fact_b = Polynomial::symbol("B");
const Polynomial fact_i = loop_atom(3);

}  // namespace

TEST_CASE("loop variables are told from parameters by their names", "[inequalities]") {
  CHECK(loop_atom(12).key() == "#12");
  CHECK(is_loop_atom(loop_atom(0)));
  CHECK_FALSE(is_loop_atom(Atom("n")));
  CHECK(has_loop_atom(fact_n * fact_i + 1));
  CHECK(has_loop_atom(fact_b + fact_i));
  CHECK_FALSE(has_loop_atom(fact_n * fact_b));
  CHECK_FALSE(has_loop_atom(Polynomial(1)));
}

TEST_CASE("a common factor is divided out and the constant rounded down", "[inequalities]") {
  CHECK(tightened(2 * fact_n - 3) == fact_n - 2);
  CHECK(tightened(2 * fact_n - 4) == fact_n - 2);
  CHECK(tightened(2 * fact_n + 3) == fact_n + 1);
  CHECK(tightened(6 * fact_n - 4 * fact_b - 5) == 3 * fact_n - 2 * fact_b - 3);
  CHECK(tightened(fact_n * mpq_class(1, 2) - 1) == fact_n - 2);
  CHECK(tightened(fact_n + mpq_class(1, 2)) == fact_n);
  CHECK(tightened(fact_n - fact_b * mpq_class(3, 2)) == 2 * fact_n - 3 * fact_b);
  CHECK(tightened(fact_n - 3) == fact_n - 3);
  CHECK(tightened(3 * fact_n - 2 * fact_b - 5) == 3 * fact_n - 2 * fact_b - 5);
  CHECK(tightened(Polynomial(-6)) == Polynomial(-6));
  CHECK(tightened(Polynomial()) == Polynomial());
}

TEST_CASE("a condition on a quotient is one on its numerator", "[inequalities]") {
  const Polynomial ceil = ceil_quotient(fact_n, fact_b), floor = floor_quotient(fact_n, fact_b);
  CHECK(without_quotients(ceil - 3) == fact_n - 2 * fact_b - 1);
  CHECK(without_quotients(3 - ceil) == 3 * fact_b - fact_n);
  CHECK(without_quotients(floor - 3) == fact_n - 3 * fact_b);
  CHECK(without_quotients(3 - floor) == 4 * fact_b - fact_n - 1);
  CHECK(without_quotients(2 * ceil - 3) == fact_n - fact_b - 1);
  CHECK(without_quotients(fact_n - 3) == fact_n - 3);
}

TEST_CASE("only sums of parameters with no minus are obviously not negative", "[inequalities]") {
  const Polynomial below = floor_quotient(fact_n - 5, fact_b);
  for (const Polynomial& yes :
       {Polynomial(), Polynomial(1), fact_n, fact_n * fact_b + 2, ceil_quotient(fact_n, fact_b)}) {
    CHECK(obviously_nonnegative(yes));
  }
  for (const Polynomial& no :
       {Polynomial(-1), -fact_n, fact_n - 1, fact_i, fact_n * fact_i, below + fact_n}) {
    CHECK_FALSE(obviously_nonnegative(no));
  }
}

TEST_CASE("a fact implies what is no stronger than it", "[inequalities]") {
  const Inequalities three({fact_n - 3});
  CHECK(three.implies(fact_n - 2));
  CHECK(three.implies(fact_n - 3));
  CHECK_FALSE(three.implies(fact_n - 4));
  CHECK(three.implies(2 * fact_n - 6));
  CHECK(three.implies(2 * fact_n - 5));
  CHECK_FALSE(three.implies(2 * fact_n - 7));
  CHECK_FALSE(three.implies(3 - fact_n));
  const Inequalities nothing;
  CHECK(nothing.implies(0));
  CHECK(nothing.implies(1));
  CHECK_FALSE(nothing.implies(-1));
  CHECK(nothing.implies(fact_n));
  CHECK_FALSE(nothing.implies(fact_n - 1));
  CHECK_FALSE(nothing.implies(fact_i));
  CHECK(Inequalities({2 * fact_n - 5}).implies(fact_n - 3));
}

TEST_CASE("facts are added up", "[inequalities]") {
  Inequalities known;
  known.add(fact_n - fact_b);
  known.add(fact_b - 3);
  CHECK(known.all().size() == 2);
  CHECK(known.implies(fact_n - 3));
  CHECK_FALSE(known.implies(fact_n - 4));
  CHECK(known.implies(fact_n + fact_b - 6));
  CHECK_FALSE(known.implies(fact_n + fact_b - 7));
}

TEST_CASE("what a quotient is says where it lies", "[inequalities]") {
  const Polynomial ceil = ceil_quotient(fact_n, 3);
  const Inequalities nothing;
  CHECK(nothing.implies_as_it_stands(3 * ceil - fact_n));
  CHECK(nothing.implies_as_it_stands(fact_n + 2 - 3 * ceil));
  CHECK_FALSE(nothing.implies_as_it_stands(fact_n + 1 - 3 * ceil));
  CHECK_FALSE(nothing.implies_as_it_stands(3 * ceil - fact_n - 1));
  CHECK(nothing.implies_as_it_stands(fact_n - ceil));
}

TEST_CASE("facts contradict one another one past the point where they meet", "[inequalities]") {
  CHECK_FALSE(Inequalities().contradictory());
  CHECK_FALSE(Inequalities({fact_n - 3, 3 - fact_n}).contradictory());
  CHECK(Inequalities({fact_n - 3, 2 - fact_n}).contradictory());
  CHECK_FALSE(Inequalities({-fact_n}).contradictory());
  CHECK(Inequalities({-fact_n - 1}).contradictory());
  CHECK_FALSE(Inequalities({-fact_i - 1}).contradictory());  // a loop may count below zero
  CHECK(Inequalities({Polynomial(-1)}).contradictory());
}

TEST_CASE("linear inequalities have a solution or none", "[inequalities]") {
  struct Case {
    Rows rows;
    bool solvable;
  };
  const Case cases[] = {{{}, true},
                        {{{0}}, true},
                        {{{-1}}, false},
                        {{{-1, 1}}, true},
                        {{{-1, -1}}, true},           // the unknown may be negative
                        {{{-1, -1}, {0, 1}}, false},  // here it may not
                        {{{-1, -1}, {0, 2}}, false},
                        {{{-1, -1}, {1, 1}}, true},  // down to -1 it may
                        {{{-1, 1}, {1, -1}}, true},  // exactly 1
                        {{{-1, 1}, {0, -1}}, false},
                        {{{-1, 2}, {0, 1}, {mpq_class(1, 2), -1}}, true},  // exactly a half
                        {{{-1, 2}, {0, 1}, {mpq_class(1, 3), -1}}, false},
                        {{{-2, 1, 1}, {1, -1, 0}, {1, 0, -1}}, true},  // 1 + 1
                        {{{-3, 1, 1}, {1, -1, 0}, {1, 0, -1}}, false},
                        {{{-2, 1, 1}, {1, -1, 0}, {1, 0, -1}, {0, 1, 0}, {0, 0, 1}}, true},
                        {{{-3, 1, 1}, {1, -1, 0}, {1, 0, -1}, {0, 1, 0}, {0, 0, 1}}, false},
                        {{{0, 1, -1}, {0, -1, 1}, {-1, 1, 0}, {1, 0, -1}}, true},  // x = y = 1
                        {{{0, 1, -1}, {-1, -1, 1}, {-1, 1, 0}, {1, 0, -1}}, false}};
  for (const Case& c : cases) CHECK(has_rational_solution(c.rows) == c.solvable);
}

TEST_CASE("a condition that follows from the others is dropped", "[regions]") {
  using Conditions = std::vector<Condition>;
  CHECK(simplified({{fact_n - 3}, {fact_n - 2}}, {}) == Conditions{{fact_n - 3}});
  CHECK(simplified({{fact_n - 2}, {fact_n - 3}}, {}) == Conditions{{fact_n - 3}});
  CHECK(simplified({{fact_n - 3}}, {{fact_n - 3}}).empty());
  CHECK(simplified({{fact_n - 3}}, {{fact_n - 2}}) == Conditions{{fact_n - 3}});
  CHECK(simplified({{fact_n}}, {}).empty());
  CHECK(simplified({{2 * fact_n - 5}}, {}) == Conditions{{fact_n - 3}});
  CHECK(simplified({{-fact_n}}, {}) == Conditions{{-fact_n}, {fact_n}});  // only 0 remains
  CHECK(opposite(fact_n - 3) == 2 - fact_n);
  CHECK(facts_of({{fact_n}, {fact_b}}).all().size() == 2);
  CHECK(with(facts_of({{fact_n}}), fact_b).all().back() == fact_b);
}

TEST_CASE("regions with equal values are joined where their union is simple", "[regions]") {
  const auto joined = [](const Polynomial& first, const Polynomial& second, long value) {
    std::vector<Region> regions{{{{first}}, {7}}, {{{second}}, {value}}};
    join_equal(regions, {});
    return regions.size();
  };
  CHECK(joined(fact_n - 3, 2 - fact_n, 7) == 1);
  CHECK(joined(fact_n - 3, 2 - fact_n, 8) == 2);
  CHECK(joined(fact_n - 4, 2 - fact_n, 7) == 2);  // 3 is in neither
}

}  // namespace flashlab::toy::detail
