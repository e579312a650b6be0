// Expressions over a run, and breakpoints whose conditions they are.
#include "toymachine/replay/watch_expression.hpp"

#include <random>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/random_nest.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::test {
namespace {

using toy::WatchExpression;
using toy::WatchValue;

constexpr const char* kNest = R"(.isa softmax
.registers 3
.reg Q[2], m
.param n = 4
.input x[n]
.input a[n][2]
.output y[n]
for i in 0..n
  for j in 0..2
    LOAD x[i], Q[j]
  end
  LOAD a[i][1], m
  STORE m, y[i]
end
)";

std::unique_ptr<toy::Replay> run_of(const toy::BoundProgram& program) {
  auto replay = toy::Replay::start(program, toy::InitialDram::make(program, {}).value.value(), {});
  REQUIRE(replay);
  return std::move(*replay);
}

WatchValue watched_value(toy::Replay& run, const std::string& text) {
  const auto parsed = WatchExpression::parse(run.program(), text);
  INFO(text);
  REQUIRE(parsed);
  const auto value = parsed->value(run);
  if (!value) INFO(value.diagnostics.front().what);
  REQUIRE(value);
  return *value;
}

/// The nest with instructions that can run.
std::string loading(std::string text) {
  const std::string move = "MOV R0, R1", load = "LOAD x[0], R1";
  for (std::size_t at = 0; (at = text.find(move, at)) != std::string::npos; at += load.size()) {
    text.replace(at, move.size(), load);
  }
  return text.insert(text.find(".registers"), ".input x[1]\n");
}

std::string refusal_of(toy::Replay& run, const std::string& text) {
  const auto parsed = WatchExpression::parse(run.program(), text);
  if (!parsed) return toy::format(parsed.diagnostics, toy::SourceText("", ""));
  const auto value = parsed->value(run);
  INFO(text);
  REQUIRE_FALSE(value);
  return toy::format(value.diagnostics, toy::SourceText("", ""));
}

}  // namespace

TEST_CASE("loop variables, parameters, cells and registers have values where the run stands",
          "[replay]") {
  const toy::BoundProgram program = bound(assembled(kNest));
  const auto run = run_of(program);
  run->go_to(9);  // i = 2, j = 1
  CHECK(watched_value(*run, "i").whole == 2);
  CHECK(watched_value(*run, " j ").whole == 1);
  CHECK(watched_value(*run, "n").whole == 4);
  CHECK(watched_value(*run, "n * (i + 1) - 2*j").whole == 10);
  CHECK(watched_value(*run, "7 % n").whole == 3);
  CHECK(watched_value(*run, "(i - 7) % n").whole == 3);
  CHECK(watched_value(*run, "x[i]").number == run->cell(program.arrays[0].offset + 2));
  CHECK(watched_value(*run, "a[i - 1][1]").number == run->cell(program.arrays[1].offset + 3));
  CHECK(watched_value(*run, "Q[j - 1]").number == run->cell(program.arrays[0].offset + 2));
  CHECK(watched_value(*run, "R0 - Q[0]").number == 0);
  CHECK(watched_value(*run, "y[i]").kind == WatchValue::Kind::kUnwritten);
  CHECK(watched_value(*run, "y[i] + 1").kind == WatchValue::Kind::kUnwritten);
  CHECK(watched_value(*run, "i / 4").number == 0.5);
  CHECK(watched_value(*run, "6 / i").whole == 3);
}

TEST_CASE("comparisons bind as people expect, and unwritten values pass none", "[replay]") {
  const toy::BoundProgram program = bound(assembled(kNest));
  const auto run = run_of(program);
  run->go_to(9);
  for (const char* const text :
       {"i == 2", "i == 2 && j == 1", "i > 5 || j >= 1", "not i == 3 and n != 3", "!(i < 2)",
        "x[i] == Q[0]", "i + 1 <= n - 1", "R0 < inf", "-inf < R0", "1 < 2 && 2 < 3 || 3 < 2"}) {
    INFO(text);
    CHECK(watched_value(*run, text).holds());
  }
  for (const char* const text : {"y[i] < 1", "y[i] == y[i]", "y[i] != 0", "i == 2 && j == 0"}) {
    INFO(text);
    CHECK_FALSE(watched_value(*run, text).holds());
  }
}

