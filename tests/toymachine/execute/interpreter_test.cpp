#include "toymachine/run/interpreter.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/execute/interpret.hpp"

using namespace flashlab;
using test::bound;
using test::contains;

namespace {

constexpr double kUnwrittenNumber = std::numeric_limits<double>::quiet_NaN();

template <class Value>
std::vector<Value> filled_dram(const toy::BoundProgram& program, std::mt19937& random) {
  std::vector<Value> dram(static_cast<std::size_t>(program.dram_elements),
                          static_cast<Value>(kUnwrittenNumber));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    for (std::int64_t i = 0; i < array.size; ++i) {
      dram[static_cast<std::size_t>(array.offset + i)] = static_cast<Value>(uniform(random));
    }
  }
  return dram;
}

/// Watching every step keeps the interpreter from running strips of iterations.
struct StepByStep {
  static constexpr bool kPerStep = true;
  template <class Value>
  bool after(const toy::Step&, std::span<Value>, std::span<Value>) {
    return true;
  }
  template <class Value>
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<Value>) {}
};

std::string message(const toy::Result<toy::Execution>& result, const toy::BoundProgram& program) {
  REQUIRE_FALSE(result);
  return toy::format(result.diagnostics, *program.program->source);
}

std::string run_error(const std::string& text, const toy::Binding& binding = {}) {
  const toy::BoundProgram program = bound(text, binding);
  std::mt19937 random(flashlab::test::seeded(1));
  auto dram = filled_dram<float>(program, random);
  return message(toy::run(program, dram), program);
}

/// A loop of random instructions over few registers: chains, rings, carried and dead values.
std::string random_loop(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const auto reg = [&] { return "R" + std::to_string(draw(0, 5)); };
  const int n = draw(1, 1500);
  std::string text = ".registers 6\n.param n = " + std::to_string(n) +
                     "\n.input x[2*n + 3]\n.output o[2*n + 2]\n.output last[1]\n.output all[6]\n";
  for (int r = 0; r < 6; ++r)
    text += "LOAD x[" + std::to_string(r % 3) + "], R" + std::to_string(r) + "\n";
  text +=
      "for i in " + std::to_string(draw(0, 2)) + "..n" + (draw(0, 2) == 0 ? " step 2" : "") + "\n";
  const int length = draw(1, 9);
  for (int i = 0; i < length; ++i) {
    switch (draw(0, 9)) {
      case 0:
        text += "LOAD x[2*i + 1], " + reg() + "\n";
        break;
      case 1:
        text += "LOAD x[i], " + reg() + "\n";
        break;
      case 2:
        text += "MAX " + reg() + ", " + reg() + ", " + reg() + "\n";
        break;
      case 3:
        text += "SUB " + reg() + ", " + reg() + ", " + reg() + "\n";
        break;
      case 4:
        text += "MOV " + reg() + ", " + reg() + "\n";
        break;
      case 5:
        text += "MAC " + reg() + ", " + reg() + ", " + reg() + ", " + reg() + "\n";
        break;
      case 6:
        text += "EXP " + reg() + ", " + reg() + "\n";
        break;
      case 7:
        text += "MUL " + reg() + ", " + reg() + ", " + reg() + "\n";
        break;
      case 8:
        text += "ADD " + reg() + ", " + reg() + ", " + reg() + "\n";
        break;
      default:
        text += "DIV " + reg() + ", " + reg() + ", " + reg() + "\n";
        break;
    }
  }
  if (draw(0, 1) == 0) text += "STORE " + reg() + ", o[2*i]\n";
  if (draw(0, 1) == 0) text += "STORE " + reg() + ", last[0]\n";
  text += "end\n";
  for (int r = 0; r < 6; ++r)
    text += "STORE R" + std::to_string(r) + ", all[" + std::to_string(r) + "]\n";
  return text;
}

template <class Value>
void require_same_bits(unsigned seed) {
  std::mt19937 random(flashlab::test::seeded(seed));
  int finished = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_loop(random);
    const toy::BoundProgram program = bound(text);
    auto strips = filled_dram<Value>(program, random);
    auto steps = strips;
    StepByStep observer;
    const auto fast = toy::run(program, strips);
    const auto slow = toy::detail::interpret<Value>(program, std::span<Value>(steps), observer);
    INFO(text);
    REQUIRE(static_cast<bool>(fast) == static_cast<bool>(slow));
    if (!fast) {
      CHECK(message(fast, program) == message(slow, program));
      continue;
    }
    ++finished;
    CHECK(fast->executions == slow->executions);
    REQUIRE(std::memcmp(strips.data(), steps.data(), strips.size() * sizeof(Value)) == 0);
  }
  CHECK(finished > 50);
}

