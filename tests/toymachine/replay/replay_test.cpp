// A run that goes anywhere is compared with one that only went forwards, step by step.
#include "toymachine/replay/replay.hpp"

#include <bit>
#include <cstdint>
#include <random>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/execute/interpret.hpp"

namespace flashlab::test {
namespace {

std::vector<double> dram_of(const toy::BoundProgram& program) {
  auto dram = toy::initial_dram(program, {});
  REQUIRE(dram);
  return std::move(*dram);
}

std::unique_ptr<toy::Replay> replay_of(const toy::BoundProgram& program,
                                       const toy::ReplayOptions& options = {}) {
  auto replay =
      toy::Replay::start(program, toy::InitialDram::make(program, {}).value.value(), options);
  REQUIRE(replay);
  return std::move(*replay);
}

toy::Breakpoint breakpoint(const toy::BoundProgram& program, const std::string& text) {
  const auto result = toy::parse_breakpoint(program, text);
  INFO(toy::format(result.diagnostics, toy::SourceText("", "")));
  REQUIRE(result);
  return *result;
}

/// Everything that a step leaves behind.
using State = std::vector<double>;

/// Unwritten values as one number, so that states can be compared.
double comparable(double value) { return std::isnan(value) ? 12345.5 : value; }

State state_of(toy::Replay& replay) {
  State state;
  for (std::int64_t number = 0; number < replay.program().num_registers; ++number) {
    const toy::RegisterContents contents = replay.register_contents(number);
    state.push_back(static_cast<double>(contents.rows));
    for (const double value : contents.elements) state.push_back(comparable(value));
  }
  for (std::int64_t cell = 0; cell < replay.program().dram_elements; ++cell) {
    state.push_back(comparable(replay.cell(cell)));
  }
  for (const toy::Count& count : replay.execution().executions.times) {
    state.push_back(count.get_d());
  }
  return state;
}

/// Registers after every step, from an observed run.
struct RegisterRecorder {
  static constexpr bool kPerStep = true;
  std::vector<std::vector<float>> registers;
  std::vector<std::uint32_t> sites;
  bool after(const toy::Step& step, std::span<float> now, std::span<float>) {
    registers.emplace_back(now.begin(), now.end());
    sites.push_back(step.instruction->site);
    return true;
  }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<float>) {}
};

RegisterRecorder recorded_registers(const toy::BoundProgram& program) {
  RegisterRecorder recorder;
  recorder.registers.emplace_back(static_cast<std::size_t>(program.num_registers), NAN);
  const auto dram = dram_of(program);
  std::vector<float> narrow(dram.begin(), dram.end());
  REQUIRE(toy::detail::interpret<float>(program, std::span<float>(narrow), recorder));
  return recorder;
}

/// Short distances between checkpoints, so that a short run has several.
std::unique_ptr<toy::Replay> replay_with_checkpoints(const toy::BoundProgram& program) {
  toy::ReplayOptions options;
  options.seconds_between_checkpoints = 0;
  return replay_of(program, options);
}

/// The steps at which the run stops, going forwards to the end.
std::vector<std::uint64_t> stops_forward(toy::Replay& replay, const toy::Breakpoint& breakpoint) {
  std::vector<std::uint64_t> stops;
  replay.go_to(0);
  while (replay.forward({&breakpoint, 1}).reason == toy::Stop::Reason::kBreakpoint) {
    stops.push_back(replay.step());
  }
  CHECK(replay.at_end());
  return stops;
}

std::vector<std::uint64_t> stops_backward(toy::Replay& replay, const toy::Breakpoint& breakpoint) {
  std::vector<std::uint64_t> stops;
  replay.go_to(replay.total_steps());
  while (replay.backward({&breakpoint, 1}).reason == toy::Stop::Reason::kBreakpoint) {
    stops.push_back(replay.step());
  }
  CHECK(replay.step() == 0);
  std::reverse(stops.begin(), stops.end());
  return stops;
}

}  // namespace

