// Nothing that the solver leaves out is cheaper: all programs of a level are tried.
#include "optimal/solve/any_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "optimal/problem/sampled_values.hpp"
#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/call_instruction.hpp"
#include "toymachine/run/interpreter.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::toy::Level;
namespace toy = flashlab::toy;

Computation known_computation(const std::string& name) { return *named_computation(name).value; }

AnyMachine machine_for(const Computation& computation, int registers) {
  AnyMachine machine;
  machine.level = computation.product() != nullptr ? Level::kMatmul : Level::kSoftmax;
  machine.registers = registers;
  return machine;
}

std::int64_t proved(const Computation& computation, const AnyMachine& machine) {
  Answer answer;
  if (const auto* product = computation.product()) {
    answer = solve(
        *product, {machine.registers, toy::OperandRule::kAny, false, product_costs(machine.costs)});
  } else {
    answer = solve(*computation.algebra(), {machine.registers, machine.costs});
  }
  REQUIRE(answer.verdict == Verdict::kOptimal);
  return answer.lower_cycles;
}

/// What the program leaves in its last array, and what it costs.
std::vector<double> run_witness(const std::string& text, const std::vector<double>& x,
                                std::int64_t& cycles) {
  const toy::BoundProgram program = flashlab::test::bound(text);
  std::vector<double> dram(static_cast<std::size_t>(program.dram_elements),
                           std::numeric_limits<double>::quiet_NaN());
  std::copy(x.begin(), x.end(), dram.begin());
  const auto execution = toy::run(program, dram);
  REQUIRE(execution);
  cycles = toy::count(program, execution->executions, {}).cycles.get_si();
  const toy::BoundArray& output = program.arrays.back();
  const auto first = dram.begin() + output.offset;
  return {first, first + output.size};
}

}  // namespace

TEST_CASE("no program of any kind is cheaper than the solver's for small sums, maxima, products") {
  const auto [name, registers] =
      GENERATE(std::tuple("sum:2", 2), std::tuple("sum:2", 4), std::tuple("sum:3", 2),
               std::tuple("sum:3", 4), std::tuple("max:2", 3), std::tuple("max:3", 2),
               std::tuple("max:3", 3), std::tuple("1x1x1", 2), std::tuple("1x1x1", 4),
               std::tuple("1x2x1", 3), std::tuple("1x2x1", 5), std::tuple("1x1x2", 3),
               std::tuple("2x1x2", 3));
  CAPTURE(name, registers);
  const Computation computation = known_computation(name);
  AnyMachine machine = machine_for(computation, registers);
  REQUIRE(machine.costs.parse(
      GENERATE("LOAD=1", "LOAD=4,STORE=2,MAC=2,ADD=2,SUB=2,MUL=2,DIV=2,MAX=2,EXP=2")));
  const std::int64_t cycles = proved(computation, machine);
  const AnyAnswer answer = any_program(computation, machine, cycles);
  CHECK(answer.excluded_cycles == cycles - 1);
  REQUIRE(answer.program);
  const toy::BoundProgram program = flashlab::test::bound(*answer.program);
  const auto executions = toy::count_executions(program);
  REQUIRE(executions);
  CHECK(toy::count(program, *executions, machine.costs).cycles == cycles);
}

// What the solver's proofs do not cover: its sums are made of sums, and of nothing else.
TEST_CASE("where differences cost less than sums, a sum is cheaper made of differences") {
  const Computation sum = known_computation("sum:3");
  AnyMachine machine = machine_for(sum, 4);
  REQUIRE(machine.costs.parse("ADD=3"));
  CHECK(proved(sum, machine) == 10);
  const AnyAnswer answer = any_program(sum, machine, 9);
  CHECK(answer.excluded_cycles == 7);
  REQUIRE(answer.program);
  std::int64_t executed = 0;
  const std::vector<double> result = run_witness(*answer.program, {0.5, 2, -4}, executed);
  CHECK(std::abs(result[0] + 1.5) < 1e-12);
}

