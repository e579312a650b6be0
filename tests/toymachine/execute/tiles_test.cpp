// Elements that are tiles: shapes, ragged edges, broadcasting, and what goes wrong.
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::toy {
namespace {

using test::assembled;
using test::bound;

constexpr const char* kTwoMatrices =
    ".isa attention\n.param m = 5, k = 4, n = 3, B = 2\n"
    ".input a(m, k) tile (B, B)\n.input b(k, n) tile (B, B)\n.output c(m, n) tile (B, B)\n";

std::vector<double> run_tiles(const BoundProgram& program, std::vector<double> dram) {
  const auto execution = run(program, std::span(dram));
  REQUIRE(execution);
  return dram;
}

BoundProgram program_of(const std::string& text,
                        const std::map<std::string, std::int64_t>& params) {
  Binding binding;
  binding.params = params;
  return bound(text, binding);
}

/// The message of the run's error.
std::string tile_failure(const std::string& text) {
  const BoundProgram program = bound(text);
  auto dram = initial_dram(program, {});
  REQUIRE(dram);
  const auto execution = run(program, std::span(*dram));
  REQUIRE_FALSE(execution);
  return execution.diagnostics[0].what + "; expected " + execution.diagnostics[0].expected;
}

TEST_CASE("a tiled product is the product, whatever the tile", "[tiles]") {
  const std::string text = std::string(kTwoMatrices) +
                           "for i in 0..tiles(a)\nfor j in 0..tiles(b, 1)\nFILL 0, R2\n"
                           "for l in 0..tiles(a, 1)\nLOAD a[i][l], R0\nLOAD b[l][j], R1\n"
                           "MAC R0, R1, R2, R2\nend\nSTORE R2, c[i][j]\nend\nend\n";
  const std::size_t m = 5, k = 4, n = 3;
  for (const std::int64_t tile : {1, 2, 3, 4, 64}) {
    const BoundProgram program = program_of(text, {{"B", tile}});
    auto dram = initial_dram(program, {});
    REQUIRE(dram);
    for (std::size_t i = 0; i < m * k + k * n; ++i) (*dram)[i] = static_cast<double>(i % 7);
    const std::vector<double> after = run_tiles(program, *dram);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double expected = 0;
        for (std::size_t l = 0; l < k; ++l) {
          expected += (*dram)[i * k + l] * (*dram)[m * k + l * n + j];
        }
        INFO("tile " << tile << ", c[" << i << "][" << j << "]");
        REQUIRE(after[m * k + k * n + i * n + j] == expected);
      }
    }
  }
}

TEST_CASE("a transposed factor is read with rows and columns exchanged", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input a(1, 3) tile (1, 3)\n.input b(2, 3) tile (2, 3)\n"
      ".output c(1, 2) tile (1, 2)\n.output e(3, 3) tile (3, 3)\n"
      "LOAD a[0][0], R0\nLOAD b[0][0], R1\nMAC_Z R0, R1^T, R2\nSTORE R2, c[0][0]\n"
      "MAC_Z R0^T, R0, R0\nSTORE R0, e[0][0]\n");
  std::vector<double> dram(3 + 6 + 2 + 9, 0);
  for (std::size_t i = 0; i < 9; ++i) dram[i] = static_cast<double>(i + 1);  // a 1 2 3, b 4 … 9
  const std::vector<double> after = run_tiles(program, dram);
  CHECK(std::vector<double>(after.begin() + 9, after.begin() + 11) == std::vector<double>{32, 50});
  CHECK(std::vector<double>(after.begin() + 11, after.end()) ==
        std::vector<double>{1, 2, 3, 2, 4, 6, 3, 6, 9});
}

TEST_CASE("scalars and columns are broadcast, and so is what is stored", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input a(2, 3) tile (2, 3)\n.output b(2, 3) tile (2, 3)\n"
      ".output c(2, 3) tile (2, 3)\n.output e(2, 1) tile (2, 1)\n"
      "LOAD a[0][0], R0\nROWSUM R0, R1\nSTORE R1, e[0][0]\nSUB R0, R1, R2\nSTORE R2, b[0][0]\n"
      "ROWMAX R0, R0\nFILL 10, R2\nMUL R0, R2, R0\nSTORE R0, c[0][0]\n");
  std::vector<double> dram{1, 2, 3, 4, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> after = run_tiles(program, dram);
  CHECK(std::vector<double>(after.begin() + 6, after.begin() + 18) ==
        std::vector<double>{-5, -4, -3, -14, -13, -9, 30, 30, 30, 90, 90, 90});
  CHECK(std::vector<double>(after.begin() + 18, after.end()) == std::vector<double>{6, 18});
}

