// What `.name` lines claim, computed from the inputs.
#include "toymachine/trace/claim.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

const std::vector<double> kInputs{1, 4, -2, 3};  // x, n = 4

/// A program whose only claim is `claim`, about x[0..3]; the earlier label m claims the maximum.
BoundProgram claiming(const std::string& claim) {
  return bound(
      ".isa softmax\n.param n = 4\n.const half = 0.5\n.input x[n]\n.output o[n]\n"
      "LOAD x[0], R0\n.name R0 = m = max(j in 0..n: x[j])\n.name R0 = c = " +
      claim + "\n");
}

std::optional<Estimate> value_of(const std::string& claim, std::uint64_t max_work = 10'000) {
  const BoundProgram program = claiming(claim);
  ClaimChecker checker(
      program, [](std::size_t element) { return kInputs[element]; }, max_work);
  for (const BoundLabel& label : program.labels) {
    const auto estimate = checker.evaluate(*label.name->claim, nullptr, kNoLoop);
    if (label.name->label == "c") return estimate;
    checker.define(label.name->label, {}, estimate);
  }
  return std::nullopt;
}

double number(const std::string& claim) {
  INFO(claim);
  const auto estimate = value_of(claim);
  REQUIRE(estimate);
  return estimate->value;
}

auto near(double value) { return Catch::Matchers::WithinAbs(value, 1e-12); }

}  // namespace

TEST_CASE("claims sum and maximise over ranges of cells") {
  CHECK(number("sum(j in 0..n: x[j])") == 6);
  CHECK(number("max(j in 0..n: x[j])") == 4);
  CHECK(number("sum(j in 1..3: x[j] * x[j])") == 20);
  CHECK(number("sum(i in 0..n: sum(j in 0..i: x[j]))") == 0 + 1 + 5 + 3);
}

TEST_CASE("an empty sum is 0, and the maximum of nothing is -inf") {
  CHECK(number("sum(j in 2..2: x[j])") == 0);
  CHECK(number("max(j in 2..1: x[j])") == -std::numeric_limits<double>::infinity());
}

TEST_CASE("claims know functions, parameters, constants and earlier labels") {
  CHECK_THAT(number("exp(x[0]) + log(x[1]) + sqrt(x[1]) + half"),
             near(std::exp(1.0) + std::log(4.0) + 2 + 0.5));
  CHECK(number("max(x[0], x[1], n) - min(x[0], x[2]) / n") == 4.5);
  CHECK_THAT(number("sum(j in 0..n: exp(x[j] - m))"),
             near(std::exp(-3.0) + 1 + std::exp(-6.0) + std::exp(-1.0)));
  CHECK(number("floor(half) + ceil(half) + extent(x)") == 5);
}

TEST_CASE("a claim about something unknown has no value") {
  CHECK_FALSE(value_of("o[0]"));       // an output, whatever it will hold
  CHECK_FALSE(value_of("x[n]"));       // no such cell
  CHECK_FALSE(value_of("log(x[2])"));  // of a negative number
  CHECK_FALSE(value_of("1 / (x[0] - 1) - 1 / (x[0] - 1)"));
}

TEST_CASE("claims stop being computed when their work is used up") {
  CHECK(value_of("sum(j in 0..1000: j)", 5000));
  CHECK_FALSE(value_of("sum(j in 0..1000: j)", 500));
  CHECK_FALSE(value_of("sum(j in 0..1000000000000: 1)", 5000));
}

TEST_CASE("a claim allows for the rounding of a float program, and for no more") {
  const double epsilon = std::numeric_limits<float>::epsilon();
  const double smallest = std::numeric_limits<float>::min();
  const auto third = value_of("x[0] / 3");
  REQUIRE(third);
  CHECK(third->allows(static_cast<double>(1.0f / 3.0f), epsilon, smallest));
  CHECK_FALSE(third->allows(1.0 / 3 + 1e-4, epsilon, smallest));
  CHECK_FALSE(third->allows(static_cast<double>(1.0f / 3.0f), 0x1p-52, 0));
}

TEST_CASE("a difference that cancels is allowed the error of its terms") {
  const double epsilon = std::numeric_limits<float>::epsilon();
  const auto difference = value_of("(x[1] / 3 + 1000) - (x[0] / 3 + 1001)");
  REQUIRE(difference);
  const float computed = (4.0f / 3.0f + 1000.0f) - (1.0f / 3.0f + 1001.0f);
  CHECK(difference->allows(static_cast<double>(computed), epsilon, 0));
  CHECK_FALSE(difference->allows(0.01, epsilon, 0));
}

TEST_CASE("what underflows in float may be 0") {
  const auto tiny = value_of("exp(0 - 100)");
  REQUIRE(tiny);
  CHECK(tiny->allows(0, std::numeric_limits<float>::epsilon(), std::numeric_limits<float>::min()));
}

TEST_CASE("infinity is claimed exactly") {
  const auto nothing = value_of("0 - inf");
  REQUIRE(nothing);
  CHECK(nothing->allows(-HUGE_VAL, 1e-7, 0));
  CHECK_FALSE(nothing->allows(-1e38, 1e-7, 0));
}

TEST_CASE("when a prime goes, the label without it stands for the new value") {
  const BoundProgram program =
      bound(".isa softmax\n.input x[4]\nLOAD x[0], R0\n.name R0 = t = m + 1\n.name R0 = m\n");
  ClaimChecker checker(
      program, [](std::size_t element) { return kInputs[element]; }, 1000);
  const Expression& claim = *program.labels[0].name->claim;
  CHECK_FALSE(checker.evaluate(claim, nullptr, kNoLoop));
  checker.define("m'", {}, Estimate{7, 0, 0});
  checker.rename("m'", "m", {});
  const auto estimate = checker.evaluate(claim, nullptr, kNoLoop);
  REQUIRE(estimate);
  CHECK(estimate->value == 8);
  checker.rename("m'", "m", {});  // a value that nobody claimed
  CHECK_FALSE(checker.evaluate(claim, nullptr, kNoLoop));
}
