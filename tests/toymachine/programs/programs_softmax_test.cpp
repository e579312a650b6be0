// The softmax programs count what the notes count, compute what a plain double loop computes, and
// the unsafe ones stop where they overflow.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Values softmax(const Values& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  Values result(x.size());
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += result[i] = std::exp(x[i] - largest);
  for (double& value : result) value /= total;
  return result;
}

/// Inputs that a running maximum and sum might get wrong, by name.
std::map<std::string, Values> softmax_inputs(std::size_t n) {
  std::map<std::string, Values> inputs;
  inputs["random"] = random_values(n, 7, -3, 3);
  inputs["constant"] = Values(n, 2.5);
  inputs["rising"] = inputs["falling"] = random_values(n, 8, -20, 20);
  std::sort(inputs["rising"].begin(), inputs["rising"].end());
  std::sort(inputs["falling"].begin(), inputs["falling"].end(), std::greater<>());
  inputs["large"] = random_values(n, 9, -1e4, 1e4);
  inputs["with -inf"] = random_values(n, 10, -3, 3);
  for (std::size_t i = 1; i < n; i += 3) inputs["with -inf"][i] = kMinusInfinity;
  return inputs;
}

/// Relative to the largest output: an exponential, a sum of n terms, a quotient; the online sum is
/// multiplied by a rounded factor for every element.
double softmax_tolerance(std::size_t n) {
  return kFloatEpsilon * (2.0 * static_cast<double>(n) + 8);
}

const std::vector<std::int64_t> kLengths{1, 2, 3, 4, 7, 64, 1000};

}  // namespace

TEST_CASE("softmax programs agree with a double reference on every kind of input") {
  const std::string name = GENERATE("softmax_safe", "softmax_online");
  for (const std::int64_t n : kLengths) {
    const BoundProgram program = bundled(name, params({{"n", n}}));
    for (const auto& [kind, x] : softmax_inputs(static_cast<std::size_t>(n))) {
      INFO(name << ", n = " << n << ", " << kind);
      const Values expected = softmax(x);
      const double scale = *std::max_element(expected.begin(), expected.end());
      require_near(finish<float>(program, {{"x", x}}).outputs.at("out"), expected,
                   softmax_tolerance(x.size()) * scale);
      require_near(finish<double>(program, {{"x", x}}).outputs.at("out"), expected, 1e-12 * scale);
    }
  }
}

TEST_CASE("safe softmax loads 3n, stores n and takes 11n - 1 cycles, n loads a pass") {
  for (const std::int64_t n : kLengths) {
    const BoundProgram program = bundled("softmax_safe", params({{"n", n}}));
    const Values x(static_cast<std::size_t>(n), 1.0);
    const Counters counters = finish<float>(program, {{"x", x}}).counters;
    CHECK(counters.loads == 3 * n);
    CHECK(counters.stores == n);
    CHECK(counters.cycles == 11 * n - 1);
    const auto executions = count_executions(program);
    REQUIRE(executions);
    for (std::size_t pass = 1; pass <= 3; ++pass) {
      const Counters of_pass = count_pass(program, *executions, CostTable(), pass);
      CHECK(of_pass.loads == n);
      CHECK(of_pass.stores == (pass == 3 ? n : 0));
    }
  }
}

TEST_CASE("online softmax loads 2n, stores n and takes 14n - 4 cycles, n loads a pass") {
  for (const std::int64_t n : kLengths) {
    const BoundProgram program = bundled("softmax_online", params({{"n", n}}));
    const Values x(static_cast<std::size_t>(n), 1.0);
    const Counters counters = finish<float>(program, {{"x", x}}).counters;
    CHECK(counters.loads == 2 * n);
    CHECK(counters.stores == n);
    CHECK(counters.cycles == 14 * n - 4);
    const auto executions = count_executions(program);
    REQUIRE(executions);
    for (std::size_t pass = 1; pass <= 2; ++pass) {
      const Counters of_pass = count_pass(program, *executions, CostTable(), pass);
      CHECK(of_pass.loads == n);
      CHECK(of_pass.stores == (pass == 2 ? n : 0));
    }
  }
}

TEST_CASE("online softmax overtakes safe softmax when a load costs four cycles") {
  const std::int64_t n = 1000;
  const std::map<std::string, Values> inputs{{"x", Values(n, 1.0)}};
  const auto cycles = [&](const std::string& name, const std::string& load) {
    CostTable costs;
    REQUIRE(costs.parse("LOAD=" + load));
    return finish<float>(bundled(name, params({{"n", n}})), inputs, costs).counters.cycles;
  };
  CHECK(cycles("softmax_online", "3") > cycles("softmax_safe", "3"));
  CHECK(cycles("softmax_online", "4") < cycles("softmax_safe", "4"));
}

TEST_CASE("a first input of -inf stops online softmax, not safe softmax") {
  const std::map<std::string, Values> inputs{{"x", {kMinusInfinity, 1, 2}}};
  const Binding n3 = params({{"n", 3}});
  require_near(finish<float>(bundled("softmax_safe", n3), inputs).outputs.at("out"),
               softmax(inputs.at("x")), softmax_tolerance(3));
  CHECK_FALSE(run_on<float>(bundled("softmax_online", n3), inputs).diagnostics.empty());
}

TEST_CASE("e^m / e^m' overflows near 100 in float and near 1000 in double, e^(m - m') does not") {
  const Values near_100{99.5, 100.25, 99, 101}, near_1000{999.5, 1000.25, 999, 1001};
  require_stops<float>("softmax_unsafe_rescale", near_100, "EXP r1, r3", "7");
  require_stops<double>("softmax_unsafe_rescale", near_1000, "EXP r1, r3", "7");
  const BoundProgram unsafe = bundled("softmax_unsafe_rescale", params({{"n", 4}}));
  const BoundProgram online = bundled("softmax_online", params({{"n", 4}}));
  require_near(finish<double>(unsafe, {{"x", near_100}}).outputs.at("out"), softmax(near_100),
               1e-12);
  require_near(finish<float>(online, {{"x", near_100}}).outputs.at("out"), softmax(near_100),
               softmax_tolerance(4));
  require_near(finish<float>(online, {{"x", near_1000}}).outputs.at("out"), softmax(near_1000),
               softmax_tolerance(4));
}

TEST_CASE("e^m / e^m' is 0/0 in float when the inputs are far below zero") {
  require_stops<float>("softmax_unsafe_rescale", {-120, -121, -119}, "DIV r3, r4, r3", "10");
}

TEST_CASE("softmax without a maximum is right for small inputs and overflows for large ones") {
  const Values x = random_values(16, 11, -5, 5);
  const auto run = finish<float>(bundled("softmax_unsafe", params({{"n", 16}})), {{"x", x}});
  CHECK(run.counters.loads == 2 * 16);
  CHECK(run.counters.cycles == 7 * 16 - 1);
  require_near(run.outputs.at("out"), softmax(x), softmax_tolerance(16));
  require_stops<float>("softmax_unsafe", {1, 89, 2}, "EXP R0, R0", "4");
}