TEST_CASE("a run whose steps are too many iterations apart is refused before it starts",
          "[replay]") {
  // Fifteen steps, in the last of ten thousand million iterations.
  const toy::BoundProgram program = bound(
      ".registers 1\n.input x[1]\nfor i in 0..10000000000\n"
      "for j in 0..i-9999999994\nLOAD x[0], R0\nend\nend\n");
  const auto replay = toy::Replay::start(program, toy::InitialDram::of_cells(program, {1}));
  REQUIRE_FALSE(replay);
  CHECK(replay.diagnostics[0].fault == toy::Fault::kLimit);
  CHECK_THAT(replay.diagnostics[0].what, contains("more than 33554432 iterations"));
}

TEST_CASE("only the random inputs that are looked at are drawn", "[replay]") {
  // Drawing all of them takes more than a second.
  const toy::BoundProgram program = bound(
      ".registers 1\n.input x[300000000]\n.output y[1]\nLOAD x[5], R0\nSTORE R0, y[0]\n"
      "LOAD x[299999999], R0\nSTORE R0, y[0]\n");
  const std::int64_t began = toy::thread_nanoseconds();
  const auto replay = replay_of(program);
  const double fifth = replay->cell(5);
  CHECK(std::isnan(replay->cell(300'000'000)));
  replay->go_to(2);
  CHECK(replay->cell(300'000'000) == fifth);
  replay->go_to(0);
  CHECK(std::isnan(replay->cell(300'000'000)));
  CHECK(toy::thread_nanoseconds() - began < 300'000'000);
}

TEST_CASE("a run that jumps has the registers, memory and counts of one that steps", "[replay]") {
  for (const auto& [name, parameters] :
       std::vector<std::pair<std::string, std::map<std::string, std::int64_t>>>{
           {"softmax_online", {{"n", 300}}},
           {"matmul_naive", {{"n", 7}}},
           {"flash2", {{"n", 9}}},
           {"bwd_onepass", {}}}) {
    for (const bool double_precision : {false, true}) {
      INFO(name);
      const toy::BoundProgram program = bundled(name, params(parameters));
      toy::ReplayOptions options;
      options.double_precision = double_precision;
      const auto reference = replay_of(program, options), jumping = replay_of(program, options);
      const std::uint64_t total = reference->total_steps();
      std::vector<State> states{state_of(*reference)};
      for (std::uint64_t step = 1; step <= total; ++step) {
        REQUIRE(reference->go_to(step).reason == toy::Stop::Reason::kStep);
        states.push_back(state_of(*reference));
      }
      CHECK(reference->at_end());
      std::mt19937 random(test::seeded(5));
      jumping->go_to(total);
      for (int jump = 0; jump < 60; ++jump) {
        const std::uint64_t step = random() % (total + 1);
        REQUIRE(jumping->go_to(step).reason == toy::Stop::Reason::kStep);
        INFO("step " << step << " of " << total);
        REQUIRE(state_of(*jumping) == states[step]);
        if (step == 0) continue;
        jumping->go_to(step - 1);
        REQUIRE(state_of(*jumping) == states[step - 1]);
      }
    }
  }
}

TEST_CASE("a paused run ends with the bits and counts of an uninterrupted one", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 5000}}));
  const auto dram = dram_of(program);
  std::vector<float> narrow(dram.begin(), dram.end());
  const auto execution = toy::run(program, narrow);
  REQUIRE(execution);
  const auto replay = replay_of(program);
  std::mt19937 random(test::seeded(9));
  for (std::uint64_t step = 0; step < replay->total_steps(); step += random() % 9000) {
    replay->go_to(step);
  }
  replay->go_to(replay->total_steps());
  CHECK(replay->execution().executions == execution->executions);
  for (std::int64_t cell = 0; cell < program.dram_elements; ++cell) {
    const auto ours = std::bit_cast<std::uint32_t>(static_cast<float>(replay->cell(cell)));
    REQUIRE(ours == std::bit_cast<std::uint32_t>(narrow[static_cast<std::size_t>(cell)]));
  }
}

