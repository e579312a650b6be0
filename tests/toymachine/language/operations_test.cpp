// The operations of instructions: what they compute, where they have no value, and that scalars and
// tiles agree.
#include "toymachine/language/operations.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <span>

#include "tests/toymachine/assembled.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/language/values.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::toy {
namespace {

/// A function of one number, and the numbers for which it has a value.
struct Function {
  Operation operation;
  const char* mnemonic;
  double low, high;
  std::function<float(float)> of_float;
  std::function<double(double)> of_double;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> kAll = {
      {Operation::kAbsolute, "ABS", -9, 9, [](float x) { return std::fabs(x); },
       [](double x) { return std::fabs(x); }},
      {Operation::kTanh, "TANH", -9, 9, [](float x) { return std::tanh(x); },
       [](double x) { return std::tanh(x); }},
      {Operation::kReciprocalRoot, "RSQRT", 1e-6, 99, [](float x) { return 1 / std::sqrt(x); },
       [](double x) { return 1 / std::sqrt(x); }},
      {Operation::kReciprocal, "RCP", 1e-6, 99, [](float x) { return 1 / x; },
       [](double x) { return 1 / x; }},
      {Operation::kBinaryExponential, "EXP2", -140, 120, [](float x) { return std::exp2(x); },
       [](double x) { return std::exp2(x); }},
      {Operation::kBinaryLogarithm, "LOG2", 1e-6, 99, [](float x) { return std::log2(x); },
       [](double x) { return std::log2(x); }}};
  return kAll;
}

/// Whether there are at most `most` numbers between the two.
template <class Number>
bool are_near(Number a, Number b, int most) {
  for (int i = 0; i < most && a != b; ++i) a = std::nextafter(a, b);
  return a == b;
}

std::vector<float> drawn_numbers(const Function& function, std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(function.low, function.high);
  std::vector<float> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(uniform(random)));
  return numbers;
}

std::string machine_with(const std::string& mnemonic) {
  return ".isa attention, " + mnemonic + "\n";
}

/// The outputs of a program whose input is first in DRAM, and whose output follows.
std::vector<float> results_of(const std::string& text, const std::vector<float>& inputs) {
  const BoundProgram program = test::bound(text);
  std::vector<float> dram = inputs;
  dram.resize(static_cast<std::size_t>(program.dram_elements),
              std::numeric_limits<float>::quiet_NaN());
  REQUIRE(run(program, std::span(dram)));
  return {dram.begin() + static_cast<std::ptrdiff_t>(inputs.size()), dram.end()};
}

/// Returns the message of the program's error.
std::string run_failure(const std::string& text) {
  const BoundProgram program = test::bound(text);
  auto dram = initial_dram(program, {});
  REQUIRE(dram);
  const auto execution = run(program, std::span(*dram));
  REQUIRE_FALSE(execution);
  return execution.diagnostics[0].what;
}

TEST_CASE("functions of numbers are within one unit in the last place of the C library",
          "[operations]") {
  for (const Function& function : functions()) {
    INFO(function.mnemonic);
    for (const float x : drawn_numbers(function, 5000)) {
      INFO(x);
      const auto wide = static_cast<double>(x);
      CHECK(are_near(detail::value_of(function.operation, x, 0.0F), function.of_float(x), 1));
      CHECK(are_near(detail::value_of(function.operation, wide, 0.0), function.of_double(wide), 1));
    }
  }
}

TEST_CASE("a scalar instruction computes its operation in a loop and alone", "[operations]") {
  for (const Function& function : functions()) {
    INFO(function.mnemonic);
    const std::vector<float> inputs = drawn_numbers(function, 100);
    const std::string text = machine_with(function.mnemonic) + ".input x[100]\n.output o[100]\n" +
                             "for i in 0..100\nLOAD x[i], R0\n" + function.mnemonic +
                             " R0, R0\nSTORE R0, o[i]\nend\n";
    const std::vector<float> results = results_of(text, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CHECK(results[i] == detail::value_of(function.operation, inputs[i], 0.0F));
    }
  }
}

TEST_CASE("tiles agree with scalars to four units in the last place", "[operations]") {
  for (const Function& function : functions()) {
    INFO(function.mnemonic);
    const std::vector<float> inputs =
        drawn_numbers(function, 33 * 17);  // the last tiles are smaller
    const std::string text = machine_with(function.mnemonic) +
                             ".input x(33, 17) tile (8, 16)\n.output o(33, 17) tile (8, 16)\n"
                             "for i in 0..tiles(x)\nfor j in 0..tiles(x, 1)\nLOAD x[i][j], R0\n" +
                             function.mnemonic + " R0, R1\nSTORE R1, o[i][j]\nend\nend\n";
    const std::vector<float> results = results_of(text, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CHECK(are_near(results[i], detail::value_of(function.operation, inputs[i], 0.0F), 4));
    }
  }
}

