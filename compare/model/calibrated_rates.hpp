// The rates that a calibration measures: their names, their values from several samples, and their
// places in a Calibration.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/machine_model.hpp"

namespace flashlab::compare {

/// A rate per second; `unit` is "byte", "FLOP", "operation", "launch".
struct CalibratedRate {
  std::string key;  // one of kCalibrationKeys
  std::string unit;
  double median = 0, least = 0, most = 0;
};

/// In the order of measurement. Product rates have the keys of Calibration::flops_per_s.
inline constexpr std::string_view kCalibrationKeys[] = {
    "DRAM copy",   "DRAM read",  "L2 to SM",  "shared memory", "additions", "bulk additions",
    "bf16 wgmma",  "fp16 wgmma", "bf16",      "fp16",          "float",     "float tf32",
    "elementwise", "exp2",       "divisions", "launches"};

/// Divides the `operations` of a sample by the milliseconds of each. With an even number of
/// samples, the median is the mean of the two in the middle.
/// Errors  std::invalid_argument: no sample, or a sample that is not above 0
CalibratedRate rate_of(std::string key, std::string unit, double operations,
                       const std::vector<double>& sample_ms);

/// Stores each median in its place. The time of a launch is the reciprocal of its rate.
/// Errors  std::invalid_argument: an unknown key
void put_rates(Calibration& calibration, std::span<const CalibratedRate> rates);

}  // namespace flashlab::compare
