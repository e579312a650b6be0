// Value numbers: equal where every float would be, and not where rounding or range may differ.
#include "toymachine/forms/value_numbers.hpp"

#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"

namespace {

using namespace flashlab::toy;

/// The number of o[0] after these lines; x and y are inputs of 4.
ValueNumber output(ValueTable& table, const std::string& lines) {
  const std::string text =
      ".isa attention, MIN, RCP, EXP2, TANH\n.input x[4]\n.input y[4]\n.output o[1]\n" + lines;
  auto program = assemble(std::make_shared<const SourceText>("test.toy", text));
  REQUIRE(program);
  const auto bound =
      flashlab::toy::bind(std::make_shared<const Program>(std::move(*program)), Binding{});
  REQUIRE(bound);
  const auto unrolled = unroll(*bound, 1000);
  REQUIRE(unrolled);
  const auto run = run_numbers(*bound, *unrolled, table);
  REQUIRE(run);
  REQUIRE(run->results.size() == unrolled->steps.size());
  return run->dram.back();
}

const std::string kLoads = "LOAD x[0], R0\nLOAD x[1], R1\nLOAD x[2], R2\n";
const std::string kStore = "STORE R9, o[0]\n";

bool same_number(const std::string& a, const std::string& b) {
  ValueTable table;
  return output(table, kLoads + a + kStore) == output(table, kLoads + b + kStore);
}

}  // namespace

TEST_CASE("sums products and maxima are numbered in either order", "[value_numbers]") {
  CHECK(same_number("ADD R0, R1, R9\n", "ADD R1, R0, R9\n"));
  CHECK(same_number("MUL R0, R1, R9\n", "MUL R1, R0, R9\n"));
  CHECK(same_number("MAX R0, R1, R9\n", "MAX R1, R0, R9\n"));
  CHECK_FALSE(same_number("SUB R0, R1, R9\n", "SUB R1, R0, R9\n"));
  CHECK_FALSE(same_number("DIV R0, R1, R9\n", "DIV R1, R0, R9\n"));
}

TEST_CASE("minima are numbered by the set of their arguments", "[value_numbers]") {
  CHECK(same_number("MIN R0, R1, R9\n", "MIN R1, R0, R9\n"));
  CHECK(same_number("MIN R0, R1, R9\nMIN R9, R2, R9\n", "MIN R1, R2, R9\nMIN R9, R0, R9\n"));
  CHECK(same_number("MIN R0, R0, R9\n", "MOV R0, R9\n"));
  CHECK_FALSE(same_number("MIN R0, R1, R9\n", "MAX R0, R1, R9\n"));
  CHECK_FALSE(same_number("FILL -inf, R8\nMIN R0, R8, R9\n", "MOV R0, R9\n"));
}

TEST_CASE("functions of one value are numbered by the function, and of a constant computed",
          "[value_numbers]") {
  CHECK(same_number("TANH R0, R9\n", "MOV R0, R8\nTANH R8, R9\n"));
  CHECK_FALSE(same_number("TANH R0, R9\n", "TANH R1, R9\n"));
  CHECK_FALSE(same_number("EXP2 R0, R9\n", "EXP R0, R9\n"));
  CHECK(same_number("FILL 3, R8\nEXP2 R8, R9\n", "FILL 8, R9\n"));
  CHECK(same_number("FILL 4, R8\nRCP R8, R9\n", "FILL 0.25, R9\n"));
}

TEST_CASE("sums in another bracketing round differently and maxima do not", "[value_numbers]") {
  CHECK_FALSE(same_number("ADD R0, R1, R9\nADD R9, R2, R9\n", "ADD R1, R2, R9\nADD R9, R0, R9\n"));
  CHECK(same_number("MAX R0, R1, R9\nMAX R9, R2, R9\n", "MAX R1, R2, R9\nMAX R9, R0, R9\n"));
  CHECK(same_number("MAX R0, R1, R9\nMAX R9, R0, R9\n", "MAX R0, R1, R9\n"));
}

TEST_CASE("algebra that is no identity of floats makes another number", "[value_numbers]") {
  CHECK_FALSE(
      same_number("EXP R0, R3\nEXP R1, R4\nDIV R3, R4, R9\n", "SUB R0, R1, R3\nEXP R3, R9\n"));
  CHECK_FALSE(same_number("ADD R0, R1, R3\nSUB R3, R1, R9\n", "MOV R0, R9\n"));
}

TEST_CASE("copies and operations that change nothing keep the number", "[value_numbers]") {
  CHECK(same_number("MOV R0, R5\nMOV R5, R9\n", "MOV R0, R9\n"));
  CHECK(same_number("FILL 0, R5\nADD R5, R0, R9\n", "MOV R0, R9\n"));
  CHECK(same_number("FILL 1, R5\nDIV R0, R5, R9\n", "MOV R0, R9\n"));
  CHECK(same_number("FILL -inf, R5\nMAX R5, R0, R9\n", "MOV R0, R9\n"));
  CHECK(same_number("ROWSUM R0, R9\n", "MASK R0, 1, 1, R9\n"));
  CHECK(same_number("FILL 0, R5\nMUL R0, R5, R9\n", "FILL 0, R9\n"));
  CHECK(same_number("FILL -inf, R5\nSUB R5, R0, R9\nEXP R9, R9\n", "FILL 0, R9\n"));
  CHECK_FALSE(same_number("FILL -inf, R5\nSUB R0, R5, R9\n", "FILL -inf, R9\n"));  // +inf: an error
}

TEST_CASE("one instruction is what its parts are", "[value_numbers]") {
  CHECK(same_number("MAC R0, R1, R2, R9\n", "MUL R0, R1, R5\nADD R5, R2, R9\n"));
  CHECK(same_number("MAC_Z R0, R1, R9\n", "FILL 0, R5\nMAC R0, R1, R5, R9\n"));
}

TEST_CASE("constants are computed as the machine computes them", "[value_numbers]") {
  CHECK(same_number("FILL 0, R5\nEXP R5, R9\n", "FILL 1, R9\n"));
  CHECK(same_number("FILL -inf, R5\nEXP R5, R9\n", "FILL 0, R9\n"));
  CHECK(same_number("FILL 0.1, R5\nFILL 0.2, R6\nADD R5, R6, R9\n", "FILL 0.3, R9\n"));
  CHECK_FALSE(same_number("FILL 100, R5\nEXP R5, R9\n", "FILL 200, R5\nEXP R5, R9\n"));
}

TEST_CASE("inputs are known by array and element", "[value_numbers]") {
  CHECK_FALSE(same_number("LOAD x[3], R9\n", "LOAD y[3], R9\n"));
  CHECK(same_number("LOAD y[3], R9\n", "STORE R0, o[0]\nLOAD y[3], R9\n"));
}
