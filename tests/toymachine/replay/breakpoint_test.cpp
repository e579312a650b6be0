#include "toymachine/replay/breakpoint.hpp"

#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::test {
namespace {

std::string breakpoint_refusal(const toy::BoundProgram& program, const std::string& text) {
  const auto result = toy::parse_breakpoint(program, text);
  INFO(text);
  REQUIRE_FALSE(result);
  CHECK(result.diagnostics[0].fault == toy::Fault::kRequest);
  return toy::format(result.diagnostics, toy::SourceText("", ""));
}

}  // namespace

TEST_CASE("breakpoints are read as people write them", "[replay]") {
  const toy::BoundProgram program = bundled("flash2");
  const auto read = [&](const std::string& text) {
    const auto result = toy::parse_breakpoint(program, text);
    INFO(text);
    REQUIRE(result);
    return *result;
  };
  const toy::Breakpoint line = read(" line 1 ");
  CHECK(line.kind == toy::Breakpoint::Kind::kLine);
  CHECK(line.site == 0);
  CHECK(line.line == program.instructions[0].span.line);
  const toy::Breakpoint tested = read("40 if L >= -2.5");
  CHECK(tested.test->op == toy::ValueTest::Op::kAtLeast);
  CHECK(tested.test->value == -2.5);
  CHECK(program.register_name(tested.place.number) == "L");
  CHECK(read("Q[0] != 0").kind == toy::Breakpoint::Kind::kBecomes);
  CHECK(read("M == -inf").test->value == -INFINITY);
  const toy::Breakpoint written = read("o[7][3] is written");
  CHECK(written.kind == toy::Breakpoint::Kind::kWritten);
  CHECK(toy::place_name(program, written.place) == "o[7][3]");
  CHECK(read("o[0][0]<0").kind == toy::Breakpoint::Kind::kWritten);
}

TEST_CASE("a breakpoint that cannot be is refused with what could be", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 4}}));
  CHECK_THAT(breakpoint_refusal(program, "out[4] is written"), contains("out[0 to 3]"));
  CHECK_THAT(breakpoint_refusal(program, "out[0][0] is written"), contains("'out[0][0]'"));
  CHECK_THAT(breakpoint_refusal(program, "R4 > 0"), contains("'R4'") && contains("R0 to R3"));
  CHECK_THAT(breakpoint_refusal(program, "uot[0] > 1"), contains("out"));
  CHECK_THAT(breakpoint_refusal(program, "R1 > zero"), contains("'zero' is no number"));
  CHECK_THAT(breakpoint_refusal(program, "R1 > nan"), contains("'nan' is no number"));
  CHECK_THAT(breakpoint_refusal(program, "99"), contains("line 99"));
  CHECK_THAT(breakpoint_refusal(program, "15 if i == 2"), contains("no loop over i"));
  CHECK_THAT(breakpoint_refusal(program, "24 if i"), contains("'i' is no test"));
  CHECK_THAT(breakpoint_refusal(program, "24 if out[4] + 1"), contains("no test"));
  CHECK_THAT(breakpoint_refusal(program, "R1 > 0 && R2 > 0"),
             contains("more than one value") && contains("R1 is written if R1 > 0 && R2 > 0"));
  for (const char* where : {"24 if ", "R1 is written if "}) {
    const auto never = [&](const std::string& test) {
      return breakpoint_refusal(program, where + test);
    };
    CHECK_THAT(never("R0 % 2 == 1"), contains("'R0 % 2' has no remainder"));
    CHECK_THAT(never("n % 0 == 1"), contains("has no remainder"));
    CHECK_THAT(never("R0 && R1 > 2"), contains("'R0' is no test"));
    CHECK_THAT(never("!R0"), contains("'R0' is no test"));
    CHECK_THAT(never("x[R0] > 1"), contains("the index 'R0' is no whole number"));
    CHECK_THAT(never("x[4] > R0"), contains("no cell 'x[4]'") && contains("x[0 to 3]"));
    CHECK_THAT(never("x[-1] > R0"), contains("no cell"));
    CHECK_THAT(never("x[0][0] > R0"), contains("has 2 indices"));
    CHECK_THAT(never("(n == 2) + 1 > R0"), contains("is a test and no number"));
  }
  CHECK(toy::parse_breakpoint(program, "24 if x[n - 1] > R0 && n / 2 % 2 == 0"));
  CHECK_THAT(breakpoint_refusal(program, "R1 is written if R1 + 1"), contains("no test"));
  CHECK_THAT(breakpoint_refusal(program, "R1 is written if k > 1"), contains("'k'"));
  CHECK_THAT(breakpoint_refusal(program, "sometimes"), contains("12 if R1 > 0"));
  CHECK_THAT(breakpoint_refusal(program, ""), contains("12 if R1 > 0"));
  CHECK_THAT(breakpoint_refusal(program, "R99999999999999999999 > 0"), contains("R0 to R3"));
}

}  // namespace flashlab::test
