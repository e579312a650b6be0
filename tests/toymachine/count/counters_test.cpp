#include "toymachine/count/counters.hpp"

#include <random>
#include <vector>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/execute/interpret.hpp"

using namespace flashlab;
using test::bound;
using test::contains;

namespace {

struct CountersRecorder {
  static constexpr bool kPerStep = true;
  std::vector<std::pair<const toy::BoundInstruction*, std::array<std::int64_t, toy::kMaxOperands>>>
      steps;
  bool after(const toy::Step& step, std::span<float>, std::span<float>) {
    steps.emplace_back(step.instruction, step.operands);
    return true;
  }
  void label(const toy::BoundLabel&, std::int64_t, const std::int64_t*, std::span<float>) {}
};

/// The most registers alive, found by walking the executed trace backwards.
std::int64_t peak_of_trace(const toy::BoundProgram& program) {
  CountersRecorder recorder;
  std::vector<float> dram(static_cast<std::size_t>(program.dram_elements), 0.5F);
  REQUIRE(toy::detail::interpret<float>(program, std::span<float>(dram), recorder));
  std::vector<char> live(static_cast<std::size_t>(program.num_registers), 0);
  std::int64_t peak = 0;
  const auto note = [&] {
    peak = std::max<std::int64_t>(peak, std::count(live.begin(), live.end(), 1));
  };
  for (auto at = recorder.steps.rbegin(); at != recorder.steps.rend(); ++at) {
    const auto& operands = at->first->operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].kind != toy::OperandKind::kDestination) continue;
      char& written = live[static_cast<std::size_t>(at->second[i])];
      written = 1;
      note();
      written = 0;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (toy::is_register_read(operands[i].kind))
        live[static_cast<std::size_t>(at->second[i])] = 1;
    }
    note();
  }
  return peak;
}

}  // namespace

TEST_CASE("peak registers: a register counts from its write to its last read") {
  CHECK(toy::peak_registers(bound(".input x[4]\nLOAD x[0], R0\nLOAD x[1], R1\nMAC_Z R0, R1, R2\n"
                                  "LOAD x[2], R0\nLOAD x[3], R1\nMAC R0, R1, R2, R2\n")) == 3);
  CHECK(
      toy::peak_registers(bound(
          ".input x[4]\n.output o[4]\nfor i in 0..4\nLOAD x[i], R[i]\nSTORE R[i], o[i]\nend\n")) ==
      1);
  CHECK(toy::peak_registers(bound(".input x[4]\n.output o[4]\nfor i in 0..4\nLOAD x[i], "
                                  "R[i]\nend\nfor i in 0..4\nSTORE R[i], o[i]\nend\n")) == 4);
}

TEST_CASE("peak registers of random nests equal those of the executed trace") {
  std::mt19937 random(flashlab::test::seeded(5));
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    const auto reg = [&](const std::string& var) {
      return draw(0, 2) == 0 && !var.empty() ? "R[" + var + " + " + std::to_string(draw(0, 3)) + "]"
                                             : "R" + std::to_string(draw(0, 6));
    };
    std::string text = ".registers 8\n.input x[8]\n";
    for (int r = 0; r < 8; ++r)
      text += "LOAD x[" + std::to_string(r) + "], R" + std::to_string(r) + "\n";
    const auto body = [&](const std::string& var) {
      for (int i = draw(1, 4); i > 0; --i) {
        text += draw(0, 1) == 0 ? "LOAD x[0], " + reg(var) + "\n"
                                : "MAX " + reg(var) + ", " + reg(var) + ", " + reg(var) + "\n";
      }
    };
    text += "for a in 0.." + std::to_string(draw(1, 3)) + "\n";
    body("a");
    text += "for b in 0.." + std::to_string(draw(1, 4)) + "\n";
    body("b");
    text += "end\n";
    body("");
    text += "end\n";
    body("");
    const toy::BoundProgram program = bound(text);
    INFO(text);
    REQUIRE(toy::peak_registers(program) == peak_of_trace(program));
  }
}

TEST_CASE("the DRAM high-water mark counts what is alive together, and not what is never stored") {
  const toy::BoundProgram program = bound(
      ".input x[10]\n.temp a[10]\n.temp b[20]\n.temp never[1000]\n.output o[5] double\n"
      "for i in 0..10\nLOAD x[i], R0\nSTORE R0, a[i]\nend\nLOAD a[0], R0\n"
      "for i in 0..20\nSTORE R0, b[i]\nend\nLOAD b[3], R0\nfor i in 0..0\nSTORE R0, "
      "never[i]\nend\nSTORE R0, o[0]\n");
  const auto executions = toy::count_executions(program);
  REQUIRE(executions);
  CHECK(toy::peak_dram_bytes(program, *executions) == 20 * 4);
}

TEST_CASE("costs are read from a list, and every mistake in it is named") {
  toy::CostTable costs;
  REQUIRE(costs.parse("LOAD=100,exp=4"));
  CHECK(costs.cycles(*toy::find_instruction("LOAD")) == 100);
  CHECK(costs.cycles(*toy::find_instruction("EXP")) == 4);
  CHECK(costs.cycles(*toy::find_instruction("ADD")) == 1);
  const auto wrong = [](const char* text) {
    toy::CostTable table;
    const auto result = table.parse(text);
    REQUIRE_FALSE(result);
    CHECK(result.diagnostics[0].fault == toy::Fault::kRequest);
    return result.diagnostics[0].what + " " + result.diagnostics[0].suggestion;
  };
  CHECK_THAT(wrong("LOAD"), contains("has no value"));
  CHECK_THAT(wrong("LAOD=3"), contains("LOAD"));
  CHECK_THAT(wrong("LOAD=-1"), contains("is not a number of cycles"));
  CHECK_THAT(wrong("LOAD=1.5"), contains("is not a number of cycles"));
  CHECK_THAT(wrong("LOAD=2,LOAD=3"), contains("given twice"));
}

TEST_CASE("counters add up by instruction, by array and by pass") {
  const toy::BoundProgram program = bound(
      ".param n = 6\n.input x[n] double\n.output o[n] bf16\n.pass A\nLOAD x[0], R0\n.pass B\nfor i "
      "in 0..n\n"
      "LOAD x[i], R1\nEXP R1, R2\nMAC R1, R2, R0, R0\nSTORE R0, o[i]\nend\n");
  const auto executions = toy::count_executions(program);
  REQUIRE(executions);
  toy::CostTable costs;
  REQUIRE(costs.parse("LOAD=10"));
  const toy::Counters all = toy::count(program, *executions, costs);
  CHECK(all.steps == 25);
  CHECK(all.loads == 7);
  CHECK(all.stores == 6);
  CHECK(all.compute == 12);
  CHECK(all.cycles == 7 * 10 + 18);
  CHECK(all.bytes_loaded == 7 * 8);
  CHECK(all.bytes_stored == 6 * 2);
  CHECK(all.flops == 12);
  CHECK(all.exps == 6);
  CHECK(toy::count_pass(program, *executions, costs, 1).steps == 1);
  CHECK(toy::count_pass(program, *executions, costs, 2).steps == 24);
}
