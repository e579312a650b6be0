#include <map>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/random_nest.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::toy {
namespace {

using test::assembled;
using test::bound;

/// Executions of one instruction inside `loops`, a line each.
Result<Executions> counted_executions(const std::vector<std::string>& loops) {
  std::string text = ".isa softmax\n.registers 2\n";
  for (const std::string& loop : loops) text += loop + "\n";
  text += "MOV R0, R1\n";
  for (std::size_t i = 0; i < loops.size(); ++i) text += "end\n";
  return count_executions(bound(assembled(text)));
}

Count iterations(const std::vector<std::string>& loops) {
  const auto counts = counted_executions(loops);
  REQUIRE(counts);
  return counts->times.at(0);
}

TEST_CASE("random nests are counted as enumeration counts them") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const std::string text = test::RandomNest(seed, false).text();
    INFO("seed " << seed << "\n" << text);
    const BoundProgram program = bound(assembled(text));
    const auto counts = count_executions(program);
    REQUIRE(counts);
    REQUIRE(counts->times == test::Enumeration(program).counts());
  }
}

TEST_CASE("a rectangular nest runs the product of its lengths") {
  REQUIRE(iterations({"for i in 0..1000000000", "for j in -5..7", "for k in 1..9 step 3"}) ==
          Count("36000000000"));
}

TEST_CASE("counts beyond 64 bits are exact") {
  const std::string loop = "in 0..1000000000";
  REQUIRE(iterations({"for i " + loop, "for j " + loop, "for k " + loop}) ==
          Count("1000000000000000000000000000"));
}

TEST_CASE("a triangle of 10^9 rows is counted, not walked through") {
  REQUIRE(iterations({"for i in 0..1000000000", "for j in 0..i+1"}) == Count("500000000500000000"));
}

TEST_CASE("blocks cut off at the end cover their range once") {
  REQUIRE(iterations({"for b in 0..1000000000 step 64", "for i in b..min(b+64, 1000000000)"}) ==
          1000000000);
  REQUIRE(iterations({"for b in 0..15625001", "for i in 64*b..min(64*b+64, 1000000007)"}) ==
          1000000007);
}

TEST_CASE("blocks with a triangle inside are counted exactly") {
  REQUIRE(iterations({"for b in 0..1000 step 64", "for i in b..min(b+64, 1000)",
                      "for j in b..i+1"}) == 15 * (64 * 65 / 2) + 40 * 41 / 2);
}

TEST_CASE("ranges that never run count nothing") {
  REQUIRE(iterations({"for i in 5..5"}) == 0);
  REQUIRE(iterations({"for i in 9..3", "for j in 0..i"}) == 0);
  REQUIRE(iterations({"for i in 0..1000000", "for j in i+1..i"}) == 0);
}

TEST_CASE("a large divisor is counted from the other side") {
  REQUIRE(iterations({"for i in 0..1000000000", "for j in 0..ceildiv(i, 1000003)"}) ==
          Count("500498500500"));
}

TEST_CASE("sixty nested triangles are a binomial coefficient") {
  std::vector<std::string> loops{"for i0 in 0..1000000"};
  for (int depth = 1; depth < 60; ++depth) {
    const std::string outer = "i" + std::to_string(depth - 1);
    loops.push_back("for i" + std::to_string(depth) + " in 0.." + outer + " + 1");
  }
  Count expected;
  mpz_bin_uiui(expected.get_mpz_t(), 1000000 + 59, 60);
  REQUIRE(iterations(loops) == expected);
}

TEST_CASE("what is too long to sum but short to walk through is walked through") {
  Count expected = 0;
  for (long i = 0; i < 1000; ++i) expected += (500003 * i + 1000002) / 1000003;
  REQUIRE(iterations({"for i in 0..1000", "for j in 0..ceildiv(500003*i, 1000003)"}) == expected);
}

TEST_CASE("a step up to the largest integer is taken once, also where a nest is walked through") {
  for (const std::string step : {"9223372036854775807", "9223372036854775806", "999999999999"}) {
    REQUIRE(iterations({"for h in 1..3 step " + step, "for i in 0..1000",
                        "for j in 0..ceildiv(500003*i + h, 1000003)"}) ==
            iterations({"for h in 1..2", "for i in 0..1000",
                        "for j in 0..ceildiv(500003*i + h, 1000003)"}));
  }
}

TEST_CASE("divisors that leave only enumeration are refused with the place") {
  const auto counts =
      counted_executions({"for i in 0..1000000000", "for j in 0..ceildiv(500003*i, 1000003)"});
  REQUIRE_FALSE(counts);
  REQUIRE(counts.diagnostics[0].fault == Fault::kLimit);
  REQUIRE(counts.diagnostics[0].span.line == 4);
  REQUIRE_THAT(counts.diagnostics[0].what, test::contains("'j'"));
}

}  // namespace
}  // namespace flashlab::toy
