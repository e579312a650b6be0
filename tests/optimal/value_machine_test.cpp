// Value algebras of every shape: constants, three operands, cells that share a value, scratch.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/solve/plain_search.hpp"
#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
namespace toy = flashlab::toy;

/// Operations at random, of none to three operands; outputs may be inputs or share a value.
ValueAlgebra random_algebra(std::mt19937& random) {
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  ValueAlgebra algebra;
  algebra.num_values = 4 + below(4);
  algebra.inputs = {0, 1};
  const int num_outputs = 1 + below(3);
  for (int i = 0; i < num_outputs; ++i) algebra.outputs.push_back(below(algebra.num_values));
  const std::string_view mnemonics[] = {"FILL", "EXP", "ADD", "MAC"};
  for (int i = 0; i < 3 * algebra.num_values; ++i) {
    ValueOperation operation;
    const int operands = std::min(3, below(9) / 2);
    for (int o = 0; o < operands; ++o) {
      operation.operands[static_cast<std::size_t>(o)] = below(algebra.num_values);
    }
    operation.mnemonic = mnemonics[operands];
    if (operands == 0) operation.constant = "0";
    operation.result = below(algebra.num_values);
    algebra.operations.push_back(operation);
  }
  for (int i = 0; i < 2; ++i) {
    algebra.frame.input_cells.push_back("x[" + std::to_string(i) + "]");
  }
  for (int i = 0; i < num_outputs; ++i) {
    algebra.frame.output_cells.push_back("o[" + std::to_string(i) + "]");
  }
  std::vector<int> same;
  for (int value = 0; value < algebra.num_values; ++value) same.push_back(value);
  algebra.symmetries = {same};
  return algebra;
}

/// Each value but the inputs has one maker, of earlier values: what is lost must be computed again,
/// or be stored and loaded.
ValueAlgebra random_tree(std::mt19937& random) {
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  ValueAlgebra algebra = random_algebra(random);
  const int num_inputs = static_cast<int>(algebra.inputs.size());
  algebra.num_values = 6 + below(2);
  algebra.operations.clear();
  for (int value = num_inputs; value < algebra.num_values; ++value) {
    algebra.operations.push_back({"MUL", {below(value), value - 1, kNoValue}, value});
  }
  for (int& output : algebra.outputs) {
    output = num_inputs + below(algebra.num_values - num_inputs);
  }
  algebra.symmetries.front().clear();
  for (int value = 0; value < algebra.num_values; ++value) {
    algebra.symmetries.front().push_back(value);
  }
  return algebra;
}

/// Running sums from the right: o[0] = x0 + x1 + x2, o[1] = x1 + x2, of which the second is an
/// operand of the first; c = 2 x0 + that, made with a constant.
ValueAlgebra chain() {
  enum { kX0, kX1, kSum, kTwo, kBoth };
  ValueAlgebra algebra;
  algebra.title = "A chain";
  algebra.num_values = 5;
  algebra.inputs = {kX0, kX1};
  algebra.outputs = {kSum, kBoth, kSum, kX1};
  algebra.operations = {{"ADD", {kX0, kX1, kNoValue}, kSum},
                        {"FILL", {kNoValue, kNoValue, kNoValue}, kTwo, "2"},
                        {"MAC", {kX0, kTwo, kSum}, kBoth}};
  algebra.frame = {"attention",
                   {".input  x[2]", ".output t[4]"},
                   {"x[0]", "x[1]"},
                   {"t[0]", "t[1]", "t[2]", "t[3]"}};
  algebra.symmetries = {{0, 1, 2, 3, 4}};
  return algebra;
}

/// What the cheapest program costs when any value may be stored in any output's cell, and there are
/// no others: uniform-cost search over what registers and cells hold. -1: there is none.
class OutputCells {
 public:
  OutputCells(const ValueAlgebra& algebra, int registers, const toy::CostTable& costs)
      : algebra_(algebra), registers_(static_cast<std::size_t>(registers)), costs_(costs) {}