TEST_CASE("a test of a register stops at the steps that make it true, both ways", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 700}}));
  const RegisterRecorder recorder = recorded_registers(program);
  const auto replay = replay_with_checkpoints(program);
  std::size_t stops = 0;
  for (const std::string text :
       {"R0 > 0.999", "R1 > 0.99", "R2 >= 210", "R3 < 0.9", "R0 == 1", "R2 < 240"}) {
    const toy::Breakpoint test = breakpoint(program, text);
    std::vector<std::uint64_t> expected;
    bool held = false;
    for (std::size_t step = 0; step < recorder.registers.size(); ++step) {
      const bool now =
          (*test.test)(recorder.registers[step][static_cast<std::size_t>(test.place.number)]);
      if (now && !held) expected.push_back(step);
      held = now;
    }
    INFO(text);
    CHECK(stops_forward(*replay, test) == expected);
    CHECK(stops_backward(*replay, test) == expected);
    stops += expected.size();
  }
  CHECK(stops > 10);
}

TEST_CASE("a line with a test stops where the line is reached and the test holds", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 700}}));
  const RegisterRecorder recorder = recorded_registers(program);
  const auto replay = replay_with_checkpoints(program);
  std::size_t stops = 0;
  for (const std::string condition : {"R0 > 0.998", "R2 > 300", "R3 != 1"}) {
    for (const std::uint32_t site : {8U, 12U, 15U}) {
      const std::string line = std::to_string(program.instructions[site].span.line);
      const toy::Breakpoint test = breakpoint(program, line + " if " + condition);
      REQUIRE(test.site == site);
      std::vector<std::uint64_t> expected;
      for (std::size_t step = 1; step < recorder.sites.size(); ++step) {
        const auto& registers = recorder.registers[step];  // before the step after
        if (recorder.sites[step] == site &&
            (*test.test)(registers[static_cast<std::size_t>(test.place.number)])) {
          expected.push_back(step);
        }
      }
      INFO(line << " if " << condition);
      CHECK(stops_forward(*replay, test) == expected);
      CHECK(stops_backward(*replay, test) == expected);
      stops += expected.size();
    }
  }
  CHECK(stops > 10);
}

TEST_CASE("a write stops after it, and the writer of a cell is the step that wrote it",
          "[replay]") {
  const toy::BoundProgram program = bundled("matmul_naive", params({{"n", 4}}));
  const auto replay = replay_of(program);
  const auto stops = stops_forward(*replay, breakpoint(program, "c[2][1] is written"));
  REQUIRE(stops.size() == 1);
  CHECK(stops_backward(*replay, breakpoint(program, "c[2][1] is written")) == stops);
  const auto place = toy::parse_place(program, "c[2][1]");
  REQUIRE(place);
  replay->go_to(stops[0] - 1);
  CHECK(std::isnan(replay->cell(place->number)));
  CHECK_FALSE(replay->writer_of(*place));
  replay->go_to(stops[0]);
  CHECK_FALSE(std::isnan(replay->cell(place->number)));
  CHECK(replay->writer_of(*place) == stops[0] - 1);
  replay->go_to(replay->total_steps());
  CHECK(replay->writer_of(*place) == stops[0] - 1);
}

TEST_CASE("a write with a condition stops where it holds after the write, in the writer's loops",
          "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 60}}));
  const RegisterRecorder recorder = recorded_registers(program);
  const auto replay = replay_with_checkpoints(program);
  const auto loops_before = [&](std::uint64_t step) {
    replay->go_to(step);
    return replay->point();
  };
  const toy::Breakpoint test = breakpoint(program, "R0 is written if R0 > 0.5 && i % 3 == 1");
  std::vector<std::uint64_t> expected;
  for (std::size_t step = 0; step < recorder.sites.size(); ++step) {
    const toy::BoundInstruction& instruction = program.instructions[recorder.sites[step]];
    const toy::RunPoint point = loops_before(step);
    const bool writes = std::ranges::any_of(instruction.operands, [&](const auto& operand) {
      return operand.kind == toy::OperandKind::kDestination &&
             operand.index(point.loop_values.data()) == 0;
    });
    if (!writes || instruction.loop == toy::kNoLoop) continue;
    if (recorder.registers[step + 1][0] > 0.5F && point.loop_values[instruction.loop] % 3 == 1) {
      expected.push_back(step + 1);
    }
  }
  CHECK(expected.size() > 5);
  CHECK(stops_forward(*replay, test) == expected);
  CHECK(stops_backward(*replay, test) == expected);
}

