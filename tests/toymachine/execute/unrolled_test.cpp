#include "toymachine/execute/unrolled.hpp"

#include <algorithm>

#include "tests/toymachine/random_nest.hpp"
#include "tests/toymachine/trace/trace_program.hpp"
#include "toymachine/execute/interpret.hpp"

using namespace flashlab;
using test::bound;
using test::contains;
using test::params;

namespace {

/// What the interpreter executes: site and operands of every step.
struct StepRecorder {
  static constexpr bool kPerStep = true;
  std::vector<toy::UnrolledStep> steps;

  bool after(const toy::Step& step, std::span<double>, std::span<double>) {
    toy::UnrolledStep recorded;
    recorded.site = step.instruction->site;
    recorded.row = step.instruction->row;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      recorded.slots[i] = static_cast<std::int32_t>(step.operands[i]);
    }
    steps.push_back(recorded);
    return true;
  }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<double>) {}
};

void require_same_steps(const toy::BoundProgram& program) {
  const std::vector<float> inputs = test::counted_inputs(program);
  std::vector<double> dram(inputs.begin(), inputs.end());
  StepRecorder recorder;
  const auto execution = toy::detail::interpret<double>(program, dram, recorder);
  INFO(toy::format(execution.diagnostics, *program.program->source));
  REQUIRE(execution);
  const auto unrolled = toy::unroll(program, 1'000'000);
  REQUIRE(unrolled);
  REQUIRE(unrolled->steps.size() == recorder.steps.size());
  for (std::size_t i = 0; i < recorder.steps.size(); ++i) {
    INFO("step " << i + 1);
    CHECK(unrolled->steps[i].site == recorder.steps[i].site);
    CHECK(unrolled->steps[i].row == recorder.steps[i].row);
    CHECK(unrolled->steps[i].slots == recorder.steps[i].slots);
  }
}

std::string unroll_error(const toy::BoundProgram& program, std::uint64_t max_steps = 1000) {
  const auto unrolled = toy::unroll(program, max_steps);
  REQUIRE_FALSE(unrolled);
  return toy::format(unrolled.diagnostics, *program.program->source);
}

}  // namespace

TEST_CASE("unrolled steps are the steps that the interpreter executes") {
  require_same_steps(test::bundled("matmul_inner"));
  require_same_steps(test::bundled("matmul_outer"));
  require_same_steps(test::bundled("softmax_safe", params({{"n", 5}})));
  require_same_steps(test::bundled("softmax_online", params({{"n", 6}})));
  require_same_steps(test::bundled("welford", params({{"n", 4}})));
  require_same_steps(
      test::bundled("online_causal", params({{"n", 3}, {"d", 2}, {"B", 1}, {"Bd", 1}})));
}

TEST_CASE("unrolled steps are as many as an enumeration of the nest finds") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const auto program = test::bound(test::assembled(test::RandomNest(seed, false).text()));
    const test::Enumeration expected(program);
    toy::Count total = 0;
    for (const toy::Count& count : expected.counts()) total += count;
    if (total > 100'000) continue;
    const auto unrolled = toy::unroll(program, 100'000);
    REQUIRE(unrolled);
    std::vector<toy::Count> counts(program.instructions.size());
    for (const toy::UnrolledStep& step : unrolled->steps) ++counts[step.site];
    CHECK(counts == expected.counts());
  }
}

TEST_CASE("constants stand behind the registers of an unrolled program") {
  const auto program = bound(".registers 3\n.output o[1]\nFILL 2.5, R0\nSTORE R0, o[0]\n");
  const auto unrolled = toy::unroll(program, 10);
  REQUIRE(unrolled);
  CHECK(unrolled->num_registers == 3);
  CHECK(unrolled->constants == std::vector<double>{2.5});
  CHECK(unrolled->steps[0].slots[0] == 3);
  CHECK(unrolled->dram_elements == 1);
}

TEST_CASE("an index out of range is named when a program is unrolled") {
  const auto cell = bound(".input x[4]\nfor i in 0..4\n  LOAD x[2*i], R0\nend\n");
  CHECK_THAT(unroll_error(cell), contains("3:8: error: step 3 (i = 2): x[4] is out of range"));
  const auto reg =
      bound(".registers 2\n.reg Q[2]\n.input x[3]\nfor i in 0..3\n  LOAD x[i], Q[i]\nend\n");
  CHECK_THAT(unroll_error(reg), contains("step 3 (i = 2): there is no Q[2]"));
}

TEST_CASE("unrolling stops at the limit of steps") {
  const auto program = bound(".input x[1]\nfor i in 0..1000000000000\n  LOAD x[0], R0\nend\n");
  const auto unrolled = toy::unroll(program, 100);
  REQUIRE_FALSE(unrolled);
  CHECK(unrolled.diagnostics[0].fault == toy::Fault::kLimit);
  CHECK_THAT(unrolled.diagnostics[0].what, contains("more than 100 steps"));
  CHECK(toy::unroll(bound(".input x[1]\nfor i in 0..100\n  LOAD x[0], R0\nend\n"), 100));
}

TEST_CASE("loops without steps end at a limit of iterations") {
  const auto program = bound(".input x[1]\nLOAD x[0], R0\nfor i in 0..1000000000000\nend\n");
  const auto unrolled = toy::unroll(program, 100);
  REQUIRE_FALSE(unrolled);
  CHECK(unrolled.diagnostics[0].fault == toy::Fault::kLimit);
  CHECK_THAT(unrolled.diagnostics[0].what, contains("more than 2600 iterations"));
}

TEST_CASE("tiles and narrow elements are not unrolled") {
  const auto tiled = toy::unroll(bound(".input x(4, 4) tile (2, 2)\nLOAD x[0][0], R0\n"), 10);
  REQUIRE_FALSE(tiled);
  CHECK(tiled.diagnostics[0].fault == toy::Fault::kRequest);
  CHECK_THAT(tiled.diagnostics[0].what, contains("x has tiles of more than one element"));
  const auto narrow = toy::unroll(bound(".input x[4] bf16\nLOAD x[0], R0\n"), 10);
  REQUIRE_FALSE(narrow);
  CHECK(narrow.diagnostics[0].fault == toy::Fault::kRequest);
  CHECK_THAT(narrow.diagnostics[0].what, contains("x has elements of a narrow type"));
}

TEST_CASE("the loops around a step have the values that they had there") {
  const auto program = bound(
      ".input x[9]\nfor i in 0..3\n  LOAD x[0], R0\n  for j in i..3\n    LOAD x[j], R0\n"
      "  end\nend\n");
  CHECK(toy::loop_values_at(program, 0)[0] == 0);
  // 0 | 0 0..2 | 1 | 1 1..2: the steps of i = 0 are 0 to 3, those of i = 1 are 4 to 6.
  CHECK(toy::loop_values_at(program, 6) == std::vector<std::int64_t>{1, 2});
}
