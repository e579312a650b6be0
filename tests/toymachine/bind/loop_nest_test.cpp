#include <random>

#include "tests/seed.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/bind/ranges.hpp"

using namespace flashlab;
using test::binding_errors;
using test::bound;
using test::contains;

namespace {

toy::Binding with(std::map<std::string, std::int64_t> params) {
  toy::Binding binding;
  binding.params = std::move(params);
  return binding;
}

}  // namespace

TEST_CASE("parameters: given ones win, defaults may use earlier ones and the register count") {
  const std::string text =
      ".registers 7\n.param n = 8\n.param b = min(n, floor(sqrt(registers - 2)))\n.input "
      "x[n][b]\nLOAD x[0][0], R0\n";
  CHECK(bound(text).params == std::vector<std::int64_t>{8, 2});
  CHECK(bound(text, with({{"n", 1}})).params == std::vector<std::int64_t>{1, 1});
  toy::Binding binding;
  binding.registers = 18;
  CHECK(bound(text, binding).params == std::vector<std::int64_t>{8, 4});
}

TEST_CASE("a given value replaces a .const, also by a real number, and no .param") {
  const std::string text =
      ".param n = 2\n.const cap = 30\n.output o[1]\nFILL cap/n, R0\nSTORE R0, o[0]\n";
  toy::Binding binding;
  CHECK(bound(text, binding).constants == std::vector<double>{15});
  binding.reals["cap"] = 30.5;
  CHECK(bound(text, binding).constants == std::vector<double>{15.25});
  binding.reals.clear();
  binding.params["cap"] = 8;
  CHECK(bound(text, binding).constants == std::vector<double>{4});
  binding.reals["n"] = 2.5;
  CHECK_THAT(binding_errors(text, binding),
             contains("'2.5' is not a value for the parameter 'n'\n  expected a whole number\n"));
}

TEST_CASE("unknown, missing and fractional parameters are errors that name them") {
  const std::string text = ".param size\n.input x[size]\nLOAD x[0], R0\n";
  CHECK_THAT(binding_errors(text), contains("the parameter 'size' has no value"));
  CHECK_THAT(binding_errors(text, with({{"sise", 3}})), contains("did you mean size?"));
  CHECK_THAT(binding_errors(".param n = 7/2\n.input x[n]\nLOAD x[0], R0\n"),
             contains("'7/2' is 3.5"));
  CHECK_THAT(binding_errors(".param n = 1/0\n.input x[4]\nLOAD x[0], R0\n"),
             contains("division by zero"));
}

TEST_CASE(
    "registers that the machine lacks and cells outside their array are found before the run") {
  CHECK_THAT(binding_errors(".registers 3\n.input x[2]\nLOAD x[0], R3\n"),
             contains("there is no register R3"));
  CHECK_THAT(binding_errors(".input x[2]\nLOAD x[2], R0\n"),
             contains("index 2 of axis 0 of 'x' is out of range"));
  CHECK_THAT(binding_errors(".param n = 0\n.input x[n]\nLOAD x[0], R0\n"),
             contains("this axis has size 0"));
  CHECK_THAT(binding_errors(".registers 0\n.input x[1]\nLOAD x[0], R0\n"), contains("0 registers"));
  CHECK(bound(".input x[2]\nfor i in 0..0\nLOAD x[5], R0\nend\n").instructions.size() == 1);
}

TEST_CASE("without a .registers line the machine has the registers that the program names") {
  CHECK(bound(".input x[2]\nfor i in 0..3\nLOAD x[0], R[2 + 2*i]\nend\n").num_registers == 7);
}

TEST_CASE(
    "a count of named registers that is negative, or too large for the machine, is an error") {
  const auto errors = [](const std::string& names, const std::string& before = "") {
    return binding_errors(before + ".param k = 2\n.reg " + names + "\n.input x[2]\nLOAD x[0], M\n");
  };
  CHECK_THAT(errors("Q[0-2], M"), contains("Q names -2 registers"));
  CHECK_THAT(errors("Q[-1], M"), contains("Q names -1 registers"));
  CHECK_THAT(errors("Q[k-4], M"), contains("2:8: error: Q names -2 registers"));
  CHECK_THAT(errors("A[4], Q[0-400], M"), contains("Q names -400 registers"));
  CHECK_THAT(errors("A[2], Q[0-1], M"), contains("Q names -1 registers"));
  CHECK_THAT(errors("A, Q[9223372036854775807], M"),
             contains("Q names 9223372036854775807 registers and the names before it 1"));
  CHECK_THAT(errors("Q[-9223372036854775807 - 1], M"), contains("Q"));
  CHECK_THAT(errors("A[4], M", ".registers 4\n"),
             contains("expected R0 to R3: the machine has 4 registers"));
  CHECK_THAT(errors("A[2], Q[k + 1], M", ".registers 4\n"), contains("Q names R2 to R4"));
  const auto names = bound(".registers 4\n.reg A[3], Q[0], M\n.input x[2]\nLOAD x[0], M\n");
  CHECK(names.register_name(3) == "M");
}