TEST_CASE("an expression that has no value is refused with what could have one", "[replay]") {
  const toy::BoundProgram program = bound(assembled(kNest));
  const auto run = run_of(program);
  CHECK_THAT(refusal_of(*run, "x[n]"), contains("'x[n]'") && contains("x[0 to 3]"));
  CHECK_THAT(refusal_of(*run, "x[i][j]"), contains("2 indices here, and 1"));
  CHECK_THAT(refusal_of(*run, "i[0]"), contains("1 index here, and 0"));
  CHECK_THAT(refusal_of(*run, "Q"), contains("0 indices here, and 1"));
  CHECK_THAT(refusal_of(*run, "Q[2]"), contains("Q[0 to 1]"));
  CHECK_THAT(refusal_of(*run, "k"), contains("'k'"));
  CHECK_THAT(refusal_of(*run, "R3"), contains("'R3'") && contains("R0 to R2"));
  CHECK_THAT(refusal_of(*run, "x[R0]"), contains("no whole number"));
  CHECK_THAT(refusal_of(*run, "n % 0"), contains("no remainder"));
  CHECK_THAT(refusal_of(*run, "0 < i < 2"), contains("compares twice"));
  CHECK_THAT(refusal_of(*run, "R0 = 5"), contains("sets nothing") && contains("== to compare"));
  CHECK_THAT(refusal_of(*run, "i == 2 && j = 1"), contains("sets nothing"));
  CHECK_THAT(refusal_of(*run, "i && j"), contains("no test"));
  CHECK_THAT(refusal_of(*run, "(i == 2) + 1"), contains("is a test"));
  for (const char* const text : {"", "x[", "x[0", "(i", "i +", "1e999", "@", "i i", "R1 >"}) {
    INFO(text);
    CHECK_FALSE(refusal_of(*run, text).empty());
  }
  CHECK_THAT(refusal_of(*run, std::string(1900, '(')), contains("nested too deeply"));
  CHECK_THAT(refusal_of(*run, std::string(1900, '-') + "1"), contains("nested too deeply"));
  CHECK_THAT(refusal_of(*run, "1" + std::string(1'000'000, '+')), contains("1000001 characters"));
  std::string sum = "1";
  while (sum.size() < 1990) sum += "+1";
  CHECK(watched_value(*run, sum).whole == static_cast<std::int64_t>((sum.size() + 1) / 2));
  run->go_to(run->total_steps());
  CHECK_THAT(refusal_of(*run, "i"), contains("does not run here"));
}

