// Formulas in few terms: halves, and which terms grow fastest.
#include "toymachine/count/growth.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/count/cost_formula.hpp"

namespace flashlab::toy {
namespace {

const Polynomial seqlen = Polynomial::symbol("n");
const Polynomial head_dim = Polynomial::symbol("d");
const Polynomial block = Polynomial::symbol("B");
const Polynomial lower_half = floor_quotient(seqlen, 2);
const Polynomial upper_half = ceil_quotient(seqlen, 2);
const Polynomial n_tiles = ceil_quotient(seqlen, block);

std::vector<std::string> texts(const std::vector<Polynomial>& terms) {
  std::vector<std::string> texts;
  for (const Polynomial& term : terms) texts.push_back(to_string(term));
  return texts;
}

std::vector<std::string> fastest_first(const Polynomial& polynomial, const ParameterValues& sizes) {
  const Formula formula{{}, {{{}, polynomial}}, {}};
  return texts(Growth(sizes, divisor_symbols(formula)).terms(polynomial));
}

/// Every bundled program's formulas, with its default sizes.
template <class Check>
void for_each_bundled_formula(Check check) {
  for (const auto& entry :
       std::filesystem::directory_iterator(test::kSourceRoot / "toymachine/programs")) {
    if (entry.path().extension() != ".toy") continue;
    const auto program = test::assembled(test::read_source(entry.path()));
    const auto formulas = cost_formulas(*program);
    if (!formulas) continue;
    ParameterValues sizes;
    for (const std::string& symbol : formulas->symbols) sizes[symbol] = 8 - sizes.size();
    INFO(entry.path());
    const auto check_one = [&](const Formula& formula) {
      for (const Piece& piece : formula.pieces) check(formula, piece.value, sizes);
    };
    for (const FormulaField& field : formula_fields()) check_one(formulas->total.*field.value);
    for (const Formula& formula : formulas->total.by_instruction) check_one(formula);
    for (const ArrayTrafficFormulas& traffic : formulas->total.by_array) {
      check_one(traffic.elements_loaded);
      check_one(traffic.elements_stored);
    }
  }
}

TEST_CASE("floor(n/2) and ceil(n/2) add up to n, and their difference is its own square") {
  REQUIRE(with_fewest_terms(lower_half + upper_half) == seqlen);
  const Polynomial odd = upper_half - lower_half;
  REQUIRE(with_fewest_terms(odd * odd - odd).is_zero());
  REQUIRE(with_fewest_terms(power(seqlen - 2 * lower_half, 3) - seqlen + 2 * lower_half).is_zero());
  REQUIRE(with_fewest_terms(power(2 * upper_half - seqlen, 4) - 2 * upper_half + seqlen).is_zero());
  // The sum of 1, …, n from its even and odd terms.
  const Polynomial evens = lower_half * (lower_half + 1), odds = upper_half * upper_half;
  REQUIRE(with_fewest_terms(head_dim * (evens + odds)) ==
          head_dim * (seqlen * seqlen + seqlen) * mpq_class(1, 2));
}

TEST_CASE("halves that stand alone, and other quotients, stay as they are") {
  for (const Polynomial& polynomial :
       {upper_half, lower_half, lower_half * lower_half,
        n_tiles * n_tiles + floor_quotient(seqlen, block), seqlen + 3 * upper_half,
        ceil_quotient(seqlen, 4) + floor_quotient(seqlen, 4)}) {
    REQUIRE(with_fewest_terms(polynomial) == polynomial);
  }
}

TEST_CASE("a polynomial with fewer terms has the same values") {
  const Polynomial halves[] = {lower_half, upper_half, seqlen, head_dim, 1};
  for (int seed = 0; seed < 200; ++seed) {
    Polynomial polynomial;
    int digits = seed * 7919 + 12345;
    for (int term = 0; term < 6; ++term) {
      Polynomial product = digits % 7 - 3;
      for (int factor = 0; factor < 3; ++factor) product *= halves[(digits /= 5) % 5];
      polynomial += product;
      digits = (digits + 1) * 31 % 99991;
    }
    const Polynomial shortest = with_fewest_terms(polynomial);
    INFO(to_string(polynomial) << " and " << to_string(shortest));
    REQUIRE(shortest.terms().size() <= polynomial.terms().size());
    for (long value = 0; value < 9; ++value) {
      const SymbolValues lookup = [=](const std::string& symbol) {
        return std::optional<mpz_class>(symbol == "n" ? value : 3);
      };
      REQUIRE(evaluate(polynomial, lookup) == evaluate(shortest, lookup));
    }
  }
}

TEST_CASE("the loads of a causal ring are a short formula") {
  // Of each machine's shard with N = ceil(n/B) and D = ceil(d/Bd) tiles: 2ND to copy, ND + DN(N +
  // 1) for q, k and v, 2N + ND at the end. Machine r goes on r times: N(2 + 2D + 2ND). Over R
  // machines, these sum up.
  const auto program =
      test::assembled(test::read_source(test::kSourceRoot / "toymachine/programs/ring_causal.toy"));
  const auto formulas = cost_formulas(*program);
  REQUIRE(formulas);
  const Polynomial R = Polynomial::symbol("ranks"), N = n_tiles,
                   D = ceil_quotient(head_dim, Polynomial::symbol("Bd"));
  const Polynomial once = 2 * N * D + N * D + D * N * (N + 1) + 2 * N + N * D;
  const Polynomial again = N * (2 + 2 * D + 2 * N * D);
  const Polynomial expected = R * once + (R * R - R) * mpq_class(1, 2) * again;
  REQUIRE(formulas->total.loads.polynomial() != nullptr);
  CHECK(*formulas->total.loads.polynomial() == expected);
  CHECK(expected.terms().size() == 5);
}

TEST_CASE("terms of higher degree grow faster, then those with the larger value") {
  const Polynomial polynomial =
      1 + 1000 * seqlen + 3 * seqlen * seqlen + 5 * seqlen * head_dim + seqlen * seqlen * head_dim;
  CHECK(fastest_first(polynomial, {{"n", 8}, {"d", 4}}) ==
        std::vector<std::string>{"d*n^2", "3n^2", "5d*n", "1000n", "1"});
  CHECK(fastest_first(polynomial, {{"n", 8}, {"d", 64}}) ==
        std::vector<std::string>{"d*n^2", "5d*n", "3n^2", "1000n", "1"});
}

TEST_CASE("tiles and registers do not grow, and a ceiling is larger than its quotient") {
  CHECK(
      fastest_first(seqlen * n_tiles + 7 * seqlen + block * block * block, {{"n", 8}, {"B", 2}}) ==
      std::vector<std::string>{"n*ceil(n/B)", "7n", "B^3"});
  CHECK(fastest_first(seqlen * seqlen + seqlen * block * n_tiles, {{"n", 8}, {"B", 2}}) ==
        std::vector<std::string>{"B*n*ceil(n/B)", "n^2"});
  CHECK(
      fastest_first(seqlen + 5 * Polynomial::symbol("registers"), {{"n", 2}, {"registers", 100}}) ==
      std::vector<std::string>{"n", "5*registers"});
}

TEST_CASE(
    "no term that is left out of a bundled program's formula is larger than one that is kept") {
  std::size_t compared = 0;
  for_each_bundled_formula([&](const Formula& formula, const Polynomial& value,
                               const ParameterValues& sizes) {
    const std::set<std::string> fixed = divisor_symbols(formula);
    const std::vector<Polynomial> terms = Growth(sizes, fixed).terms(value);
    CHECK(leading_terms(terms, terms.size()).kept == value);
    for (const long factor : {1'000'000L, 1'000'000'000L}) {
      const SymbolValues grown = [&](const std::string& symbol) {
        const bool stays = fixed.contains(symbol) || symbol == "registers";
        return std::optional<mpz_class>(sizes.at(symbol) * (stays ? 1 : factor) + (stays ? 0 : 1));
      };
      for (std::size_t i = 1; i < terms.size(); ++i) {
        INFO(to_string(terms[i - 1]) << " before " << to_string(terms[i]));
        CHECK(abs(*evaluate(terms[i - 1], grown)) >= abs(*evaluate(terms[i], grown)));
        ++compared;
      }
    }
  });
  CHECK(compared > 1000);
}

TEST_CASE("terms that cancel do not tell how a formula grows") {
  // n^2 - n B ceil(n/B) + 5n: the first two are as large as each other.
  const Polynomial whole = seqlen * seqlen - seqlen * block * n_tiles + 5 * block * seqlen;
  const Growth growth({{"n", 8}, {"B", 2}}, {"B"});
  CHECK_FALSE(growth.represents(-(seqlen * block * n_tiles), whole));
  CHECK_FALSE(growth.represents(seqlen * seqlen, whole));
  CHECK(growth.represents(whole, whole));
  CHECK(growth.represents(seqlen * seqlen, seqlen * seqlen + 3 * seqlen * n_tiles));
  CHECK_FALSE(growth.represents(seqlen, -seqlen));
}

TEST_CASE("leading terms say how many others there are") {
  const std::vector<Polynomial> terms{seqlen * seqlen, 3 * seqlen, 1};
  const LeadingTerms leading = leading_terms(terms, 2);
  CHECK(leading.kept == seqlen * seqlen + 3 * seqlen);
  CHECK(leading.left_out == 1);
  CHECK(leading_terms(terms, 5).left_out == 0);
}

}  // namespace
}  // namespace flashlab::toy
