// Where a run goes on after a loop.
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::test {
namespace {

bool is_inside_loop(const toy::BoundProgram& program, std::uint32_t site, std::uint32_t loop) {
  std::uint32_t at = program.instructions[site].loop;
  while (at != toy::kNoLoop && at != loop) at = program.loops[at].parent;
  return at == loop;
}

/// Whether a step belongs to the same execution of the innermost loop around another one.
bool is_in_same_loop(const toy::BoundProgram& program, const toy::RunPoint& here,
                     const toy::RunPoint& there) {
  const std::uint32_t loop = program.instructions[here.site].loop;
  if (there.site >= program.instructions.size() || !is_inside_loop(program, there.site, loop)) {
    return false;
  }
  for (std::uint32_t outer = program.loops[loop].parent; outer != toy::kNoLoop;
       outer = program.loops[outer].parent) {
    if (here.loop_values[outer] != there.loop_values[outer]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("behind a loop is the first step that is not of this execution of the loop", "[replay]") {
  for (const char* name : {"matmul_naive", "softmax_online", "flash2", "kahan_sum"}) {
    const toy::BoundProgram program = bundled(name);
    const auto run =
        std::move(*toy::Replay::start(program, toy::InitialDram::make(program, {}).value.value()));
    std::vector<toy::RunPoint> points;
    for (std::uint64_t step = 0; step <= run->total_steps(); ++step) {
      run->go_to(step);
      points.push_back(run->point());
    }
    for (std::size_t step = 0; step < points.size(); step += 1 + step / 40) {
      run->go_to(step);
      INFO(name << ", step " << step);
      const auto behind = run->behind_loop();
      if (run->at_end() || program.instructions[points[step].site].loop == toy::kNoLoop) {
        CHECK_FALSE(behind);
        continue;
      }
      std::size_t expected = step;
      while (is_in_same_loop(program, points[step], points[expected])) ++expected;
      REQUIRE(behind.has_value() == (expected < run->total_steps()));
      if (!behind) continue;
      CHECK(run->forward({&*behind, 1}).reason == toy::Stop::Reason::kBreakpoint);
      CHECK(run->step() == expected);
    }
  }
}

}  // namespace flashlab::test
