// What the steps of a run write, and runs in which the results of a line are replaced.
#include "toymachine/run/step_values.hpp"

#include <memory>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/assembler.hpp"

namespace {

using namespace flashlab::toy;

BoundProgram bound_text(const std::string& text) {
  auto program = assemble(std::make_shared<const SourceText>("test.toy", text));
  REQUIRE(program);
  auto bound = flashlab::toy::bind(std::make_shared<const Program>(std::move(*program)), Binding{});
  REQUIRE(bound);
  return std::move(*bound);
}

const std::string kDoubled =
    ".isa softmax\n.registers 2\n.input x[2]\n.output y[2]\n"
    "for i in 0..2\n  LOAD x[i], R0\n  ADD R0, R0, R1\n  STORE R1, y[i]\nend\n";

const std::string kTiles =
    ".isa attention\n.registers 2\n.input x(2, 4) tile (2, 2)\n.output y(2, 4) tile (2, 2)\n"
    "for i in 0..2\n  LOAD x[0][i], R0\n  ADD R0, R0, R1\n  STORE R1, y[0][i]\nend\n";

}  // namespace

TEST_CASE("a recorded run has what each step wrote into its register", "[values]") {
  const BoundProgram bound = bound_text(kDoubled);
  std::vector<float> dram{3, 5, 0, 0};
  StepValues values;
  REQUIRE(run_recorded(bound, dram, values));
  REQUIRE(values.steps.size() == 6);
  CHECK(values.of(values.steps[1])[0] == 6);
  CHECK(values.of(values.steps[4])[0] == 10);
  CHECK(values.steps[2].is_stored);
  CHECK(values.steps[5].place == 3);
}

TEST_CASE("a recorded run on tiles has their elements row by row", "[values]") {
  const BoundProgram bound = bound_text(kTiles);
  std::vector<float> dram{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0};
  StepValues values;
  REQUIRE(run_recorded(bound, dram, values));
  const auto numbers = values.of(values.steps[4]);
  CHECK(std::vector<float>(numbers.begin(), numbers.end()) == std::vector<float>{6, 8, 14, 16});
  CHECK(values.steps[4].rows == 2);
}

TEST_CASE("a line's results can be replaced by those of another run", "[values]") {
  for (const std::string& text : {kDoubled, kTiles}) {
    const BoundProgram bound = bound_text(text);
    std::vector<float> dram(static_cast<std::size_t>(bound.dram_elements), 1);
    StepValues values;
    REQUIRE(run_recorded(bound, dram, values));
    // In place of sums, the numbers that were loaded.
    const Replacement replacement{values.steps[1].site, &values, {0, 3}};
    std::vector<float> again(dram.size(), 1);
    REQUIRE(run_replaced(bound, again, replacement));
    CHECK(again == std::vector<float>(dram.size(), 1));
    CHECK(dram.back() == 2);
    const Replacement too_few{values.steps[1].site, &values, {0}};
    const auto run = run_replaced(bound, again, too_few);
    REQUIRE(run);
    CHECK(run->stopped);
  }
}
