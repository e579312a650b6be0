#include "compare/model/toy_counts.hpp"

#include <stdexcept>

#include "tests/catch_shim.hpp"

using flashlab::compare::ArrayCount;
using flashlab::compare::count_toy;
using flashlab::compare::ToyCounts;

namespace {

const ArrayCount& array(const ToyCounts& counts, const std::string& name) {
  for (const ArrayCount& each : counts.arrays) {
    if (each.name == name) return each;
  }
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("flash2 loads K and V once for each tile of queries", "[compare]") {
  const ToyCounts counts = count_toy("flash2", {1000, 700, 64, 128, 64, {}});
  CHECK(array(counts, "q").loaded == 1000 * 64);
  CHECK(array(counts, "k").loaded == 8 * 700 * 64);  // ceil(1000 / 128) tiles
  CHECK(array(counts, "v").loaded == 8 * 700 * 64);
  CHECK(array(counts, "o").stored == 1000 * 64);
  CHECK(array(counts, "lse").stored == 1000);
  CHECK(array(counts, "lse").loaded == 0);
}

TEST_CASE("two products and one exponential a score, and what rescales", "[compare]") {
  const std::int64_t n = 512, d = 64, tiles = n / 64;
  const ToyCounts counts = count_toy("flash2", {n, n, d, 128, 64, {}});
  CHECK(counts.product_flops == 4 * n * n * d);
  // A factor e^(m - m') a row and tile, and the logarithm of each row's sum.
  CHECK(counts.exps == n * n + n * tiles + n);
  CHECK(counts.divisions == n * d);
}

TEST_CASE("a pass of a program is counted alone", "[compare]") {
  const ToyCounts dQ = count_toy("bwd_twopass", {256, 256, 32, 64, 32, {}}, "dQ");
  CHECK(array(dQ, "dq").stored == 256 * 32);
  CHECK(array(dQ, "dk").stored == 0);
  CHECK(array(dQ, "k").loaded == 4 * 256 * 32);
  const ToyCounts dKdV = count_toy("bwd_twopass", {256, 256, 32, 64, 32, {}}, "dK and dV");
  CHECK(array(dKdV, "dk").stored == 256 * 32);
  CHECK(array(dKdV, "q").loaded == 8 * 256 * 32);
}

TEST_CASE("a count takes no longer for a billion rows", "[compare]") {
  const ToyCounts counts = count_toy("online", {1'000'000'000, 64, 1, 1, 1, {}});
  CHECK(array(counts, "k").loaded == 64'000'000'000);
}

TEST_CASE("a count past 64 bits is an error, not a wrong number", "[compare]") {
  CHECK_THROWS_AS(count_toy("flash2", {4'000'000'000, 4'000'000'000, 64, 1, 1, {}}),
                  std::overflow_error);
}

TEST_CASE("an unknown program or pass is named", "[compare]") {
  CHECK_THROWS_WITH(count_toy("flash9", {8, 8, 4, 2, 2, {}}), "no program 'flash9'");
  CHECK_THROWS_WITH(count_toy("flash1", {8, 8, 4, 2, 2, {}}, "Middle"), "no pass 'Middle'");
}

TEST_CASE("parameters that a program refuses are refused with its words", "[compare]") {
  CHECK_THROWS_AS(count_toy("flash2", {8, 8, 4, 0, 2, {}}), std::invalid_argument);
}