TEST_CASE("the mask hides keys after the query, by element", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input s(4, 4) tile (2, 2)\n.output p(4, 4) tile (2, 2)\n"
      "for i in 0..2\nfor j in 0..2\nLOAD s[i][j], R0\nMASK R0, i*2, j*2, R0\nEXP R0, R0\n"
      "STORE R0, p[i][j]\nend\nend\n");
  const std::vector<double> after = run_tiles(program, std::vector<double>(32, 0));
  CHECK(std::vector<double>(after.begin() + 16, after.end()) ==
        std::vector<double>{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1});
}

TEST_CASE("the left edge of a window hides keys before it, by element", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input s(4, 4) tile (2, 2)\n.output p(4, 4) tile (2, 2)\n"
      "for i in 0..2\nfor j in 0..2\nLOAD s[i][j], R0\nWINDOW R0, i*2 - 1, j*2, R0\n"
      "EXP R0, R0\nSTORE R0, p[i][j]\nend\nend\n");
  const std::vector<double> after = run_tiles(program, std::vector<double>(32, 0));
  CHECK(std::vector<double>(after.begin() + 16, after.end()) ==
        std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("an atomic addition reads and writes the whole tile", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input x(3, 2) tile (2, 2)\n.output s(2, 2) tile (2, 2)\nFILL 0, R0\n"
      "STORE R0, s[0][0]\nLOAD x[0][0], R0\nATOMIC_ADD R0, s[0][0]\nATOMIC_ADD R0, s[0][0]\n");
  std::vector<double> dram{1, 2, 3, 4, 5, 6, 0, 0, 0, 0};
  const auto execution = run(program, std::span(dram));
  REQUIRE(execution);
  CHECK(std::vector<double>(dram.begin() + 6, dram.end()) == std::vector<double>{2, 4, 6, 8});
  const Counters counters = count(program, execution->executions, CostTable());
  CHECK(counters.atomics == 2);
  CHECK(counters.loads == 1);
  CHECK(counters.bytes_updated == 2 * 2 * 4 * 4);  // twice, read and written, 4 floats
  REQUIRE(counters.by_array.size() == 2);
  CHECK(counters.by_array[0].bytes_updated == 0);
  CHECK(counters.by_array[1].bytes_updated == 2 * 2 * 4 * 4);
  CHECK(counters.by_array[1].elements_updated == 2 * 4);
  CHECK(counters.flops == 8);
}

TEST_CASE("work is counted by element: ragged tiles are smaller", "[tiles]") {
  // 5 x 4 in tiles of 2 x 2: rows 2 2 1, columns 2 2.
  const BoundProgram program = bound(
      ".isa attention\n.input a(5, 4) tile (2, 2)\n.output t(5, 1) tile (2, 1)\n"
      "for i in 0..tiles(a)\nFILL 0, R1\nfor j in 0..tiles(a, 1)\nLOAD a[i][j], R0\nEXP R0, R0\n"
      "ROWSUM R0, R0\nADD R0, R1, R1\nend\nSTORE R1, t[i][0]\nend\n");
  auto dram = initial_dram(program, {});
  REQUIRE(dram);
  const auto execution = run(program, std::span(*dram));
  REQUIRE(execution);
  const Counters counters = count(program, execution->executions, CostTable());
  CHECK(counters.loads == 6);
  CHECK(counters.by_array[0].elements_loaded == 20);
  CHECK(counters.bytes_loaded == 80);
  CHECK(counters.exps == 20);
  CHECK(counters.flops == 10 + 10);  // row sums of two columns: 1 a row; additions: 1 a row
  CHECK(counters.by_array[1].elements_stored == 5);
  const auto shapes = run_shapes(program);
  REQUIRE(shapes);
  CHECK(shapes->executions == execution->executions);
}

TEST_CASE("cycles can be charged by element and by FLOP", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input a(2, 3) tile (2, 3)\n.output c(2, 2) tile (2, 2)\n"
      "LOAD a[0][0], R0\nMAC_Z R0, R0^T, R1\nSTORE R1, c[0][0]\n");
  CostTable costs;
  REQUIRE(costs.parse("LOAD=100+2/element,MAC_Z=1/flop,STORE=7"));
  const auto executions = count_executions(program);
  REQUIRE(executions);
  CHECK(count(program, *executions, costs).cycles == (100 + 2 * 6) + 2 * 2 * 3 * 2 + 7);
  CHECK_FALSE(costs.parse("LOAD=1/flop"));
  CHECK_FALSE(costs.parse("MAC=1/element"));
  CHECK_FALSE(costs.parse("LOAD=2/"));
}