TEST_CASE("on tiles, the writer of an element is the step that wrote its tile", "[replay]") {
  const toy::BoundProgram program = bundled("flash2", params({{"n", 5}}));
  const auto replay = replay_of(program);
  replay->go_to(replay->total_steps());
  const auto place = toy::parse_place(program, "o[4][3]");
  REQUIRE(place);
  const auto step = replay->writer_of(*place);
  REQUIRE(step);
  replay->go_to(*step);
  CHECK(std::isnan(replay->cell(place->number)));
  replay->go_to(*step + 1);
  CHECK_FALSE(std::isnan(replay->cell(place->number)));
}

TEST_CASE("of several breakpoints the nearest one stops", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 50}}));
  const auto replay = replay_of(program);
  const std::vector<toy::Breakpoint> breakpoints{
      breakpoint(program, "R2 > 20"), breakpoint(program, "out[3] is written"),
      breakpoint(program, "out[1] > 2"), breakpoint(program, "R2 > 10")};
  CHECK(replay->forward(breakpoints).breakpoint == 3);
  CHECK(replay->forward(breakpoints).breakpoint == 0);
  CHECK(replay->forward(breakpoints).breakpoint == 1);
  CHECK(replay->forward(breakpoints).reason == toy::Stop::Reason::kEnd);
  CHECK(replay->backward(breakpoints).breakpoint == 1);
  CHECK(replay->backward(breakpoints).breakpoint == 0);
  CHECK(replay->backward(breakpoints).breakpoint == 3);
  CHECK(replay->backward(breakpoints).reason == toy::Stop::Reason::kStart);
}

TEST_CASE("a run that fails stops at the failing instruction and can go back", "[replay]") {
  const toy::BoundProgram program = bound(R"(.isa softmax
.registers 2
.input x[600]
.output y[600]
for i in 0..600
  LOAD x[i], R0
  EXP R0, R1
  STORE R1, y[i]
end
LOAD y[0], R0
DIV R0, R0, R1
SUB R0, R0, R0
DIV R1, R0, R1
STORE R1, y[0]
)");
  const auto replay = replay_of(program);
  CHECK(replay->forward({}).reason == toy::Stop::Reason::kError);
  REQUIRE(replay->error() != nullptr);
  CHECK(replay->step() == 1803);
  CHECK(program.instructions[replay->point().site].span.line == 13);
  CHECK(replay->go_to(replay->total_steps()).reason == toy::Stop::Reason::kError);
  const auto last = replay->last_steps(2);
  REQUIRE(last.size() == 2);
  CHECK(last[1].value.elements == std::vector<double>{0});
  CHECK(replay->error() != nullptr);
  replay->go_to(1802);
  CHECK(replay->error() == nullptr);
  CHECK(replay->register_contents(1).elements == std::vector<double>{1});
}

TEST_CASE("checkpoints stay below their limit of memory", "[replay]") {
  const toy::BoundProgram program = bound(R"(.isa softmax
.registers 1
.param n = 20000, m = 60
.input x[n]
.temp y[n]
for j in 0..m
  for i in 0..n
    LOAD x[i], R0
    STORE R0, y[i]
    LOAD y[i], R0
    STORE R0, y[i]
  end
end
)");
  toy::ReplayOptions options;
  options.max_checkpoint_bytes = 200'000;  // two and a half times the array
  const auto replay = replay_of(program, options);
  replay->go_to(replay->total_steps());
  CHECK(replay->at_end());
  CHECK(replay->checkpoint_bytes() <= options.max_checkpoint_bytes);
  replay->go_to(1'234'567);
  CHECK(replay->step() == 1'234'567);
}

TEST_CASE("a long search can be cancelled, and the run goes on from where it is", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 20'000'000}}));
  const auto replay = replay_of(program);
  const toy::Breakpoint never = breakpoint(program, "R0 > 1000");
  const auto stop = replay->forward({&never, 1}, [](std::uint64_t) { return false; });
  CHECK(stop.reason == toy::Stop::Reason::kCancelled);
  const std::uint64_t step = replay->step();
  CHECK(step > 0);
  CHECK(step < replay->total_steps());
  CHECK(replay->go_to(step + 1).reason == toy::Stop::Reason::kStep);
}

}  // namespace flashlab::test
