// Welford's variance and Kahan's sum against a plain double computation.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

}  // namespace

TEST_CASE("Welford's variance is that of two passes in double, from one pass over the input") {
  for (const std::int64_t n : {2, 3, 10, 1000}) {
    const BoundProgram program = bundled("welford", params({{"n", n}}));
    for (const double offset : {0.0, 100.0}) {
      const Values x = random_values(static_cast<std::size_t>(n), 12, offset - 1, offset + 1);
      double mean = 0, squares = 0;
      for (const double value : x) mean += value / static_cast<double>(n);
      for (const double value : x) squares += (value - mean) * (value - mean);
      const double variance = squares / static_cast<double>(n - 1);
      INFO("n = " << n << ", around " << offset);
      const auto in_float = finish<float>(program, {{"x", x}});
      const auto in_double = finish<double>(program, {{"x", x}});
      CHECK(in_float.counters.loads == n);
      CHECK(in_float.counters.stores == 2);
      CHECK(in_float.counters.cycles == 8 * n);
      require_near(in_double.outputs.at("mean"), {mean}, 1e-12 * (1 + offset));
      require_near(in_double.outputs.at("variance"), {variance}, 1e-11 * (1 + offset));
      const double rounding = kFloatEpsilon * static_cast<double>(n + 4) * (1 + offset);
      require_near(in_float.outputs.at("mean"), {mean}, rounding);
      require_near(in_float.outputs.at("variance"), {variance}, rounding);
    }
  }
}

TEST_CASE("the variance of one value is an error at the division, not a number") {
  require_stops<float>("welford", {3}, "DIV r2, r3, r2", "6");
}

TEST_CASE("Kahan's sum stays within an ulp where the plain sum drifts") {
  const std::int64_t n = 10000;
  std::vector<Values> inputs{Values(n, static_cast<double>(0.1F))};
  for (unsigned draw = 13; draw < 21; ++draw) inputs.push_back(random_values(n, draw, 0, 1));
  double all_of_kahan = 0, all_of_plain = 0;
  for (const Values& x : inputs) {
    double exact = 0;  // 29 bits more than a float: exact enough for n terms
    for (const double value : x) exact += value;
    const auto sum = [&](const std::string& name) {
      return finish<float>(bundled(name, params({{"n", n}})), {{"x", x}});
    };
    const auto kahan = sum("kahan_sum"), plain = sum("sum_plain");
    CHECK(kahan.counters.loads == n);
    CHECK(kahan.counters.cycles == 6 * n - 3);
    CHECK(plain.counters.cycles == 2 * n);
    const double kahan_error = std::abs(kahan.outputs.at("total")[0] - exact);
    const double plain_error = std::abs(plain.outputs.at("total")[0] - exact);
    CHECK(kahan_error <= kFloatEpsilon * exact);
    all_of_kahan += kahan_error;
    all_of_plain += plain_error;
  }
  CHECK(all_of_plain > 10 * all_of_kahan);  // a single drawn sum may be right by chance
}

TEST_CASE("the sums of one value are that value") {
  for (const std::string name : {"kahan_sum", "sum_plain"}) {
    require_near(
        finish<float>(bundled(name, params({{"n", 1}})), {{"x", {0.75}}}).outputs.at("total"),
        {0.75}, 0);
  }
}
