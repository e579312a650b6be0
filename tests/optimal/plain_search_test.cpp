// The plain search finds what can be counted by hand.
#include "optimal/solve/plain_search.hpp"

#include "tests/catch_shim.hpp"

namespace {

using flashlab::optimal::MatrixProduct;
using flashlab::optimal::plain_search;
using flashlab::optimal::ProductMachine;
using flashlab::toy::OperandRule;

constexpr std::uint64_t kMaxStates = 20'000'000;

}  // namespace

TEST_CASE("one element of a 2 x 2 product takes 7 cycles, as the notes' trace does") {
  const OperandRule rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto answer = plain_search({1, 2, 1}, {3, rule, false, {}}, kMaxStates);
  REQUIRE(answer);
  CHECK(answer->cycles == 7);
}

TEST_CASE("a sum of two terms cannot be made with two registers") {
  const OperandRule rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const bool spills = GENERATE(false, true);
  const auto answer = plain_search({1, 2, 1}, {2, rule, spills, {}}, kMaxStates);
  REQUIRE(answer);
  CHECK_FALSE(answer->cycles);
}

TEST_CASE("a product of one term can be made with two registers and not with one") {
  CHECK(plain_search({1, 1, 1}, {2, OperandRule::kPinned, false, {}}, kMaxStates)->cycles == 4);
  CHECK_FALSE(plain_search({1, 1, 1}, {1, OperandRule::kAny, false, {}}, kMaxStates)->cycles);
}

TEST_CASE("the notes' 25 cycles with 3 registers are the best there is") {
  const OperandRule rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto answer = plain_search({2, 2, 2}, {3, rule, false, {}}, kMaxStates);
  REQUIRE(answer);
  CHECK(answer->cycles == 25);
}

TEST_CASE("a search that may not reach enough states says so") {
  CHECK_FALSE(plain_search({2, 2, 2}, {3, OperandRule::kAny, false, {}}, 10));
}
