#include "toymachine/count/polynomial/polynomial.hpp"

#include <string>

#include "tests/catch_shim.hpp"
#include "toymachine/count/formula.hpp"

namespace flashlab::toy {
namespace {

const Polynomial k = Polynomial::symbol("k");
const Polynomial m = Polynomial::symbol("m");
const Polynomial n = Polynomial::symbol("n");
const Polynomial B = Polynomial::symbol("B");

SymbolValues values(long n_value, long B_value) {
  return [=](const std::string& symbol) -> std::optional<mpz_class> {
    if (symbol == "n") return n_value;
    if (symbol == "B") return B_value;
    return std::nullopt;
  };
}

TEST_CASE("polynomials print as a person would write them") {
  REQUIRE(to_string(3 * n) == "3n");
  REQUIRE(to_string(11 * n - 1) == "11n - 1");
  REQUIRE(to_string(2 * n * n + n) == "2n^2 + n");
  REQUIRE(to_string((n * n + n) * mpq_class(1, 2)) == "(n^2 + n)/2");
  REQUIRE(to_string(n * mpq_class(3, 2)) == "3n/2");
  REQUIRE(to_string(Polynomial()) == "0");
  REQUIRE(to_string(-n) == "-n");
  REQUIRE(to_string(4 - n) == "4 - n");
  REQUIRE(to_string(2 * Polynomial::symbol("nk")) == "2*nk");
}

TEST_CASE("symbols of a product print in the order asked for") {
  REQUIRE(to_string(k * m * n) == "k*m*n");
  REQUIRE(to_string(k * m * n + n * n * k, {.unicode = false, .order = {"m", "n", "k"}}) ==
          "m*n*k + n^2*k");
}

TEST_CASE("Unicode output has raised dots, superscripts and brackets") {
  const FormulaStyle unicode{.unicode = true, .order = {}};
  REQUIRE(to_string(m * n + power(n, 12), unicode) == "n¹² + m·n");
  REQUIRE(to_string(2 * ceil_quotient(n, B), unicode) == "2⌈n/B⌉");
}

TEST_CASE("quotients of polynomials are divided out when that reads well") {
  REQUIRE(quotient_to_string(4 * n - 3, n) == "4 - 3/n");
  REQUIRE(quotient_to_string(2 * n * n - 2, n - 1) == "2n + 2");
  REQUIRE(quotient_to_string(5 * n - 4, n - 1) == "(5n - 4)/(n - 1)");
  REQUIRE(quotient_to_string((4 * n - 3) * m, 2 * m * n) == "2 - 3/(2n)");
  REQUIRE(quotient_to_string(Polynomial(), n) == "0");
}

TEST_CASE("equal polynomials are equal however they were made") {
  REQUIRE((n + 1) * (n - 1) == n * n - 1);
  REQUIRE(power(n + B, 2) == n * n + 2 * n * B + B * B);
  REQUIRE((n - n).is_zero());
}

TEST_CASE("equal floors and ceilings have one form") {
  REQUIRE(floor_quotient(n + 5, 2) == ceil_quotient(n, 2) + 2);
  REQUIRE(floor_quotient(n + B - 1, B) == ceil_quotient(n, B));
  REQUIRE(floor_quotient(n - 1, B) == ceil_quotient(n, B) - 1);
  REQUIRE(floor_quotient(-n, B) == -ceil_quotient(n, B));
  REQUIRE(ceil_quotient(n + 1, B) == floor_quotient(n, B) + 1);
  REQUIRE(floor_quotient(2 * n + 1, 4) == floor_quotient(n, 2));
  REQUIRE(ceil_quotient(ceil_quotient(n, B), 3) == ceil_quotient(n, 3 * B));
  REQUIRE(ceil_quotient(n * B, B) == n);
  REQUIRE(to_string(floor_quotient(n * 3 - m, 4)) == "n - ceil((m + n)/4)");
}

TEST_CASE("floors and ceilings keep their values whatever form they get") {
  for (long a = -5; a <= 5; ++a) {
    for (long b = -9; b <= 9; ++b) {
      for (long d = 1; d <= 5; ++d) {
        const Polynomial by_number = floor_quotient(a * n + b, d);
        const Polynomial by_symbol = ceil_quotient(a * n + b, B);
        for (long x = 0; x <= 7; ++x) {
          mpz_class floor;
          mpz_class ceil;
          mpz_fdiv_q(floor.get_mpz_t(), mpz_class(a * x + b).get_mpz_t(), mpz_class(d).get_mpz_t());
          mpz_cdiv_q(ceil.get_mpz_t(), mpz_class(a * x + b).get_mpz_t(), mpz_class(d).get_mpz_t());
          REQUIRE(evaluate(by_number, values(x, d)) == mpq_class(floor));
          REQUIRE(evaluate(by_symbol, values(x, d)) == mpq_class(ceil));
        }
      }
    }
  }
}

TEST_CASE("quotients of quotients keep their values whatever form they get") {
  const auto check = [](const Polynomial& quotient, auto value_at) {
    for (long x = 0; x <= 30; ++x) {
      for (long b = 1; b <= 4; ++b)
        REQUIRE(evaluate(quotient, values(x, b)) == mpq_class(value_at(x, b)));
    }
  };
  const auto floor_of = [](long a, long b) { return (a >= 0 ? a : a - b + 1) / b; };
  const auto ceil_of = [&](long a, long b) { return floor_of(a + b - 1, b); };
  for (long shift = -4; shift <= 4; ++shift) {
    for (long d = 1; d <= 4; ++d) {
      check(floor_quotient(ceil_quotient(n, B) + shift, d),
            [&](long x, long b) { return floor_of(ceil_of(x, b) + shift, d); });
      check(ceil_quotient(ceil_quotient(n, B) + shift, d),
            [&](long x, long b) { return ceil_of(ceil_of(x, b) + shift, d); });
      check(floor_quotient(floor_quotient(n, d) + shift, B),
            [&](long x, long b) { return floor_of(floor_of(x, d) + shift, b); });
      check(ceil_quotient(ceil_quotient(n, d) - B * shift, B),
            [&](long x, long b) { return ceil_of(ceil_of(x, d) - b * shift, b); });
      check(floor_quotient(-ceil_quotient(n, d) + shift, B),
            [&](long x, long b) { return floor_of(-ceil_of(x, d) + shift, b); });
    }
  }
}

TEST_CASE("sums of powers are those of adding up") {
  const Atom i("i");
  for (unsigned exponent = 0; exponent <= 9; ++exponent) {
    const Polynomial closed = sum_over(power(i, exponent), i, 3, n);
    mpz_class sum = 0;
    for (long x = 2; x <= 12; ++x) {  // x = 2: the empty sum
      mpz_class term = 1;
      for (unsigned e = 0; e < exponent; ++e) term *= x;
      if (x > 2) sum += term;
      REQUIRE(evaluate(closed, values(x, 1)) == mpq_class(sum));
    }
  }
  REQUIRE(to_string(sum_over(i, i, 0, n - 1)) == "(n^2 - n)/2");
}

TEST_CASE("substitution reaches into quotients and replaces all at once") {
  const Polynomial tiles = ceil_quotient(n, B) * n;
  REQUIRE(substitute(tiles, Atom("n"), 3 * B) == 9 * B);
  REQUIRE(substitute(tiles, Atom("n"), n + 1) == (floor_quotient(n, B) + 1) * (n + 1));
}

TEST_CASE("evaluation needs every symbol and positive denominators") {
  REQUIRE_FALSE(evaluate(m, values(1, 1)));
  REQUIRE_FALSE(evaluate(ceil_quotient(n, B), values(1, 0)));
  REQUIRE(evaluate(ceil_quotient(n, B), values(7, 2)) == mpq_class(4));
}

TEST_CASE("conditions print as comparisons of positive terms") {
  const auto text = [](const Polynomial& polynomial) {
    return to_string(std::vector<Condition>{{polynomial}});
  };
  REQUIRE(text(n - 1) == "n >= 1");
  REQUIRE(text(n - m) == "n >= m");
  REQUIRE(text(n - m - 1) == "n > m");
  REQUIRE(text(3 - n) == "n <= 3");
  REQUIRE(to_string(std::vector<Condition>{{n - 2}, {2 - n}, {m - 1}}) == "n = 2, m >= 1");
  REQUIRE(to_string(std::vector<Condition>{{n - 1}}, {.unicode = true, .order = {}}) == "n ≥ 1");
}

const Formula guarded = formula_of_terms({}, {{{{n - 3}}, n - 3}, {{{m - n}}, 1}}, {"n", "m"});

TEST_CASE("terms that hold on overlapping regions become disjoint pieces") {
  for (long x = 0; x < 8; ++x) {
    for (long y = 0; y < 8; ++y) {
      const long expected = (x >= 3 ? x - 3 : 0) + (y >= x ? 1 : 0);
      REQUIRE(evaluate(guarded, {{"n", x}, {"m", y}}) == mpz_class(expected));
    }
  }
}

TEST_CASE("a formula says nothing outside its domain") {
  const Formula formula = formula_of_terms({{n - 1}}, {{{}, 3 * n}}, {"n"});
  REQUIRE(to_string(formula) == "3n");
  REQUIRE(to_string(formula.domain) == "n >= 1");
  REQUIRE(evaluate(formula, {{"n", 1}}) == mpz_class(3));
  REQUIRE_FALSE(evaluate(formula, {{"n", 0}}));
  REQUIRE_FALSE(evaluate(formula, {{"n", -1}}));
  REQUIRE_FALSE(evaluate(formula, {}));
}

TEST_CASE("pieces that agree where they meet are merged") {
  const Formula formula = formula_of_terms({}, {{{{n - 1}}, n}}, {"n"});
  REQUIRE(to_string(formula) == "n");
  const Formula range = formula_of_terms({}, {{{{n - 1}}, n - 1}}, {"n"});
  REQUIRE(to_string(range) == "n - 1 for n >= 1; 0 for n = 0");
}

TEST_CASE("formulas add, subtract and compare where both hold") {
  const Formula doubled = guarded + guarded;
  REQUIRE(equivalent(doubled, mpz_class(2) * guarded));
  REQUIRE((doubled - doubled).is_zero());
  REQUIRE_FALSE(equivalent(doubled, guarded));
  const Formula positive = formula_of_terms({{n - 1}}, {{{}, 1}}, {"n"});
  REQUIRE(to_string((guarded + positive).domain) == "n >= 1");
}

TEST_CASE("fixing a parameter gives the formula of the others") {
  const Formula fixed = substitute(guarded, "n", 5);
  REQUIRE(to_string(fixed) == "3 for m >= 5; 2 for m <= 4");
  REQUIRE(fixed.symbols == std::vector<std::string>{"m"});
  REQUIRE(substitute(formula_of_terms({{n - 1}}, {{{}, n}}, {"n"}), "n", 0).pieces.empty());
}

TEST_CASE("two costs that are affine in one price cross at a quotient") {
  const auto formula = [](const Polynomial& value) {
    return formula_of_terms({{n - 1}}, {{{}, value}}, {"n"});
  };
  const AffineInCost safe{formula(8 * n - 1), formula(3 * n)};
  const AffineInCost online{formula(12 * n - 4), formula(2 * n)};
  const auto pieces = crossing(safe, online);
  REQUIRE(pieces.size() == 1);
  REQUIRE(to_string(pieces[0]) == "4 - 3/n");
  REQUIRE(crossing(safe, {formula(n), formula(3 * n)}).empty());
}

TEST_CASE("a typed polynomial is read as on paper") {
  CHECK(parse_polynomial("3n") == 3 * n);
  CHECK(parse_polynomial("2*n*m + n") == 2 * n * m + n);
  CHECK(parse_polynomial("n^2 - m(n - 1)") == n * n - m * n + m);
  CHECK(parse_polynomial("-(n + 1)^2") == -(n * n + 2 * n + 1));
  for (const char* text : {"", "n +", "n)", "(n", "2^n", "n^99", "n ** m", "n/2", "3.5"}) {
    INFO(text);
    CHECK_FALSE(parse_polynomial(text));
  }
}

}  // namespace
}  // namespace flashlab::toy