TEST_CASE("MIN is the smaller of two numbers, of two tiles, and of a tile and a column",
          "[operations]") {
  CHECK(detail::value_of(Operation::kMinimum, 2.0F, -3.0F) == -3);
  CHECK(detail::value_of(Operation::kMinimum, -HUGE_VAL, 1.0) == -HUGE_VAL);
  const std::string arrays = machine_with("MIN") + ".input x(2, 2) tile (2, 2)\n" +
                             ".output o(2, 2) tile (2, 2)\nLOAD x[0][0], R0\n";
  const std::vector<float> inputs = {1, 4, 3, -2};
  CHECK(results_of(arrays + "MIN R0, R0, R1\nSTORE R1, o[0][0]\n", inputs) == inputs);
  CHECK(results_of(arrays + "FILL 2, R2\nMIN R0, R2, R1\nSTORE R1, o[0][0]\n", inputs) ==
        std::vector<float>{1, 2, 2, -2});
  CHECK(results_of(arrays + "ROWSUM R0, R2\nMIN R2, R0, R1\nSTORE R1, o[0][0]\n", inputs) ==
        std::vector<float>{1, 4, 1, -2});
}

TEST_CASE("what has no value is an error at its step, on scalars and on tiles", "[operations]") {
  struct Case {
    const char* lines;  // R0 is the operand
    const char* mnemonic;
    const char* what;
  };
  constexpr const char* kOverflows = "the result overflows to +inf";
  constexpr const char* kUndefined = "the result is not a number (NaN)";
  constexpr const char* kMinusZero = "FILL 0, R0\nFILL -1, R1\nMUL R0, R1, R0\n";
  const Case cases[] = {
      {"FILL 0, R0\n", "RSQRT", kOverflows},   {kMinusZero, "RSQRT", kOverflows},
      {"FILL -1, R0\n", "RSQRT", kUndefined},  {"FILL -inf, R0\n", "RSQRT", kUndefined},
      {"FILL 0, R0\n", "RCP", kOverflows},     {kMinusZero, "RCP", kOverflows},
      {"FILL 0, R0\n", "LOG2", kUndefined},    {kMinusZero, "LOG2", kUndefined},
      {"FILL -1, R0\n", "LOG2", kUndefined},   {"FILL -inf, R0\n", "LOG2", kUndefined},
      {"FILL 1025, R0\n", "EXP2", kOverflows}, {"FILL -inf, R0\n", "ABS", kOverflows},
  };
  for (const Case& one : cases) {
    const std::string operation = std::string(one.mnemonic) + " R0, R0\n";
    const std::string scalars = machine_with(one.mnemonic) + ".output o[1]\n" + one.lines;
    INFO(scalars + operation);
    CHECK_THAT(run_failure(scalars + operation + "STORE R0, o[0]\n"), test::contains(one.what));
    const std::string tiles = machine_with(one.mnemonic) + ".input x(2, 2) tile (2, 2)\n" +
                              ".output o(2, 2) tile (2, 2)\n" + one.lines +
                              "LOAD x[0][0], R3\nFILL 0, R4\nMUL R3, R4, R3\nADD R3, R0, R0\n";
    if (one.lines == kMinusZero) continue;  // the sum with 0 is 0
    CHECK_THAT(run_failure(tiles + operation + "STORE R0, o[0][0]\n"), test::contains(one.what));
  }
}

TEST_CASE("where an operation ends: exp2 of -inf is 0, tanh of -inf is -1", "[operations]") {
  CHECK(detail::value_of(Operation::kBinaryExponential, -HUGE_VALF, 0.0F) == 0);
  CHECK(detail::value_of(Operation::kTanh, -HUGE_VALF, 0.0F) == -1);
  CHECK(detail::value_of(Operation::kTanh, 50.0F, 0.0F) == 1);
  CHECK(detail::value_of(Operation::kReciprocal, -HUGE_VALF, 0.0F) == 0);
}

TEST_CASE("LESS is 1 or 0, and SELECT lets -inf through", "[operations]") {
  CHECK(detail::value_of(Operation::kLess, 1.0, 2.0) == 1);
  CHECK(detail::value_of(Operation::kLess, 2.0, 2.0) == 0);
  CHECK(detail::value_of(Operation::kLess, -HUGE_VAL, 0.0) == 1);
  CHECK(detail::value_of(Operation::kSelected, 1.0, -HUGE_VAL, 3.0) == -HUGE_VAL);
  CHECK(detail::value_of(Operation::kSelected, -2.0, 5.0, -HUGE_VAL) == 5);
  CHECK(detail::value_of(Operation::kSelected, 0.0, -HUGE_VAL, 3.0) == 3);
  const std::string arrays =
      ".isa attention, LESS, SELECT\n.input x(2, 2) tile (2, 2)\n"
      ".output o(2, 2) tile (2, 2)\nLOAD x[0][0], R0\n";
  const std::vector<float> inputs = {1, 4, 3, -2};
  CHECK(results_of(arrays + "FILL 3, R1\nLESS R0, R1, R2\nSTORE R2, o[0][0]\n", inputs) ==
        std::vector<float>{1, 0, 0, 1});
  CHECK(results_of(arrays + "FILL 3, R1\nLESS R0, R1, R2\nFILL -inf, R3\n"
                            "SELECT R2, R0, R3, R0\nSTORE R0, o[0][0]\n",
                   inputs) == std::vector<float>{1, -HUGE_VALF, -HUGE_VALF, -2});
  // A column as the condition, and as a value.
  CHECK(results_of(arrays + "FILL 2, R1\nROWSUM R0, R2\nLESS R2, R1, R3\n"
                            "SELECT R3, R2, R0, R0\nSTORE R0, o[0][0]\n",
                   inputs) == std::vector<float>{1, 4, 1, 1});
}