struct StopAfter {
  static constexpr bool kPerStep = true;
  std::uint64_t last;
  bool after(const toy::Step& step, std::span<float>, std::span<float>) {
    return step.number < last;
  }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<float>) {}
};

}  // namespace

TEST_CASE("strips of iterations leave the same bits and the same errors as single steps, float") {
  require_same_bits<float>(11);
}

TEST_CASE("strips of iterations leave the same bits and the same errors as single steps, double") {
  require_same_bits<double>(12);
}

TEST_CASE("a register that nobody wrote is an error with line, step and loop indices") {
  CHECK(run_error(
            ".isa softmax\n.input x[8]\nLOAD x[0], R0\nfor i in 2..5\n  ADD R0, R1, R0\nend\n") ==
        "p.toy:5:11: error: step 2 (i = 2): R1 is read, but nothing was written there\n"
        "  5 |   ADD R0, R1, R0\n"
        "    |           ^~\n"
        "  expected a register that an earlier step wrote\n");
}

TEST_CASE("a cell that nobody wrote is an error, in a strip too") {
  CHECK_THAT(run_error(".output o[4]\nLOAD o[3], R0\n"),
             contains("step 1: o[3] is read, but nothing"));
  CHECK_THAT(run_error(".param n = 100\n.input x[n]\n.temp t[n]\nfor i in 0..70\nLOAD x[i], "
                       "R0\nSTORE R0, t[i]\nend\n"
                       "for i in 0..n\nLOAD t[i], R0\nend\n"),
             contains("step 211 (i = 70): t[70] is read, but nothing was written there"));
}

TEST_CASE("an index out of range is found at its step, not before") {
  CHECK_THAT(
      run_error(".input x[8]\nfor i in 0..5\nfor j in 0..3\nLOAD x[2*i + j], R0\nend\nend\n"),
      contains("step 12 (i = 3, j = 2): x[8] is out of range"));
  CHECK_THAT(run_error(".input x[40]\nfor i in 0..50\nLOAD x[i], R0\nend\n"),
             contains("step 41 (i = 40): x[40] is out of range"));
  CHECK_THAT(run_error(".registers 3\n.input x[9]\nfor i in 0..9\nLOAD x[i], R[i]\nend\n"),
             contains("step 4 (i = 3): there is no register R3"));
  const std::string named = ".reg Q[2], M\n.input x[9]\nLOAD x[0], M\nfor i in 0..";
  CHECK_THAT(run_error(named + "3\nLOAD x[i], Q[i]\nend\n"),
             contains("step 4 (i = 2): there is no Q[2]"));
  CHECK_THAT(run_error(named + "2\nLOAD x[i], Q[i - 1]\nend\n"),
             contains("step 2 (i = 0): there is no Q[-1]"));
}

TEST_CASE("overflow and NaN are errors where they are born, minus infinity is a value") {
  CHECK_THAT(run_error(".param n = 200\n.input x[n]\nLOAD x[0], R1\nEXP R1, R1\nADD R1, R1, "
                       "R1\nADD R1, R1, R1\nfor i in 0..n\nMUL R1, R1, R1\nend\n"),
             contains("the result overflows to +inf"));
  CHECK_THAT(run_error(".input x[1]\nLOAD x[0], R0\nSUB R0, R0, R0\nDIV R0, R0, R1\n"),
             contains("step 3: the result is not a number"));
  const toy::BoundProgram program = bound(
      ".input x[2]\n.output o[1]\nLOAD x[0], R0\nLOAD x[1], R1\nMAX R0, R1, R0\nSUB R0, R1, "
      "R0\nEXP R0, R0\nSTORE R0, o[0]\n");
  std::vector<float> dram{-std::numeric_limits<float>::infinity(), 3, std::nanf("")};
  REQUIRE(toy::run(program, dram));
  CHECK(dram[2] == 1);
}

TEST_CASE("a constant fills a register, in a strip as in a step, and its claims hold to the type") {
  const toy::BoundProgram program = bound(
      ".param n = 100\n.const third = 1/3\n.input x[n]\n.output o[n]\n.output m[1]\n"
      "FILL -inf, R0\nfor i in 0..n\nLOAD x[i], R1\nMAX R0, R1, R0\nFILL third*3, R2\n"
      "SUB R1, R2, R1\nSTORE R1, o[i]\nend\nSTORE R0, m[0]\n");
  std::vector<float> dram(201, 4);
  dram[42] = 7;
  REQUIRE(toy::run(program, dram));
  CHECK(dram[200] == 7);
  CHECK(dram[100] == 3);
  CHECK(dram[142] == 6);
}