  std::int64_t cheapest() {
    reach(std::vector<int>(registers_ + algebra_.outputs.size(), kNoValue), 0);
    while (!open_.empty()) {
      const auto [cycles, state] = open_.top();
      open_.pop();
      if (cycles > best_.at(state)) continue;
      if (std::equal(algebra_.outputs.begin(), algebra_.outputs.end(), cells(state))) return cycles;
      follow(state, cycles);
    }
    return -1;
  }

 private:
  using State = std::vector<int>;  // registers, sorted, and then cells: the value or kNoValue
  State::const_iterator cells(const State& state) const {
    return state.begin() + static_cast<std::ptrdiff_t>(registers_);
  }

  void reach(State next, std::int64_t cycles) {
    std::sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(registers_));
    const auto [place, is_new] = best_.try_emplace(next, cycles);
    if (!is_new && place->second <= cycles) return;
    place->second = cycles;
    open_.emplace(cycles, std::move(next));
  }

  void make(const State& state, int value, std::int64_t cycles) {
    for (std::size_t i = 0; i < registers_; ++i) {
      State next = state;
      next[i] = value;
      reach(std::move(next), cycles);
    }
  }

  void follow(const State& state, std::int64_t cycles) {
    const std::int64_t load = cycles + scalar_cycles(costs_, "LOAD");
    for (const int input : algebra_.inputs) make(state, input, load);
    for (auto cell = cells(state); cell != state.end(); ++cell) {
      if (*cell != kNoValue) make(state, *cell, load);
    }
    const auto holds = [&](int value) {
      return value == kNoValue || std::find(state.begin(), cells(state), value) != cells(state);
    };
    for (const ValueOperation& operation : algebra_.operations) {
      const auto& [a, b, c] = operation.operands;
      if (!holds(a) || !holds(b) || !holds(c)) continue;
      make(state, operation.result, cycles + scalar_cycles(costs_, operation.mnemonic));
    }
    for (std::size_t i = 0; i < registers_; ++i) {
      for (std::size_t cell = registers_; cell < state.size(); ++cell) {
        State next = state;
        next[cell] = state[i];
        reach(std::move(next), cycles + scalar_cycles(costs_, "STORE"));
      }
    }
  }

  const ValueAlgebra& algebra_;
  std::size_t registers_;
  const toy::CostTable& costs_;
  std::map<State, std::int64_t> best_;
  using Entry = std::pair<std::int64_t, State>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

/// The machine whose scratch cells are the outputs' own.
ValueMachine with_output_cells(const ValueAlgebra& algebra, int registers,
                               const toy::CostTable& costs) {
  ValueMachine machine{registers, costs, static_cast<int>(algebra.outputs.size())};
  machine.scratch_in_outputs = true;
  return machine;
}

}  // namespace

TEST_CASE("what is proved with values in the outputs' cells is no more than what they cost there") {
  std::mt19937 random(flashlab::test::seeded(8));
  toy::CostTable costs;
  REQUIRE(costs.parse("EXP=9,ADD=7,MAC=8,FILL=6,MUL=9"));
  constexpr int kFewest = 3;  // most of what is drawn needs none
  int with_spills = 0;
  for (int trial = 0; trial < 60 || (with_spills < kFewest && trial < 1000); ++trial) {
    const bool is_tree = trial % 4 != 0;
    const ValueAlgebra algebra = is_tree ? random_tree(random) : random_algebra(random);
    const int registers = is_tree ? 2 : 1 + trial / 4 % 2;
    const std::int64_t exact = OutputCells(algebra, registers, costs).cheapest();
    const Answer answer = solve(algebra, with_output_cells(algebra, registers, costs));
    INFO("trial " << trial);
    if (answer.verdict == Verdict::kInfeasible) {
      REQUIRE(exact == -1);
      continue;
    }
    REQUIRE((exact == -1 || answer.lower_cycles <= exact));
    REQUIRE((answer.verdict == Verdict::kOptimal) == answer.program.has_value());
    if (!answer.program) continue;
    REQUIRE(answer.program->cycles == exact);
    REQUIRE(answer.program->text.find(".temp") == std::string::npos);
    if (answer.program->stores > static_cast<std::int64_t>(algebra.outputs.size())) ++with_spills;
  }
  CHECK(with_spills >= kFewest);
}

