// The proven best: against the plain search, against the notes, and where it may not finish.
#include "optimal/solve/solve.hpp"

#include <atomic>
#include <stdexcept>
#include <tuple>

#include "optimal/solve/plain_search.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::toy::OperandRule;

constexpr std::int64_t kNoProgram = -1;  // no program exists

std::int64_t proven_cycles(const MatrixProduct& product, const ProductMachine& machine) {
  const Answer answer = solve(product, machine);
  if (answer.verdict == Verdict::kInfeasible) {
    CHECK_FALSE(answer.program);
    return kNoProgram;
  }
  REQUIRE(answer.verdict == Verdict::kOptimal);
  REQUIRE(answer.program);
  CHECK(answer.program->cycles == answer.lower_cycles);
  return answer.lower_cycles;
}

}  // namespace

TEST_CASE("the best 2 x 2 products: three registers are the minimum, six load nothing twice") {
  // By registers from 2 on.
  const auto [rule, cycles] = GENERATE(
      std::tuple(OperandRule::kAny, std::array{kNoProgram, 25L, 22L, 21L, 20L, 20L, 20L}),
      std::tuple(OperandRule::kPinned, std::array{kNoProgram, 25L, 23L, 23L, 22L, 22L, 22L}));
  for (int registers = 2; registers <= 8; ++registers) {
    INFO(registers << " registers");
    CHECK(proven_cycles({2, 2, 2}, {registers, rule, false, {}}) ==
          cycles[static_cast<std::size_t>(registers - 2)]);
  }
}

TEST_CASE("the best products of 2 x 3 x 2 and 3 x 2 x 3 are proved for 3 to 8 registers") {
  const auto [product, rule, cycles] = GENERATE(
      std::tuple(MatrixProduct{2, 3, 2}, OperandRule::kAny, std::array{37, 32, 31, 29, 28, 28}),
      std::tuple(MatrixProduct{2, 3, 2}, OperandRule::kPinned, std::array{37, 33, 33, 31, 31, 31}),
      std::tuple(MatrixProduct{3, 2, 3}, OperandRule::kAny, std::array{55, 47, 45, 43, 41, 40}),
      std::tuple(MatrixProduct{3, 2, 3}, OperandRule::kPinned, std::array{55, 51, 49, 49, 48, 48}));
  for (int registers = 3; registers <= 8; ++registers) {
    INFO(registers << " registers");
    CHECK(proven_cycles(product, {registers, rule, false, {}}) ==
          cycles[static_cast<std::size_t>(registers - 3)]);
  }
}

TEST_CASE("the solver and the plain search agree") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto [product, most_registers] =
      GENERATE(std::tuple(MatrixProduct{1, 1, 1}, 3), std::tuple(MatrixProduct{1, 2, 1}, 4),
               std::tuple(MatrixProduct{1, 4, 1}, 3), std::tuple(MatrixProduct{2, 1, 2}, 4),
               std::tuple(MatrixProduct{3, 1, 2}, 3), std::tuple(MatrixProduct{2, 2, 1}, 4),
               std::tuple(MatrixProduct{1, 2, 2}, 4), std::tuple(MatrixProduct{1, 3, 2}, 3),
               std::tuple(MatrixProduct{2, 2, 2}, 3));
  for (int registers = 1; registers <= most_registers; ++registers) {
    const ProductMachine machine{registers, rule, false, {5, 3, 2, 1}};
    INFO(registers << " registers, " << product.rows << " x " << product.inner << " x "
                   << product.columns);
    const auto plain = plain_search(product, machine, 1'000'000);
    REQUIRE(plain);
    CHECK(proven_cycles(product, machine) == plain->cycles.value_or(kNoProgram));
  }
}