TEST_CASE("ROW and COL are the numbers of rows and columns, on scalars and on tiles",
          "[operations]") {
  const std::string program =
      ".isa attention, ROW, COL\n.input x(5, 3) tile (B, Bk)\n"
      ".output rows(5, 3) tile (B, Bk)\n.output cols(5, 3) tile (B, Bk)\n"
      "for i in 0..tiles(x)\nfor j in 0..tiles(x, 1)\n"
      "LOAD x[i][j], R0\nROW R0, i*B, R1\nSTORE R1, rows[i][j]\n"
      "COL R0, j*Bk + 10, R0\nSTORE R0, cols[i][j]\nend\nend\n";
  for (const std::string tile : {"B = 1, Bk = 1", "B = 2, Bk = 2", "B = 5, Bk = 3"}) {
    INFO(tile);
    const auto results = results_of(".param " + tile + "\n" + program, std::vector<float>(15, 7));
    for (std::size_t i = 0; i < 15; ++i) {
      const std::size_t row = i / 3, column = i % 3;
      CHECK(results[i] == static_cast<float>(row));
      CHECK(results[15 + i] == static_cast<float>(10 + column));
    }
  }
}

TEST_CASE("a row is repeated for each row of a tile, and a column beside a row makes a tile",
          "[operations]") {
  const std::string arrays =
      ".isa attention\n.input x(2, 3) tile (2, 3)\n.input row(1, 3) tile (1, 3)\n"
      ".input col(2, 1) tile (2, 1)\n.output o(2, 3) tile (2, 3)\nLOAD x[0][0], R0\n"
      "LOAD row[0][0], R1\nLOAD col[0][0], R2\n";
  const std::vector<float> inputs = {1, 2, 3, 4, 5, 6, 10, 20, 30, 100, 200};
  CHECK(results_of(arrays + "ADD R0, R1, R0\nSTORE R0, o[0][0]\n", inputs) ==
        std::vector<float>{11, 22, 33, 14, 25, 36});
  CHECK(results_of(arrays + "SUB R1, R2, R1\nSTORE R1, o[0][0]\n", inputs) ==
        std::vector<float>{-90, -80, -70, -190, -180, -170});
}

TEST_CASE("constants are operands of what combines numbers, where .operands says so",
          "[operations]") {
  const std::string head =
      ".isa attention, SELECT, LESS\n.operands constants\n.param n = 2\n"
      ".const half = 0.5\n.input x[3]\n.output o[3]\n";
  const std::string lines =
      "for i in 0..3\nLOAD x[i], R0\nMUL R0, half, R0\nSUB n, R0, R0\n"
      "MAX R0, -1 + n/4, R0\nLESS R0, 1, R1\nSELECT R1, -inf, R0, R0\n"
      "STORE R0, o[i]\nend\n";
  CHECK(results_of(head + lines, {1, 2, 8}) == std::vector<float>{1.5, 1, -HUGE_VALF});
  const BoundProgram program = test::bound(head + lines);
  CHECK(program.num_registers == 2);
  CHECK(disassemble(*program.program).find("MUL R0, half, R0\n") != std::string::npos);
  for (const char* const line : {"EXP 1, R0\n", "MOV 1, R0\n", "STORE 1, o[0]\n",
                                 "MAC R0, 1, R0, R0\n", "MASK 1, 0, 0, R0\n", "ROWSUM 1, R0\n"}) {
    INFO(line);
    CHECK_THAT(test::assembly_errors(head + line), test::contains("a register for R"));
  }
  CHECK_THAT(test::assembly_errors(".isa attention\n.output o[1]\nADD R0, 1, R0\n"),
             test::contains("found '1'\n"));
  CHECK_THAT(test::assembly_errors(head + "ADD R0, y, R0\n"), test::contains("found 'y'\n"));
  Binding exercise;
  exercise.operand_rule = OperandRule::kAny;
  CHECK_THAT(test::binding_errors(head + lines, exercise),
             test::contains("an operand is a constant\n"));
}

TEST_CASE("every operation has its place, a name, a function, and as many arguments as it takes",
          "[operations]") {
  for (std::size_t i = 0; i < kNumOperations; ++i) {
    const OperationSpec& spec = kOperations[i];
    INFO(spec.name);
    CHECK(&spec_of(static_cast<Operation>(i)) == &spec);
    CHECK_FALSE(spec.name.empty());
    CHECK_FALSE(spec.function.empty());
    CHECK(spec.arity >= 1);
    CHECK((spec.shape != ShapeRule::kMask || spec.arity == (is_place(spec.operation) ? 2U : 3U)));
    CHECK((spec.grouping == Grouping::kFixed || spec.arity == 2));
  }
}

}  // namespace
}  // namespace flashlab::toy
