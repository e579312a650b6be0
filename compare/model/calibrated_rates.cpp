#include "compare/model/calibrated_rates.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "results/calibration_fields.hpp"

namespace flashlab::compare {
namespace {

constexpr std::string_view kProducts[] = {"bf16 wgmma", "fp16 wgmma", "bf16",
                                          "fp16",       "float",      "float tf32"};

void put_rate(Calibration& calibration, const CalibratedRate& rate) {
  for (const CalibrationField& field : calibration_fields()) {
    if (field.name != rate.key) continue;
    const bool is_time = field.value == &Calibration::launch_s;  // time, not launches per second
    calibration.*field.value = is_time ? 1 / rate.median : rate.median;
    return;
  }
  if (std::find(std::begin(kProducts), std::end(kProducts), rate.key) == std::end(kProducts)) {
    throw std::invalid_argument("no rate of a calibration is called \"" + rate.key + "\"");
  }
  calibration.flops_per_s[rate.key] = rate.median;
}

}  // namespace

CalibratedRate rate_of(std::string key, std::string unit, double operations,
                       const std::vector<double>& sample_ms) {
  if (sample_ms.empty()) throw std::invalid_argument(key + ": a rate needs a sample");
  std::vector<double> rates;
  for (const double ms : sample_ms) {
    if (!(ms > 0)) throw std::invalid_argument(key + ": a sample that took no time has no rate");
    rates.push_back(operations / (ms * 1e-3));
  }
  std::sort(rates.begin(), rates.end());
  const std::size_t middle = rates.size() / 2;
  const double median =
      rates.size() % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
  return {std::move(key), std::move(unit), median, rates.front(), rates.back()};
}

void put_rates(Calibration& calibration, std::span<const CalibratedRate> rates) {
  for (const CalibratedRate& rate : rates) put_rate(calibration, rate);
}

}  // namespace flashlab::compare
