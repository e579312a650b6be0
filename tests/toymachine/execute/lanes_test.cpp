#include "toymachine/execute/lanes.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/interpret.hpp"

using namespace flashlab;
using test::bound;
using test::params;

namespace {

constexpr float kUnwrittenLane = std::numeric_limits<float>::quiet_NaN();

/// Another input in every lane.
std::vector<toy::LaneValue> filled_lanes(const toy::BoundProgram& program, unsigned seed,
                                         float scale) {
  std::vector<toy::LaneValue> dram(static_cast<std::size_t>(program.dram_elements));
  for (toy::LaneValue& value : dram) std::fill_n(value.lane, toy::kLanes, kUnwrittenLane);
  std::mt19937 random(flashlab::test::seeded(seed));
  std::uniform_real_distribution<float> uniform(-scale, scale);
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      for (float& value : dram[static_cast<std::size_t>(array.offset + i)].lane) {
        value = uniform(random);
      }
    }
  }
  return dram;
}

/// Counts the steps that a run completes.
struct Counter {
  static constexpr bool kPerStep = true;
  std::size_t steps = 0;
  bool after(const toy::Step&, std::span<float>, std::span<float>) {
    ++steps;
    return true;
  }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<float>) {}
};

struct LaneRun {
  std::vector<float> dram;
  std::size_t steps = 0;  // completed
  bool failed = false;
  bool unwritten = false;
};

/// One lane by the interpreter.
LaneRun interpret(const toy::BoundProgram& program, const std::vector<toy::LaneValue>& dram,
                  std::size_t lane) {
  LaneRun run;
  for (const toy::LaneValue& value : dram) run.dram.push_back(value.lane[lane]);
  Counter counter;
  const auto result = toy::detail::interpret<float>(program, run.dram, counter);
  run.steps = counter.steps;
  run.failed = !result;
  run.unwritten =
      run.failed && result.diagnostics[0].what.find("nothing was written") != std::string::npos;
  return run;
}

/// All lanes at once do what 16 runs do: the same bits, or the first of their faults.
bool require_equal_runs(const toy::BoundProgram& program, unsigned seed, float scale) {
  std::vector<toy::LaneValue> dram = filled_lanes(program, seed, scale);
  std::vector<LaneRun> runs;
  for (std::size_t lane = 0; lane < toy::kLanes; ++lane) {
    runs.push_back(interpret(program, dram, lane));
  }
  const auto unrolled = toy::unroll(program, 1'000'000);
  REQUIRE(unrolled);
  std::vector<toy::LaneValue> registers;
  const auto fault = toy::run_lanes(*unrolled, dram, registers);
  const LaneRun* first = nullptr;
  for (const LaneRun& run : runs) {
    if (run.failed && (!first || run.steps < first->steps)) first = &run;
  }
  REQUIRE(fault.has_value() == (first != nullptr));
  if (fault) {
    CHECK(fault->step == first->steps);
    CHECK(fault->lane == static_cast<std::size_t>(first - runs.data()));
    CHECK(fault->unwritten == first->unwritten);
    return false;
  }
  for (std::size_t lane = 0; lane < toy::kLanes; ++lane) {
    for (std::size_t i = 0; i < dram.size(); ++i) {
      const auto got = std::bit_cast<std::uint32_t>(dram[i].lane[lane]);
      const auto expected = std::bit_cast<std::uint32_t>(runs[lane].dram[i]);
      if (got != expected && dram[i].lane[lane] == dram[i].lane[lane]) {
        FAIL("lane " << lane << ", element " << i << ": " << dram[i].lane[lane] << ", expected "
                     << runs[lane].dram[i]);
      }
    }
  }
  return true;
}