TEST_CASE("an element of a register's tile has a value, by row and column", "[replay]") {
  const toy::BoundProgram program = bound(assembled(R"(.isa attention
.registers 4
.reg Q[2], m
.input a(4, 3) tile (2, 3)
.output o(4, 3) tile (2, 3)
for i in 0..2
  LOAD a[i][0], Q[i]
  ROWMAX Q[i], m
  STORE Q[i], o[i][0]
end
)"));
  const auto run = run_of(program);
  run->go_to(2);
  const auto cell = [&](std::int64_t number) {
    return run->cell(program.arrays[0].offset + number);
  };
  CHECK(watched_value(*run, "Q[0][1][2]").number == cell(5));
  CHECK(watched_value(*run, "R0[0][1]").number == cell(1));
  CHECK(watched_value(*run, "Q[i][i + 1][2 - i] - R0[1][2]").number == 0);
  CHECK(watched_value(*run, "m[1][0]").kind == WatchValue::Kind::kNumber);
  CHECK(watched_value(*run, "m[0][0] >= Q[0][0][2]").holds());
  CHECK(watched_value(*run, "Q[1][0][0]").kind == WatchValue::Kind::kUnwritten);
  CHECK(watched_value(*run, "R3[7][9]").kind == WatchValue::Kind::kUnwritten);
  CHECK_THAT(refusal_of(*run, "Q[0][2][0]"),
             contains("no element 'Q[0][2][0]'") && contains("Q[0][0 to 1][0 to 2]"));
  CHECK_THAT(refusal_of(*run, "m[0][-1]"), contains("m[0 to 1][0 to 0]"));
  CHECK_THAT(refusal_of(*run, "Q[2][0][0]"), contains("Q[0 to 1]"));
  CHECK_THAT(refusal_of(*run, "R0[0][m]"), contains("'m' is no whole number"));
  CHECK_THAT(refusal_of(*run, "R0[0]"), contains("1 index here, and 0"));
  CHECK_THAT(refusal_of(*run, "Q[0][0]"), contains("2 indices here, and 1"));
  CHECK_FALSE(WatchExpression::parse(program, "R0[0][1]")->place(*run));
  for (const char* const never : {"R0[0][-1] > 0", "Q[5][0][0] > 0", "m[-1][0] == 1"}) {
    CAPTURE(never);
    CHECK(WatchExpression::parse(program, never)->why_never());
  }
  for (const char* const possible : {"R0[0][1] > 0", "Q[i][0][9] > 0", "m[1][0] == 1"}) {
    CAPTURE(possible);
    CHECK_FALSE(WatchExpression::parse(program, possible)->why_never());
  }
  const auto breakpoint = toy::parse_breakpoint(program, "9 if Q[i][1][2] > -inf");
  CHECK(breakpoint);
}

TEST_CASE("whole numbers that overflow become numbers", "[replay]") {
  const toy::BoundProgram program = bound(assembled(kNest));
  const auto run = run_of(program);
  CHECK(watched_value(*run, "9223372036854775807 + 1").number == 9223372036854775808.0);
  CHECK(watched_value(*run, "-9223372036854775807 - 2").number == -9223372036854775809.0);
}

TEST_CASE("a condition demands indices, which find the line without running", "[replay]") {
  const toy::BoundProgram program =
      bundled("softmax_online", params({{"n", 20'000'000}}));  // 2 * 10^8 steps
  const auto breakpoint = toy::parse_breakpoint(program, "24 if i == n - 2");
  REQUIRE(breakpoint);
  CHECK(breakpoint->ranges.size() == 1);
  CHECK_FALSE(breakpoint->condition);
  const auto visits = toy::visits_of(*breakpoint);
  const auto run = run_of(program);
  const auto step = run->next_execution({&visits, 1});
  REQUIRE(step);
  CHECK(*step > 100'000'000);
  const auto both = toy::parse_breakpoint(program, "24 if i >= 7 && R1 > x[i]");
  REQUIRE(both);
  CHECK(both->ranges.size() == 1);
  CHECK(both->condition);
}

TEST_CASE("conditions of lines stop where a walk finds them to hold, both ways", "[replay]") {
  std::size_t stops = 0;
  // What a seed draws depends on the standard library, and so does how many lines stop.
  for (unsigned seed = 0; seed < 60 || (stops <= 100 && seed < 600); ++seed) {
    const std::string text = loading(RandomNest(seed, false).text());
    const toy::BoundProgram program = bound(assembled(text));
    const auto run = run_of(program);
    if (run->total_steps() < 5 || run->total_steps() > 600) continue;
    std::mt19937_64 random(test::seeded(seed));
    for (int attempt = 0; attempt < 4; ++attempt) {
      const toy::BoundInstruction& at =
          program.instructions[random() % program.instructions.size()];
      if (at.loop == toy::kNoLoop) continue;
      const std::string var = program.loops[at.loop].var;
      const char* const ops[] = {"==", "<", "<=", ">", ">=", "!="};
      const std::string condition = "2 * " + var + " - 1 " + ops[random() % 6] + " " +
                                    std::to_string(random() % 9) +
                                    (random() % 2 == 0 ? "" : " && " + var + " % 2 == 0");
      const auto breakpoint =
          toy::parse_breakpoint(program, std::to_string(at.span.line) + " if " + condition);
      INFO(text << condition);
      REQUIRE(breakpoint);
      const auto holds = WatchExpression::parse(program, condition, breakpoint->site);
      REQUIRE(holds);
      std::vector<std::uint64_t> wanted;
      for (std::uint64_t step = 0; step < run->total_steps(); ++step) {
        run->go_to(step);
        if (run->error() != nullptr) break;
        if (run->point().site == breakpoint->site && holds->value(*run)->holds()) {
          wanted.push_back(step);
        }
      }
      run->go_to(0);
      std::vector<std::uint64_t> found;
      if (run->point().site == breakpoint->site && !wanted.empty() && wanted[0] == 0) {
        found.push_back(0);
      }
      while (run->forward({&*breakpoint, 1}).reason == toy::Stop::Reason::kBreakpoint) {
        found.push_back(run->step());
      }
      CHECK(found == wanted);
      std::vector<std::uint64_t> back;
      while (run->backward({&*breakpoint, 1}).reason == toy::Stop::Reason::kBreakpoint) {
        back.insert(back.begin(), run->step());
      }
      CHECK(back == wanted);
      stops += wanted.size();
    }
  }
  CHECK(stops > 100);
}

}  // namespace flashlab::test