TEST_CASE("softmax without safe exponents takes 9 cycles, three less than the solver's safe one") {
  const Computation softmax = known_computation("softmax:2");
  const AnyMachine machine = machine_for(softmax, 3);
  CHECK(proved(softmax, machine) == 12);
  const AnyAnswer answer = any_program(softmax, machine, 9);
  CHECK(answer.excluded_cycles == 8);
  REQUIRE(answer.program);
  std::int64_t cycles = 0;
  const std::vector<double> result = run_witness(*answer.program, {0.5, 2}, cycles);
  CHECK(cycles == 9);
  CHECK(std::abs(result[0] - 1 / (1 + std::exp(1.5))) < 1e-12);
  CHECK(std::abs(result[0] + result[1] - 1) < 1e-12);
}

TEST_CASE("no safe softmax of two elements takes 9 cycles, whatever it is made of") {
  const Computation softmax = known_computation("softmax:2");
  AnyMachine machine = machine_for(softmax, 3);
  machine.only_safe_exponents = true;
  const AnyAnswer answer = any_program(softmax, machine, 9);
  CHECK(answer.excluded_cycles == 9);
  CHECK_FALSE(answer.program);
}

TEST_CASE("a search over all programs that is ended says how far it came") {
  const Computation softmax = known_computation("softmax:2");
  AnyMachine machine = machine_for(softmax, 3);
  machine.only_safe_exponents = true;
  SolveLimits limits;
  limits.max_bytes = 1 << 18;
  const AnyAnswer answer = any_program(softmax, machine, 11, limits);
  CHECK(answer.excluded_cycles >= 5);
  CHECK(answer.excluded_cycles < 10);
  CHECK_FALSE(answer.program);
}

TEST_CASE("what cannot be tried in full is refused") {
  const Computation sum = known_computation("sum:2");
  AnyMachine machine = machine_for(sum, 9);
  CHECK_THROWS_AS(any_program(sum, machine, 3), std::invalid_argument);
  machine = machine_for(sum, 3);
  machine.level = Level::kAttention;
  CHECK_THROWS_AS(any_program(sum, machine, 3), std::invalid_argument);
  machine = machine_for(sum, 3);
  REQUIRE(machine.costs.parse("MUL=0"));
  CHECK_THROWS_AS(any_program(sum, machine, 3), std::invalid_argument);
}

TEST_CASE("sampled values are the same but for rounding, and know what they depend on") {
  const detail::SamplePoints points(3);
  const auto made = [&](const auto& function) {
    detail::Sampled result{};
    for (std::size_t p = 0; p < points.size(); ++p) {
      result[p] = function(points.inputs()[0][p], points.inputs()[1][p], points.inputs()[2][p]);
    }
    return result;
  };
  detail::SampledValues values(points);
  const detail::Sampled left = made([](double a, double b, double c) { return (a + b) + c; });
  const detail::Sampled right = made([](double a, double b, double c) { return a + (b + c); });
  const detail::Sampled other = made([](double a, double b, double) { return a * b; });
  CHECK(points.is_same(left, right));
  CHECK(values.index_of(left) == values.index_of(right));
  CHECK_FALSE(points.is_same(left, other));
  CHECK(values.index_of(other) != values.index_of(left));
  CHECK(points.depends_on(left) == 7);
  CHECK(points.depends_on(other) == 3);
  const auto largest = [](double a, double b, double c) { return std::max({a, b, c}); };
  const detail::Sampled maximum = made(largest);
  CHECK(points.is_positive_somewhere(
      made([&](double a, double b, double c) { return a - b + 0 * largest(a, b, c); })));
  CHECK_FALSE(points.is_positive_somewhere(
      made([&](double a, double b, double c) { return a - largest(a, b, c); })));
  CHECK(points.is_legal(maximum));
  CHECK_FALSE(points.is_legal(made([](double a, double, double) { return a / 0.0; })));
}

TEST_CASE("an instruction makes of numbers what the machine makes of them") {
  const std::vector<double> operands = {1.5, -2, 0.25};
  const auto effect = [&](const char* mnemonic, std::size_t reads) {
    return toy::effect_on_numbers(*toy::find_instruction(mnemonic), {operands.data(), reads});
  };
  CHECK(effect("SUB", 2) == 3.5);
  CHECK(effect("DIV", 2) == -0.75);
  CHECK(effect("MAX", 2) == 1.5);
  CHECK(effect("MAC", 3) == -2.75);
  CHECK(std::abs(effect("EXP", 1) - std::exp(1.5)) < 1e-14);
}