TEST_CASE("tiles that do not go together are told by their shapes", "[tiles]") {
  const std::string head =
      ".isa attention\n.input a(4, 3) tile (4, 3)\n.input b(4, 2) tile (4, 2)\n"
      ".output c(4, 3) tile (4, 3)\nLOAD a[0][0], R0\nLOAD b[0][0], R1\n";
  CHECK(tile_failure(head + "MAC_Z R0, R1, R2\n") ==
        "step 3: the tiles do not fit together: R0 is 4 x 3, R1 is 4 x 2; expected as many columns "
        "in the first factor as rows in the second, and an addend that fits their product");
  CHECK(tile_failure(head + "ADD R0, R1, R2\n") ==
        "step 3: the tiles do not fit together: R0 is 4 x 3, R1 is 4 x 2; expected tiles of one "
        "shape, a column of as many rows, a row of as many columns, or a scalar");
  CHECK(tile_failure(head + "STORE R1, c[0][0]\n") ==
        "step 3: the tiles do not fit together: R1 is 4 x 2, c[0][0] is 4 x 3; expected tiles of "
        "one shape, a column of as many rows, a row of as many columns, or a scalar");
}

TEST_CASE("a wrong element of a tile is named", "[tiles]") {
  CHECK(tile_failure(".isa attention\n.input a(4, 3) tile (4, 3)\n.output c(4, 3) tile (4, 3)\n"
                     "LOAD a[0][0], R0\nMASK R0, -2, 0, R0\nROWMAX R0, R1\nSUB R0, R1, R0\n"
                     "STORE R0, c[0][0]\n") ==
        "step 4: the result is not a number (NaN) in row 0, column 0 of the tile; expected "
        "operands whose result is defined");
}

TEST_CASE("a tile nobody stored cannot be loaded", "[tiles]") {
  CHECK(tile_failure(".isa attention\n.temp t(4, 4) tile (2, 2)\nFILL 1, R0\nSTORE R0, t[0][0]\n"
                     "LOAD t[0][0], R1\nLOAD t[1][0], R1\n")
            .rfind("step 4: t[1][0] is read, but nothing was written there", 0) == 0);
}

TEST_CASE("a register may be read and written by the same instruction", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input a(2, 2) tile (2, 2)\n.output c(2, 2) tile (2, 2)\n"
      "LOAD a[0][0], R0\nMAC_Z R0, R0, R0\nMAC R0, R0, R0, R0\nROWSUM R0, R1\n"
      "MUL R1, R0, R1\nSTORE R1, c[0][0]\n");
  // a = [[1, 1], [0, 1]]: a^2 = [[1, 2], [0, 1]], a^4 + a^2 = [[2, 6], [0, 2]], row sums 8 and 2.
  const std::vector<double> after = run_tiles(program, {1, 1, 0, 1, 0, 0, 0, 0});
  CHECK(std::vector<double>(after.begin() + 4, after.end()) == std::vector<double>{16, 48, 0, 4});
}

TEST_CASE("narrow arrays round every element of a stored tile", "[tiles]") {
  const BoundProgram program = bound(
      ".isa attention\n.input a(1, 2) tile (1, 2)\n.output c(1, 2) tile (1, 2) bf16\n"
      "LOAD a[0][0], R0\nSTORE R0, c[0][0]\n");
  const std::vector<double> after = run_tiles(program, {1.00390625, 3, 0, 0});
  CHECK(after[2] == 1.0);  // 1 + 2^-8 lies half way, and 1 is even
  CHECK(after[3] == 3);
}

TEST_CASE("tile sizes below 1 and tiles of other ranks are refused", "[tiles]") {
  const auto program = assembled(
      ".isa attention\n.param B = 0\n.input a(2, 2) tile (B, 1)\n"
      "LOAD a[0][0], R0\n");
  const auto wrong = toy::bind(program, Binding{});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.diagnostics[0].what == "the tile of 'a' is 0");
  const auto source = std::make_shared<const SourceText>(
      "t", ".isa attention\n.input a(2, 2) tile (2)\nLOAD a[0][0], R0\n");
  const auto text = assemble(source);
  REQUIRE_FALSE(text);
  CHECK(text.diagnostics[0].what == "the tile has 1 sizes and a has 2 axes");
}

TEST_CASE("an index beyond a named register's number is refused", "[tiles]") {
  const std::string store = ".output o(2, 2) tile (2, 2)\nSTORE M, o[0][0]\n";
  CHECK_THAT(test::binding_errors(".isa attention\n.reg Q[2], M\nFILL 1, Q[2]\n" + store),
             test::contains("there is no Q[2]"));
  CHECK_THAT(test::binding_errors(".isa attention\n.reg Q[0], M\nFILL 1, Q[0]\n" + store),
             test::contains("Q names no register"));
}

}  // namespace
}  // namespace flashlab::toy
