#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare/model/calibrated_rates.hpp"
#include "tests/catch_shim.hpp"

using flashlab::compare::CalibratedRate;
using flashlab::compare::Calibration;
using flashlab::compare::kCalibrationKeys;
using flashlab::compare::put_rates;
using flashlab::compare::rate_of;

namespace {

/// But for the rounding of a few operations.
bool is_near(double actual, double expected) {
  return std::abs(actual - expected) <= 1e-14 * expected;
}

}  // namespace

TEST_CASE(
    "a calibrated rate is the median of the samples' rates, with the slowest and the fastest") {
  const CalibratedRate rate = rate_of("DRAM copy", "byte", 6e9, {3.0, 1.0, 2.0});
  CHECK(is_near(rate.median, 3e12));
  CHECK(is_near(rate.least, 2e12));
  CHECK(is_near(rate.most, 6e12));
}

TEST_CASE("the median of two samples is the mean of their rates") {
  CHECK(is_near(rate_of("bf16", "FLOP", 4e9, {1.0, 2.0}).median, 3e12));
}

TEST_CASE("no rate is made of samples that took no time") {
  CHECK_THROWS_AS(rate_of("exp2", "operation", 1, {}), std::invalid_argument);
  CHECK_THROWS_AS(rate_of("exp2", "operation", 1, {0.0}), std::invalid_argument);
  CHECK_THROWS_AS(rate_of("exp2", "operation", 1, {1.0, std::numeric_limits<double>::quiet_NaN()}),
                  std::invalid_argument);
}

TEST_CASE("every rate of a calibration has its place") {
  std::vector<CalibratedRate> rates;
  for (const std::string_view key : kCalibrationKeys) {
    rates.push_back({std::string(key), "", 2.0 + static_cast<double>(rates.size()), 0, 0});
  }
  Calibration calibration;
  put_rates(calibration, rates);
  CHECK(calibration.dram_copy_bytes_per_s == 2);
  CHECK(calibration.dram_read_bytes_per_s == 3);
  CHECK(calibration.sm_bytes_per_s == 4);
  CHECK(calibration.shared_bytes_per_s == 5);
  CHECK(calibration.additions_bytes_per_s == 6);
  CHECK(calibration.bulk_additions_bytes_per_s == 7);
  CHECK(calibration.flops_per_s == std::map<std::string, double>{{"bf16 wgmma", 8},
                                                                 {"fp16 wgmma", 9},
                                                                 {"bf16", 10},
                                                                 {"fp16", 11},
                                                                 {"float", 12},
                                                                 {"float tf32", 13}});
  CHECK(calibration.elementwise_per_s == 14);
  CHECK(calibration.exps_per_s == 15);
  CHECK(calibration.divisions_per_s == 16);
  CHECK(calibration.launch_s == 1.0 / 17);
}

TEST_CASE("a rate that nobody knows is refused") {
  Calibration calibration;
  const std::vector<CalibratedRate> rates = {{"tensor", "FLOP", 1, 1, 1}};
  CHECK_THROWS_AS(put_rates(calibration, rates), std::invalid_argument);
}