TEST_CASE("values that find no room in the outputs' cells leave a bound and no program") {
  enum { kX, kA, kB, kC, kD, kE, kSum, kProduct, kOut };
  ValueAlgebra algebra;  // two of B, C, D must wait in DRAM when A is stored already
  algebra.num_values = 9;
  algebra.inputs = {kX};
  algebra.outputs = {kA, kOut};
  for (const int value : {kX, kA, kB, kC, kD}) {
    algebra.operations.push_back({"EXP", {value, kNoValue, kNoValue}, value + 1});
  }
  algebra.operations.push_back({"ADD", {kE, kD, kNoValue}, kSum});
  algebra.operations.push_back({"MUL", {kSum, kC, kNoValue}, kProduct});
  algebra.operations.push_back({"SUB", {kProduct, kB, kNoValue}, kOut});
  algebra.frame = {"attention", {}, {"x[0]"}, {"o[0]", "o[1]"}};
  algebra.symmetries = {{0, 1, 2, 3, 4, 5, 6, 7, 8}};
  toy::CostTable costs;
  REQUIRE(costs.parse("EXP=9"));
  const Answer apart = solve(algebra, {2, costs, 2});
  REQUIRE(apart.verdict == Verdict::kOptimal);
  CHECK(apart.lower_cycles == 1 + 5 * 9 + 3 + 2 + 4);
  const Answer answer = solve(algebra, with_output_cells(algebra, 2, costs));
  CHECK(answer.verdict == Verdict::kBounded);
  CHECK(answer.lower_cycles == apart.lower_cycles);
  CHECK_FALSE(answer.upper_cycles);
  CHECK_FALSE(answer.program);
  CHECK(OutputCells(algebra, 2, costs).cheapest() > answer.lower_cycles);
}

TEST_CASE("a program that keeps values in its results' cells first runs to the right results") {
  const ValueAlgebra algebra = safe_softmax(3);
  const toy::CostTable costs;
  const Answer apart = solve(algebra, {3, costs, 1});
  ValueMachine machine{3, costs, 1};
  machine.scratch_in_outputs = true;
  const Answer answer = solve(algebra, machine);
  REQUIRE(answer.program);
  INFO(answer.program->text);
  CHECK(answer.lower_cycles == apart.lower_cycles);
  CHECK(answer.lower_cycles < solve(algebra, {3, costs, 0}).lower_cycles);
  CHECK(answer.program->stores > 3);
  const toy::BoundProgram program = flashlab::test::bound(answer.program->text);
  REQUIRE(program.arrays.size() == 2);  // no .temp
  std::vector<double> dram(static_cast<std::size_t>(program.dram_elements));
  const std::array<double, 3> x{0.5, -1, 2};
  std::copy(x.begin(), x.end(), dram.begin() + program.arrays[0].offset);
  const auto execution = toy::run(program, dram);
  REQUIRE(execution);
  CHECK(toy::count(program, execution->executions, costs).cycles == answer.lower_cycles);
  const double total = std::exp(0.5) + std::exp(-1) + std::exp(2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double out = dram[static_cast<std::size_t>(program.arrays[1].offset) + i];
    CHECK(std::abs(out - std::exp(x[i]) / total) < 1e-6);
  }
}

TEST_CASE("the solver and the plain search agree on algebras made at random") {
  std::mt19937 random(flashlab::test::seeded(21));
  toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "LOAD=4,STORE=1,EXP=3", "LOAD=1,FILL=0,MAC=7,EXP=5")));
  int feasible = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const ValueAlgebra algebra = random_algebra(random);
    ValueMachine machine{1 + trial % 3, costs, trial / 3 % 2};
    if (trial % 5 == 0) machine.most_loads = trial / 5 % 4;
    const PlainValueAnswer plain = plain_value_search(algebra, machine);
    const Answer answer = solve(algebra, machine);
    INFO("trial " << trial);
    REQUIRE(answer.verdict == (plain.cycles < 0 ? Verdict::kInfeasible : Verdict::kOptimal));
    if (plain.cycles < 0) continue;
    ++feasible;
    REQUIRE(answer.lower_cycles == plain.cycles);
    REQUIRE(answer.upper_cycles == plain.cycles);
    REQUIRE(answer.program);
    REQUIRE(answer.program->cycles == plain.cycles);
  }
  CHECK(feasible > 50);
}