TEST_CASE("an index outside a name's registers is an error, whatever register comes next") {
  const auto text = [](const std::string& operand, const std::string& loop = "0..2") {
    return ".reg Q[2], M\n.input x[4]\nLOAD x[0], M\nfor i in " + loop + "\nLOAD x[0], " + operand +
           "\nend\n";
  };
  CHECK_THAT(binding_errors(text("Q[2]")), contains("there is no Q[2]"));
  CHECK_THAT(binding_errors(text("Q[i + 2]")), contains("there is no Q[2]"));
  CHECK(bound(text("Q[1 - i]")).num_registers == 3);
}

TEST_CASE("sizes and indices that leave their limits are errors, not wrapped numbers") {
  CHECK_THAT(binding_errors(".param n = 4000000000\n.input x[n][n]\nLOAD x[0][0], R0\n"),
             contains("overflow 61 bits"));
  CHECK_THAT(binding_errors(".input x[4]\nfor i in 0..4\nLOAD x[i*4611686018427387904], R0\nend\n"),
             contains("index arithmetic overflows 61 bits"));
  CHECK_THAT(
      binding_errors(
          ".param n = 9223372036854775807\n.input x[4]\nfor i in 0..n + 1\nLOAD x[0], R0\nend\n"),
      contains("this value overflows 64 bits"));
  CHECK_THAT(
      binding_errors(
          ".param n = 9223372036854775807\n.input x[4]\nfor i in 0..n\nLOAD x[0], R0\nend\n"),
      contains("overflows 61 bits"));
  CHECK_THAT(binding_errors(".input x[4]\nfor i in 0..4 step 0\nLOAD x[i], R0\nend\n"),
             contains("the step is 0"));
}

TEST_CASE("an axis of size 0 does not hide sizes whose product leaves 64 bits") {
  CHECK_THAT(binding_errors(".input x[0][4000000000][4000000000]\nLOAD x[0][0][0], R0\n"),
             contains("the sizes of 'x' overflow 61 bits"));
}

TEST_CASE("a constant that is +inf or undefined is refused") {
  CHECK_THAT(binding_errors("FILL inf, R0\n"), contains("the constant is +inf or not a number"));
  CHECK_THAT(binding_errors("FILL inf - inf, R0\n"), contains("+inf or not a number"));
  CHECK_THAT(binding_errors("FILL log(0), R0\n"), contains("log of a number that is not positive"));
}

TEST_CASE("operands of strip-mined loops are proven in range") {
  const auto program = bound(
      ".registers 8\n.param n = 10, b = 4\n.input x[n]\nfor i0 in 0..n step b\nfor i in i0..min(i0 "
      "+ b, n)\n"
      "LOAD x[i], R[i - i0]\nend\nend\n");
  for (const toy::BoundOperand& operand : program.instructions[0].operands) {
    CHECK(operand.proven_in_range);
  }
}

TEST_CASE("ranges cover every value that an enumeration of the nest finds") {
  std::mt19937 random(flashlab::test::seeded(7));
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const auto number = [&](int low, int high) { return std::to_string(draw(low, high)); };
    const std::string text = ".input x[1]\nfor i in " + number(-3, 3) + ".." + number(-2, 9) +
                             " step " + number(1, 3) + "\nfor j in min(i, " + number(-3, 5) +
                             ")..max(i + " + number(-2, 4) + ", 2*i - " + number(0, 4) +
                             ")\nfor k in ceildiv(i + j, " + number(1, 4) + ")..j + " +
                             number(0, 3) + "\nLOAD x[0], R0\nend\nend\nend\n";
    const toy::BoundProgram program = bound(text);
    const toy::Affine index{draw(-3, 3), {{0, draw(-3, 3)}, {1, draw(-3, 3)}, {2, draw(-3, 3)}}};
    toy::Affine cleaned = index;
    std::erase_if(cleaned.terms, [](const auto& term) { return term.second == 0; });
    const auto range = toy::detail::Ranges(program.loops).of(cleaned);
    REQUIRE(range);
    std::int64_t v[3];
    const auto& loops = program.loops;
    for (v[0] = loops[0].lower(v); v[0] < loops[0].upper(v); v[0] += loops[0].step) {
      for (v[1] = loops[1].lower(v); v[1] < loops[1].upper(v); ++v[1]) {
        for (v[2] = loops[2].lower(v); v[2] < loops[2].upper(v); ++v[2]) {
          REQUIRE(cleaned(v) >= range->low);
          REQUIRE(cleaned(v) <= range->high);
          REQUIRE(v[2] >= loops[2].values.low);
          REQUIRE(v[2] <= loops[2].values.high);
        }
      }
    }
  }
}