TEST_CASE("the solver and the plain search agree where partial sums may be stored") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto costs = GENERATE(ProductCosts{}, ProductCosts{7, 1, 1, 1}, ProductCosts{1, 0, 3, 2},
                              ProductCosts{0, 1, 1, 1});
  const auto [product, most_registers] =
      GENERATE(std::tuple(MatrixProduct{1, 2, 1}, 4), std::tuple(MatrixProduct{2, 1, 2}, 3),
               std::tuple(MatrixProduct{2, 2, 1}, 3), std::tuple(MatrixProduct{1, 3, 1}, 3));
  for (int registers = 2; registers <= most_registers; ++registers) {
    const ProductMachine machine{registers, rule, true, costs};
    INFO(registers << " registers, " << product.rows << " x " << product.inner << " x "
                   << product.columns);
    const auto plain = plain_search(product, machine, 1'000'000);
    REQUIRE(plain);
    CHECK(proven_cycles(product, machine) == plain->cycles.value_or(kNoProgram));
  }
}

TEST_CASE("storing a partial sum pays where loads are dear and any register may be a factor") {
  const ProductCosts dear_loads{5, 1, 1, 1};
  const auto best = [&](OperandRule rule, bool spills) {
    return proven_cycles({2, 2, 2}, {3, rule, spills, dear_loads});
  };
  CHECK(best(OperandRule::kAny, false) == 13 * 5 + 8 + 4);
  CHECK(best(OperandRule::kAny, true) == 12 * 5 + 8 + 6);
  CHECK(best(OperandRule::kPinned, true) == best(OperandRule::kPinned, false));
}

TEST_CASE("a search that is stopped bounds the best from both sides") {
  SolveLimits limits;
  const MatrixProduct product{3, 3, 3};
  const ProductMachine machine{7, OperandRule::kPinned, false, {}};  // 68 cycles, in seconds
  std::atomic<bool> cancel{false};
  const bool by_memory = GENERATE(true, false);  // or by the caller
  if (by_memory) limits.max_bytes = std::size_t{16} << 20;
  limits.progress_every_s = 0;
  limits.progress = [&](const Progress& progress) {
    CHECK(progress.states > 0);
    CHECK(progress.lower_cycles <= 68);
    CHECK(progress.upper_cycles.value_or(68) >= 68);
    if (!by_memory) cancel = true;
  };
  limits.cancel = &cancel;
  const Answer answer = solve(product, machine, limits);
  CHECK(answer.verdict == Verdict::kBounded);
  CHECK(answer.lower_cycles <= 68);
  CHECK(answer.lower_cycles >= 27 + 9 + 18);  // products, stores, and each input once
  REQUIRE(answer.program);
  CHECK(answer.program->cycles >= 68);
  CHECK(answer.bytes <= limits.max_bytes);
}

TEST_CASE("a search without a first program finds the same best") {
  SolveLimits limits;
  limits.beam_width = 0;
  const Answer answer = solve({3, 2, 3}, {5, OperandRule::kAny, false, {}}, limits);
  CHECK(answer.verdict == Verdict::kOptimal);
  CHECK(answer.lower_cycles == 45);
}

TEST_CASE("a state whose outputs have no room in 64 bits is searched like any other") {
  // 57 bits of terms and inputs: with 12 outputs there would be 69.
  const std::int64_t first = GENERATE(4, 3);
  const MatrixProduct product{static_cast<int>(first), 3, static_cast<int>(7 - first)};
  const Answer answer = solve(product, {16, OperandRule::kAny, false, {}});
  REQUIRE(answer.verdict == Verdict::kOptimal);
  CHECK(answer.lower_cycles == 36 + 12 + 21);  // each input once
  REQUIRE(answer.program);
  CHECK(answer.program->loads == 21);
}

TEST_CASE("what the solver cannot represent is refused") {
  CHECK_THROWS_AS(solve({0, 2, 2}, {}), std::invalid_argument);
  CHECK_THROWS_AS(solve({4, 4, 4}, {}), std::invalid_argument);
  CHECK_THROWS_AS(solve({2, 2, 2}, {3, OperandRule::kAny, true, {1'000'000'007, 1, 1, 1}}),
                  std::invalid_argument);
}