TEST_CASE("the toy machine runs a program with a constant, cells that share a value, and scratch") {
  toy::CostTable costs;
  REQUIRE(costs.parse(GENERATE("LOAD=1", "ADD=9", "FILL=9,LOAD=2")));
  const int scratch = GENERATE(0, 1);
  const ValueAlgebra algebra = chain();
  const Answer answer = solve(algebra, {3, costs, scratch});
  REQUIRE(answer.program);
  INFO(answer.program->text);
  const toy::BoundProgram program = flashlab::test::bound(answer.program->text);
  std::vector<double> dram(static_cast<std::size_t>(program.dram_elements));
  dram[static_cast<std::size_t>(program.arrays[0].offset)] = 3;
  dram[static_cast<std::size_t>(program.arrays[0].offset) + 1] = 10;
  const auto execution = toy::run(program, dram);
  REQUIRE(execution);
  const auto first = dram.begin() + program.arrays[1].offset;
  CHECK(std::vector<double>(first, first + 4) == std::vector<double>{13, 19, 13, 10});
  CHECK(toy::count(program, execution->executions, costs).cycles == answer.lower_cycles);
}

TEST_CASE("a value is stored in a scratch cell where making it again costs more") {
  enum { kX, kA, kB, kC, kD, kOut };
  ValueAlgebra algebra;
  algebra.title = "An exponential that is needed early and late";
  algebra.num_values = 6;
  algebra.inputs = {kX};
  algebra.outputs = {kOut};
  algebra.operations = {{"EXP", {kX, kNoValue, kNoValue}, kA},
                        {"ADD", {kX, kA, kNoValue}, kB},
                        {"MUL", {kX, kB, kNoValue}, kC},
                        {"SUB", {kC, kB, kNoValue}, kD},
                        {"DIV", {kD, kA, kNoValue}, kOut}};
  algebra.frame = {"attention", {".input  x[1]", ".output t[1]"}, {"x[0]"}, {"t[0]"}};
  algebra.symmetries = {{0, 1, 2, 3, 4, 5}};
  toy::CostTable costs;
  REQUIRE(costs.parse("EXP=9"));
  CHECK(solve(algebra, {2, costs, 0}).lower_cycles == 2 * (1 + 9) + 4 + 1);
  const Answer answer = solve(algebra, {2, costs, 1});
  REQUIRE(answer.program);
  INFO(answer.program->text);
  CHECK(answer.lower_cycles == (1 + 9) + 4 + 1 + 2);
  CHECK(answer.program->stores == 2);
  const toy::BoundProgram program = flashlab::test::bound(answer.program->text);
  std::vector<double> dram(static_cast<std::size_t>(program.dram_elements));
  dram[static_cast<std::size_t>(program.arrays[0].offset)] = 0;
  REQUIRE(toy::run(program, dram));
  CHECK(dram[static_cast<std::size_t>(program.arrays[1].offset)] == -1);
}

TEST_CASE("the states of large computations take several words") {
  ValueAlgebra algebra;  // of twelve inputs, the sums of neighbours
  algebra.title = "Neighbours";
  const int count = 12;
  algebra.num_values = 1000;
  for (int i = 0; i < count; ++i) {
    algebra.inputs.push_back(80 * i);
    algebra.outputs.push_back(80 * i + 40);
    algebra.operations.push_back({"ADD", {80 * i, 80 * ((i + 1) % count), kNoValue}, 80 * i + 40});
    algebra.frame.input_cells.push_back("x[" + std::to_string(i) + "]");
    algebra.frame.output_cells.push_back("o[" + std::to_string(i) + "]");
  }
  std::vector<int> same;
  for (int value = 0; value < algebra.num_values; ++value) same.push_back(value);
  algebra.symmetries = {same};
  const Answer twelve = solve(algebra, {12});
  CHECK(twelve.verdict == Verdict::kOptimal);
  CHECK(twelve.lower_cycles == 3 * count);
  CHECK_THROWS_AS(solve(algebra, {17}), std::invalid_argument);
}
