// Inputs and expected results as lanes: the same verdicts as case by case.
#include "exercises/grader/judge/lane_cases.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

toy::BoundProgram bound_program(const std::string& text) {
  auto program = toy::assemble(std::make_shared<const toy::SourceText>("test.toy", text));
  REQUIRE(program);
  auto bound = toy::bind(std::make_shared<const toy::Program>(std::move(*program)), toy::Binding{});
  REQUIRE(bound);
  return std::move(*bound);
}

toy::BoundProgram copying() {
  return bound_program(".input x[2]\n.output y[2]\nLOAD x[0], R0\nSTORE R0, y[0]\n");
}

/// y = x, for this many different x.
SizedCases copies(std::size_t count) {
  SizedCases cases;
  for (std::size_t i = 0; i < count; ++i) {
    const NamedArray values{{2}, {static_cast<double>(i), 100}};
    cases.cases.push_back({Family::kRandom, {{"x", values}}, {{"y", values}}});
  }
  return cases;
}

SizedCases expecting(double value, double other) {
  SizedCases cases;
  cases.cases.push_back({Family::kRandom, {{"x", {{2}, {0, 0}}}}, {{"y", {{2}, {value, other}}}}});
  return cases;
}

}  // namespace

TEST_CASE("every lane holds its own case and cases repeat in lanes left over", "[lanes]") {
  const auto lanes = make_lane_cases(copies(14), copying(), 1e-5);
  REQUIRE(lanes.size() == 1);
  CHECK(lanes[0].dram[0].lane[13] == 13);
  CHECK(lanes[0].dram[0].lane[14] == 0);
  CHECK(lanes[0].case_of(15) == 1);
  CHECK(lanes[0].dram[1].lane[5] == 100);
}

TEST_CASE("cases beyond the lanes of one pass make another pass", "[lanes]") {
  const auto lanes = make_lane_cases(copies(20), copying(), 1e-5);
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[1].num_cases == 4);
  CHECK(lanes[1].case_of(1) == 17);
  CHECK(lanes[1].dram[0].lane[1] == 17);
}

TEST_CASE("outputs that nobody wrote are wrong", "[lanes]") {
  const auto lanes = make_lane_cases(copies(16), copying(), 1e-5);
  const auto wrong = first_wrong(lanes[0], lanes[0].dram);
  REQUIRE(wrong);
  CHECK(wrong->expected == 0);
  CHECK(wrong->lane == 0);
}

TEST_CASE("the lane whose result is off is found", "[lanes]") {
  const auto lanes = make_lane_cases(copies(16), copying(), 1e-5);
  auto dram = lanes[0].dram;
  dram[2] = dram[0];
  dram[3] = dram[1];
  CHECK_FALSE(first_wrong(lanes[0], dram));
  dram[3].lane[9] = 100.01F;
  const auto wrong = first_wrong(lanes[0], dram);
  REQUIRE(wrong);
  CHECK(wrong->expected == 1);
  CHECK(wrong->lane == 9);
}

TEST_CASE("a lane accepts exactly the floats that are close enough", "[lanes]") {
  for (const double expected : {0.0, 1.0, -3.3, 1e-30, 12345.678, kInfinity, -kInfinity}) {
    for (const double tolerance : {1e-5, 1e-7, 0.5}) {
      const double other = 2.5;
      const auto lanes = make_lane_cases(expecting(expected, other), copying(), tolerance);
      const double scale = std::max(other, std::isfinite(expected) ? std::abs(expected) : 0);
      auto dram = lanes[0].dram;
      std::fill_n(dram[3].lane, toy::kLanes, static_cast<float>(other));
      float value = lanes[0].expected[0].low.lane[0];
      CAPTURE(expected, tolerance, value);
      for (int i = 0; i < 4; ++i) value = std::nextafterf(value, -HUGE_VALF);
      for (int i = 0; i < 8; ++i) {
        std::fill_n(dram[2].lane, toy::kLanes, value);
        CHECK(!first_wrong(lanes[0], dram) == close_enough(value, expected, scale, tolerance));
        value = std::nextafterf(value, HUGE_VALF);
      }
    }
  }
}

TEST_CASE("an output that should be NaN is never right", "[lanes]") {
  const auto lanes = make_lane_cases(expecting(std::nan(""), 1), copying(), 1e-5);
  auto dram = lanes[0].dram;
  std::fill_n(dram[2].lane, toy::kLanes, std::numeric_limits<float>::quiet_NaN());
  std::fill_n(dram[3].lane, toy::kLanes, 1.0F);
  CHECK(first_wrong(lanes[0], dram));
}

TEST_CASE("a program with its arrays in another order gets the same case", "[lanes]") {
  const auto lanes = make_lane_cases(copies(16), copying(), 1e-5);
  const toy::BoundProgram other =
      bound_program(".temp t[3]\n.output y[2]\n.input x[2]\nLOAD x[0], R0\nSTORE R0, y[0]\n");
  const LaneCase moved = lay_out(lanes[0], other);
  REQUIRE(moved.dram.size() == 7);
  CHECK(moved.dram[5].lane[7] == 7);
  REQUIRE(moved.expected.size() == 2);
  CHECK(moved.expected[0].element == 3);
  CHECK(moved.expected[1].high.lane[0] == lanes[0].expected[1].high.lane[0]);
}

TEST_CASE("temporaries with one name may have two sizes", "[lanes]") {
  const std::string begin = ".input x[2]\n.output y[2]\n", end = "LOAD x[0], R0\nSTORE R0, y[0]\n";
  const auto lanes = make_lane_cases(copies(16), bound_program(begin + ".temp t[2]\n" + end), 1e-5);
  for (const std::string temporary : {".temp t[1]\n", ".temp t[5]\n"}) {
    const LaneCase moved = lay_out(lanes[0], bound_program(temporary + begin + end));
    CHECK(std::isnan(moved.dram[0].lane[0]));
    CHECK(moved.dram[moved.dram.size() - 4].lane[7] == 7);
    CHECK(moved.expected.size() == 2);
  }
}

TEST_CASE("a case that does not fit the program names the array", "[lanes]") {
  const toy::BoundProgram longer =
      bound_program(".input x[3]\n.output y[2]\nLOAD x[0], R0\nSTORE R0, y[0]\n");
  CHECK_THROWS_WITH(make_lane_cases(copies(1), longer, 1e-5),
                    "the array x has 3 elements, and the inputs have 2");
  const toy::BoundProgram without = bound_program(".input x[2]\nLOAD x[0], R0\n");
  CHECK_THROWS_WITH(make_lane_cases(copies(1), without, 1e-5), "the program has no array y");
}
