#include "compare/calibrated_rates.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace flashlab::compare {
namespace {

using OptionalRate = std::optional<double> Calibration::*;

constexpr std::pair<std::string_view, OptionalRate> kMembers[] = {
    {"DRAM copy", &Calibration::dram_copy_bytes_per_s},
    {"DRAM read", &Calibration::dram_read_bytes_per_s},
    {"L2 to SM", &Calibration::sm_bytes_per_s},
    {"shared memory", &Calibration::shared_bytes_per_s},
    {"elementwise", &Calibration::elementwise_per_s},
    {"exp2", &Calibration::exps_per_s},
    {"divisions", &Calibration::divisions_per_s},
};
constexpr std::string_view kProducts[] = {"bf16", "fp16", "float", "float tf32"};

void put_rate(Calibration& calibration, const CalibratedRate& rate) {
  for (const auto& [key, member] : kMembers) {
    if (rate.key != key) continue;
    calibration.*member = rate.median;
    return;
  }
  if (std::find(std::begin(kProducts), std::end(kProducts), rate.key) != std::end(kProducts)) {
    calibration.flops_per_s[rate.key] = rate.median;
  } else if (rate.key == "launches") {
    calibration.launch_s = 1 / rate.median;
  } else {
    throw std::invalid_argument("no rate of a calibration is called \"" + rate.key + "\"");
  }
}

}  // namespace

CalibratedRate rate_of(std::string key, std::string unit, double operations,
                       std::vector<double> sample_ms) {
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
