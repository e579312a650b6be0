#include "compare/report/counted_units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/report/explain.hpp"

namespace flashlab::compare {
namespace {

using Ratio = std::optional<double>;

/// Below this, a unit's counter is mostly of other work than the counted one.
constexpr double kLeastPercent = 3;

std::string type_of(const Row& row) { return row.products == "native" ? row.dtype : row.products; }

/// The median of the values that are there.
Ratio median(std::vector<Ratio> values) {
  std::erase(values, std::nullopt);
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

CountedUnits medians(const std::vector<CountedUnits>& rows) {
  CountedUnits result;
  for (Ratio CountedUnits::*const unit : {&CountedUnits::products, &CountedUnits::shared,
                                          &CountedUnits::issue, &CountedUnits::exps}) {
    std::vector<Ratio> values;
    for (const CountedUnits& row : rows) values.push_back(row.*unit);
    result.*unit = median(std::move(values));
  }
  return result;
}

}  // namespace

CountedUnits counted_units(const Row& row) {
  CountedUnits units;
  if (row.steps.empty() || !row.measured) return units;
  const Step& step = longest_step(row);
  const Prediction& p = step.predicted;
  if (!step.measured || !step.measured->median_ms || p.warps <= 0) return units;
  const Measurement& m = *step.measured;
  const double clocks_measured = *m.median_ms * row.measured->clock_ghz.value_or(p.clock_ghz);
  const auto ratio = [&](double ms, const std::optional<double>& percent) -> Ratio {
    if (ms <= 0 || !percent || *percent < kLeastPercent) return std::nullopt;
    return ms * p.clock_ghz / (*percent / 100 * clocks_measured);
  };
  units.products = ratio(p.products_ms, m.tensor_percent);
  const double of_clock = units.products.value_or(1);
  const auto in_clocks = [&](Ratio value) {
    if (value) *value /= of_clock;
    return value;
  };
  units.shared = in_clocks(ratio(p.shared_ms, m.shared_percent));
  units.issue = in_clocks(ratio(p.issue_ms, m.issue_percent));
  units.exps = in_clocks(ratio(p.exp_ms, m.exp_percent));
  return units;
}

std::vector<KernelSummary> kernel_summaries(const std::vector<Row>& rows) {
  std::vector<std::pair<std::string, std::string>> order;
  for (const Row& row : rows) {
    const std::pair key{row.kernel, type_of(row)};
    if (std::ranges::find(order, key) == order.end()) order.push_back(key);
  }
  std::vector<KernelSummary> summaries;
  for (const auto& [kernel, type] : order) {
    std::vector<Row> of_kernel;
    std::vector<CountedUnits> units;
    KernelSummary summary = {kernel, type, {}, {}, HUGE_VAL, 0, {}};
    for (const Row& row : rows) {
      if (row.kernel != kernel || type_of(row) != type || row.seqlen_q < kTimedSeqlen) continue;
      const Ratio ratio = time_ratio(row);
      if (!ratio) continue;
      of_kernel.push_back(row);
      summary.least = std::min(summary.least, *ratio);
      summary.most = std::max(summary.most, *ratio);
      if (row.seqlen_q >= kCountedSeqlen) units.push_back(counted_units(row));
    }
    if (of_kernel.empty()) continue;
    summary.close = close_times(of_kernel, kCloseTime);
    summary.near = close_times(of_kernel, kNearTime);
    summary.units = medians(units);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace flashlab::compare
