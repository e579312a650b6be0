// The words of timelines, and their limits: buffers, windows, numbers that JSON cannot hold.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/toymachine/assembled.hpp"
#include "toymachine/timeline/timeline_json.hpp"

namespace flashlab::toy {
namespace {

constexpr const char* kTwoSteps =
    ".isa softmax\n.param n = 4\n.input x[n]\nfor i in 0..n\nLOAD x[i], R0\nEXP R0, R1\nend\n";

Binding sized_run(std::int64_t n) {
  Binding binding;
  binding.params["n"] = n;
  return binding;
}

}  // namespace

TEST_CASE("units, causes and models have their names", "[timeline]") {
  CHECK(to_string(Unit::kMemory) == "memory");
  CHECK(to_string(Unit::kCompute) == "compute");
  CHECK(to_string(Cause::kBusy) == "busy");
  CHECK(to_string(Cause::kData) == "data");
  CHECK(to_string(Cause::kBuffer) == "buffer");
  CHECK(to_string(Cause::kIdle) == "idle");
  CHECK(to_string(TimelineModel{false, 2}) == "serial");
  CHECK(to_string(TimelineModel{true, 1}) == "overlap, 1 buffer");
  CHECK(to_string(TimelineModel{true, 2}) == "overlap, 2 buffers");
}

TEST_CASE("an instruction's letter is its first that is free", "[timeline]") {
  const std::pair<const char*, char> letters[] = {
      {"LOAD", 'L'}, {"STORE", 'S'},      {"MAC_Z", 'M'}, {"MAC", 'M'},    {"MAX", 'X'},
      {"SUB", 'U'},  {"EXP", 'E'},        {"ADD", 'A'},   {"MUL", 'm'},    {"DIV", 'D'},
      {"MOV", 'O'},  {"FILL", 'F'},       {"LOG", 'G'},   {"ROWMAX", 'R'}, {"ROWSUM", 'r'},
      {"MASK", 'K'}, {"ATOMIC_ADD", 'T'}, {"WINDOW", 'W'}};
  for (const auto& [mnemonic, letter] : letters) {
    CAPTURE(mnemonic);
    CHECK(instruction_letters()[*find_instruction(mnemonic)] == letter);
  }
}

TEST_CASE("an instruction's text is its line without blanks around and without comment",
          "[timeline]") {
  const BoundProgram program = test::bound(
      ".input x[1]\n.output o[1]\n \tLOAD x[0], R0 ; first\nMAX R0, R0,  R0\t#second\n"
      "STORE R0, o[0]\n");
  CHECK(instruction_text(program, program.instructions[0]) == "LOAD x[0], R0");
  CHECK(instruction_text(program, program.instructions[1]) == "MAX R0, R0,  R0");
  CHECK(instruction_text(program, program.instructions[2]) == "STORE R0, o[0]");
}

TEST_CASE("only instructions with an operand in DRAM use the memory port", "[timeline]") {
  for (const InstructionSpec& spec : instruction_set()) {
    const bool memory =
        spec.mnemonic == "LOAD" || spec.mnemonic == "STORE" || spec.mnemonic == "ATOMIC_ADD";
    CAPTURE(spec.mnemonic);
    const Unit other = spec.is_link() ? Unit::kLink : Unit::kCompute;
    CHECK(unit_of(spec) == (memory ? Unit::kMemory : other));
  }
}

TEST_CASE("a register has from 1 to 64 buffers", "[timeline]") {
  const BoundProgram program = test::bound(kTwoSteps);
  for (const TimelineModel& model :
       {TimelineModel{true, 1}, TimelineModel{true, 64}, TimelineModel{false, 0}}) {
    TimelineOptions options;
    options.models = {model};
    CHECK(simulate(program, options));
  }
  for (const std::int64_t buffers : {-1, 0, 65}) {
    TimelineOptions options;
    options.models = {{true, 2}, {true, buffers}};
    const auto refused = simulate(program, options);
    REQUIRE_FALSE(refused);
    CHECK(refused.diagnostics[0].what == std::to_string(buffers) + " buffers for every register");
    CHECK(refused.diagnostics[0].expected == "1 to 64");
    CHECK(refused.diagnostics[0].fault == Fault::kRequest);
  }
}

TEST_CASE("an interval belongs to a window if a cycle of it does", "[timeline]") {
  const BoundProgram program = test::bound(kTwoSteps, sized_run(1));
  struct Window {
    std::int64_t from, to;
    std::size_t intervals;
  };
  // Memory is busy in [0, 10), compute in [10, 15); both are idle otherwise.
  const Window windows[] = {{0, 0, 0},  {0, 1, 2},   {9, 10, 2},  {10, 11, 2}, {9, 11, 4},
                            {0, 15, 4}, {14, 15, 2}, {15, 16, 0}, {20, 30, 0}};
  for (const Window& window : windows) {
    TimelineOptions options;
    REQUIRE(options.costs.parse("LOAD=10,EXP=5"));
    options.models = {{false, 1}};
    options.from = window.from;
    options.to = window.to;
    const auto timelines = simulate(program, options);
    REQUIRE(timelines);
    CAPTURE(window.from, window.to);
    CHECK((*timelines)[0].intervals.size() == window.intervals);
    CHECK((*timelines)[0].cycles == 15);
  }
}

TEST_CASE("as many intervals are kept as asked for, and the rest is counted", "[timeline]") {
  const BoundProgram program = test::bound(kTwoSteps, sized_run(1));
  for (const std::uint64_t most : {0U, 3U, 4U, 5U}) {
    TimelineOptions options;
    options.models = {{false, 1}};
    options.to = INT64_MAX;
    options.max_intervals = most;
    const auto timelines = simulate(program, options);
    REQUIRE(timelines);
    const std::uint64_t kept = std::min<std::uint64_t>(most, 4);
    CHECK((*timelines)[0].intervals.size() == kept);
    CHECK((*timelines)[0].intervals_left_out == 4 - kept);
  }
}

TEST_CASE("numbers beyond 2^53 are texts in JSON", "[timeline]") {
  for (const std::int64_t n : {3001, 3002}) {  // n^2 * 10^9 cycles, below and above 2^53
    const BoundProgram program =
        test::bound(".isa attention\n.param n = 1\n.input q(n, n) tile (n, n)\nLOAD q[0][0], R0\n",
                    sized_run(n));
    TimelineOptions options;
    REQUIRE(options.costs.parse("LOAD=1000000000/element"));
    options.models = {{false, 1}};
    const auto timelines = simulate(program, options);
    REQUIRE(timelines);
    const auto json = nlohmann::json::parse(timeline_json(program, *timelines, false));
    const std::int64_t cycles = n * n * 1'000'000'000;
    if (n == 3001) {
      CHECK(json["models"][0]["cycles"] == cycles);
    } else {
      CHECK(json["models"][0]["cycles"] == std::to_string(cycles));
    }
  }
}

TEST_CASE("a trace's timeline has the intervals of its steps and those between them",
          "[timeline]") {
  const BoundProgram program = test::bound(kTwoSteps);
  const auto json = nlohmann::json::parse(timeline_of_steps_json(program, CostTable(), 2, 3));
  const auto& serial = json["models"][0];
  CHECK(serial["cycles"] == 8);
  CHECK(serial["intervals_left_out"] == 0);
  std::string text;
  for (const auto& interval : serial["intervals"]) {
    text +=
        interval["unit"].get<std::string>() + " " + std::to_string(interval["start"].get<int>()) +
        "-" + std::to_string(interval["end"].get<int>()) +
        (interval.contains("step") ? " " + std::to_string(interval["step"].get<int>()) : "") + "\n";
  }
  CHECK(text == "compute 1-2 2\nmemory 1-2\nmemory 2-3 3\ncompute 2-3\nmemory 3-4\n");
}

TEST_CASE("a run of more than 20 million steps has no timeline in its trace", "[timeline]") {
  const BoundProgram program = test::bound(
      ".param n = 1\n.input x[1]\nfor i in 0..n\nLOAD x[0], R0\nend\n", sized_run(20'000'001));
  CHECK(timeline_of_steps_json(program, CostTable(), 1, 2) ==
        R"({"missing":"a run of 20000001 steps is too long for a timeline in its page"})");
}

}  // namespace flashlab::toy