TEST_CASE("a store to bf16 or fp16 rounds, and overflows where the type ends") {
  const std::string text =
      ".param n = 40\n.input x[n]\n.output h[n] fp16\n.output b[n] bf16\nfor i in 0..n\n"
      "LOAD x[i], R0\nSTORE R0, h[i]\nSTORE R0, b[i]\nend\n";
  const toy::BoundProgram program = bound(text);
  std::vector<float> dram(120, 1.0F / 3);
  REQUIRE(toy::run(program, dram));
  CHECK(dram[40] == 0.333251953125F);  // 1365 / 4096
  CHECK(dram[119] == 0.333984375F);    // 171 / 512
  dram[7] = 70'000;
  CHECK_THAT(message(toy::run(program, dram), program),
             contains("step 23 (i = 7): the result overflows to +inf"));
}

TEST_CASE("an atomic addition to bf16 rounds the sum that the cell holds") {
  const toy::BoundProgram program = bound(
      ".isa attention\n.input x[2]\n.output o[1] bf16\nLOAD x[0], R0\nSTORE R0, o[0]\n"
      "LOAD x[1], R0\nATOMIC_ADD R0, o[0]\n");
  std::vector<float> dram = {256, 1, 0};
  REQUIRE(toy::run(program, dram));
  CHECK(dram[2] == 256);  // 257 has nine bits, bf16 keeps eight
}

TEST_CASE("a run that would take too many steps is refused before the first") {
  CHECK_THAT(run_error(".param n = 1000000\n.input x[1]\nfor i in 0..n\nfor j in 0..n\nLOAD x[0], "
                       "R0\nend\nend\n"),
             contains("1000000000000 steps"));
}

TEST_CASE("a loop that runs in strips ends at the limit, and not before", "[strips]") {
  for (const std::int64_t most : {1, 1998, 1999, 2000}) {
    toy::Binding binding;
    binding.limits.max_steps = most;
    const toy::BoundProgram program =
        bound(".input x[1000]\nfor i in 0..1000\nLOAD x[i], R0\nMOV R0, R1\nend\n", binding);
    std::mt19937 random(flashlab::test::seeded(1));
    auto dram = filled_dram<float>(program, random);
    toy::NoObserver nobody;
    // run() refuses such a program at once: the interpreter's own limit is for those whose steps
    // cannot be counted.
    const auto result = toy::detail::interpret<float>(program, std::span<float>(dram), nobody);
    INFO(most);
    CHECK(bool(result) == (most == 2000));
    if (!result) {
      CHECK_THAT(message(result, program),
                 contains("more than " + std::to_string(most) + " steps"));
    }
  }
}

TEST_CASE("loops that run no instruction have a limit too") {
  toy::Binding binding;
  binding.limits.max_steps = 1000;
  CHECK_THAT(run_error(".param n = 1000000000000\n.input x[1]\nfor i in 0..n\nfor j in 0..0\nLOAD "
                       "x[0], R0\nend\nend\n"
                       "LOAD x[0], R0\n",
                       binding),
             contains("the loops make more than 1000 iterations"));
}

TEST_CASE("counts are exact: empty ranges, steps, nested bounds") {
  const toy::BoundProgram program = bound(
      ".input x[100]\nfor i in 0..10 step 3\nLOAD x[i], R0\nfor j in i..min(2*i, 12)\nLOAD x[j], "
      "R1\nend\nend\nfor k in 5..5\nLOAD x[k], R2\nend\n");
  std::mt19937 random(flashlab::test::seeded(1));
  auto dram = filled_dram<float>(program, random);
  const auto result = toy::run(program, dram);
  REQUIRE(result);
  // i = 0, 3, 6, 9: inner 0, 3..6, 6..12, 9..12
  CHECK(result->executions.times == std::vector<toy::Count>{4, 0 + 3 + 6 + 3, 0});
  CHECK(result->steps == 16);
}

TEST_CASE("an observer can end the run, and what ran is counted") {
  const toy::BoundProgram program =
      bound(".input x[9]\nfor i in 0..9\nLOAD x[i], R0\nMOV R0, R1\nend\n");
  std::mt19937 random(flashlab::test::seeded(1));
  auto dram = filled_dram<float>(program, random);
  StopAfter observer{5};
  const auto result = toy::detail::interpret<float>(program, std::span<float>(dram), observer);
  REQUIRE(result);
  CHECK(result->stopped);
  CHECK(result->steps == 5);
  CHECK(result->executions.times == std::vector<toy::Count>{3, 2});
}
