// The program beside a proven number: the toy machine runs it, and counts the same.
#include <string>
#include <vector>

#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/unrolled.hpp"
#include "toymachine/forms/normal_form.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::toy::OperandRule;
namespace toy = flashlab::toy;

/// The triple loop: what each cell of c has to be.
std::string reference(const MatrixProduct& p) {
  const auto extent = [](int rows, int columns) {
    return "[" + std::to_string(rows) + "][" + std::to_string(columns) + "]\n";
  };
  std::string text = ".isa matmul\n.input a" + extent(p.rows, p.inner) + ".input b" +
                     extent(p.inner, p.columns) + ".output c" + extent(p.rows, p.columns);
  for (int output = 0; output < p.num_outputs(); ++output) {
    for (int term = output * p.inner; term < (output + 1) * p.inner; ++term) {
      text += "LOAD " + p.input_name(p.factor_a(term)) + ", R0\nLOAD " +
              p.input_name(p.factor_b(term)) + ", R1\n" +
              (term % p.inner == 0 ? "MAC_Z R0, R1, R2\n" : "MAC R0, R1, R2, R2\n");
    }
    text += "STORE R2, " + p.output_name(output) + "\n";
  }
  return text;
}

/// The outputs' formulas.
std::vector<toy::NormalForm> outputs(const toy::BoundProgram& program) {
  const auto unrolled = toy::unroll(program, 10'000);
  REQUIRE(unrolled);
  const auto run = toy::run_normal(program, *unrolled);
  REQUIRE(run);
  const toy::BoundArray& c = program.arrays.back();
  const auto first = run->dram.begin() + c.offset;
  return {first, first + c.size};
}

void require_right(const MatrixProduct& product, const ProductMachine& machine,
                   const toy::CostTable& costs) {
  const Answer answer = solve(product, machine);
  REQUIRE(answer.program);
  INFO(answer.program->text);
  const toy::BoundProgram program = flashlab::test::bound(answer.program->text);
  CHECK(program.num_registers == machine.registers);
  CHECK(outputs(program) == outputs(flashlab::test::bound(reference(product))));

  const auto executions = toy::count_executions(program);
  REQUIRE(executions);
  const toy::Counters counters = toy::count(program, *executions, costs);
  CHECK(counters.loads == answer.program->loads);
  CHECK(counters.stores == answer.program->stores);
  CHECK(counters.compute == answer.program->products);
  CHECK(counters.cycles == answer.program->cycles);
  CHECK(counters.cycles == answer.lower_cycles);
}

}  // namespace

TEST_CASE("the toy machine runs the cheapest program to the right product, in the proven cycles") {
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto product =
      GENERATE(MatrixProduct{1, 1, 1}, MatrixProduct{1, 5, 1}, MatrixProduct{2, 1, 3},
               MatrixProduct{2, 2, 2}, MatrixProduct{2, 3, 2}, MatrixProduct{3, 2, 3},
               MatrixProduct{2, 2, 4});
  toy::CostTable costs;
  REQUIRE(costs.parse("LOAD=10+2/element,STORE=7,MAC_Z=2,MAC=1/flop"));
  for (int registers = product.inner == 1 ? 2 : 3; registers <= 8; ++registers) {
    require_right(product, {registers, rule, false, product_costs(costs)}, costs);
  }
}

TEST_CASE("a program that stores partial sums runs to the right product, too") {
  // Loads cost so much more than stores that the pinned machine stores partial sums.
  const auto rule = GENERATE(OperandRule::kAny, OperandRule::kPinned);
  const auto registers = GENERATE(3, 4, 5);
  const auto cycles = GENERATE("LOAD=9,STORE=1", "LOAD=1,STORE=0", "LOAD=1,STORE=5");
  toy::CostTable costs;
  REQUIRE(costs.parse(cycles));
  const auto product =
      GENERATE(MatrixProduct{2, 2, 2}, MatrixProduct{2, 1, 2}, MatrixProduct{2, 3, 2});
  require_right(product, {registers, rule, true, product_costs(costs)}, costs);
}