/// Any instruction on a few registers; now and then one that nobody wrote is read.
std::string random_program(unsigned seed) {
  std::mt19937 random(flashlab::test::seeded(seed));
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto reg = [&] { return "R" + std::to_string(draw(0, 4)); };
  std::string text = ".registers 5\n.input x[9]\n.output o[6]\n";
  for (int r = 0; r < draw(4, 20); ++r) {
    text += "LOAD x[" + std::to_string(r % 9) + "], R" + std::to_string(r % 5) + "\n";
  }
  text += "STORE R0, o[5]\n";
  const std::vector<std::string> shapes = {
      "LOAD x, d",         "MAC_Z r, r, d",      "MAC r, r, r, d", "MAX r, r, d", "SUB r, r, d",
      "EXP r, d",          "ADD r, r, d",        "MUL r, r, d",    "DIV r, r, d", "MOV r, d",
      "LOG r, d",          "FILL c, d",          "ROWMAX r, d",    "ROWSUM r, d", "MASK r, i, i, d",
      "WINDOW r, i, i, d", "ATOMIC_ADD r, o[5]", "STORE r, o"};
  for (int length = draw(5, 40); length > 0; --length) {
    // Logarithms and exponentials end most programs: they come once in a while.
    std::string shape = shapes[static_cast<std::size_t>(draw(0, 17))];
    if ((shape == "LOG r, d" || shape == "EXP r, d") && draw(0, 2) != 0) shape = "MAX r, r, d";
    for (const char c : shape.substr(0, shape.find(' ') + 1)) text += c;
    const std::string operands = shape.substr(shape.find(' ') + 1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const char c = operands[i];
      if (c == 'r' || c == 'd')
        text += reg();
      else if (c == 'x')
        text += "x[" + std::to_string(draw(0, 8)) + "]";
      else if (c == 'i')
        text += std::to_string(draw(0, 2));
      else if (c == 'c')
        text += draw(0, 5) == 0 ? "-inf" : std::to_string(draw(-3, 3));
      else if (operands.substr(i) == "o")
        text += "o[" + std::to_string(draw(0, 4)) + "]";
      else
        text += c;
    }
    text += "\n";
  }
  return text;
}

toy::LaneFault fault_of(const std::string& text, std::size_t element, std::size_t lane,
                        float value) {
  const auto program = bound(text);
  auto dram = filled_lanes(program, 1, 1);
  dram[element].lane[lane] = value;
  std::vector<toy::LaneValue> registers;
  const auto fault = toy::run_lanes(*toy::unroll(program, 100), dram, registers);
  REQUIRE(fault);
  return *fault;
}

}  // namespace

TEST_CASE("lanes give the bits of sixteen runs") {
  const auto attention = params({{"n", 3}, {"d", 2}, {"B", 1}, {"Bd", 1}});
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CHECK(require_equal_runs(test::bundled("softmax_safe", params({{"n", 9}})), seed, 90));
    CHECK(require_equal_runs(test::bundled("softmax_online", params({{"n", 9}})), seed, 90));
    CHECK(require_equal_runs(test::bundled("matmul_outer"), seed, 1e6F));
    CHECK(require_equal_runs(test::bundled("welford", params({{"n", 9}})), seed, 1));
    CHECK(require_equal_runs(test::bundled("kahan_sum", params({{"n", 9}})), seed, 1e5F));
    CHECK(require_equal_runs(test::bundled("flash2_causal", attention), seed, 20));
  }
}

TEST_CASE("random programs on lanes end like sixteen runs") {
  int finished = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    const std::string text = random_program(seed);
    INFO(text);
    finished += require_equal_runs(bound(text), seed, seed % 2 == 0 ? 2.0F : 60.0F) ? 1 : 0;
  }
  INFO(finished << " of 600 programs reach their end");
  CHECK(finished > 100);  // both ends are tried
  CHECK(finished < 500);
}

TEST_CASE("the first lane that goes wrong is named") {
  const std::string exponential = ".input x[2]\n.output o[1]\nLOAD x[1], R0\nEXP R0, R0\n";
  const auto overflow = fault_of(exponential, 1, 11, 1000);
  CHECK(overflow.step == 1);
  CHECK(overflow.lane == 11);
  CHECK_FALSE(overflow.unwritten);
  const auto unwritten = fault_of(exponential, 1, 5, kUnwrittenLane);
  CHECK(unwritten.step == 0);
  CHECK(unwritten.lane == 5);
  CHECK(unwritten.unwritten);
  const auto not_a_number =
      fault_of(".input x[1]\nLOAD x[0], R0\nDIV R0, R0, R1\nMAX R0, R1, R1\n", 0, 15, 0);
  CHECK(not_a_number.step == 1);
  CHECK(not_a_number.lane == 15);
  CHECK_FALSE(not_a_number.unwritten);
}

TEST_CASE("a register that nobody wrote stops every lane") {
  const auto program = bound(".registers 2\n.input x[1]\nLOAD x[0], R0\nMAX R1, R0, R0\n");
  auto dram = filled_lanes(program, 1, 1);
  std::vector<toy::LaneValue> registers(2, toy::LaneValue{});  // of an earlier run
  const auto fault = toy::run_lanes(*toy::unroll(program, 100), dram, registers);
  REQUIRE(fault);
  CHECK(fault->step == 1);
  CHECK(fault->lane == 0);
  CHECK(fault->unwritten);
}
