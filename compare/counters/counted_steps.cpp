#include "compare/counters/counted_steps.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace flashlab::compare {
namespace {

Step* step_named(Row& row, std::string_view name) {
  const auto found = std::find_if(row.steps.begin(), row.steps.end(),
                                  [&](const Step& step) { return step.name == name; });
  return found == row.steps.end() ? nullptr : &*found;
}

void add_traffic(std::optional<Traffic>& sum, const std::optional<Traffic>& traffic) {
  if (!sum || !traffic) return sum.reset();
  sum->bytes_read += traffic->bytes_read;
  sum->bytes_written += traffic->bytes_written;
}

/// The mean over the steps, weighted by their times.
std::optional<double> mean_over_steps(const Row& row, std::optional<double> Measurement::*percent) {
  double sum = 0, time = 0;
  for (const Step& step : row.steps) {
    if (!step.measured || !step.measured->median_ms || !(*step.measured.*percent)) continue;
    sum += *step.measured->median_ms * *(*step.measured.*percent);
    time += *step.measured->median_ms;
  }
  return time > 0 ? std::optional(sum / time) : std::nullopt;
}

void add_up_counters(Row& row) {
  Measurement& total = *row.measured;
  total.dram = total.sm = Traffic{};
  for (const Step& step : row.steps) {
    if (!step.measured) continue;  // not launched: for lse, if it is not requested
    add_traffic(total.dram, step.measured->dram);
    add_traffic(total.sm, step.measured->sm);
  }
  total.tensor_percent = mean_over_steps(row, &Measurement::tensor_percent);
  total.exp_percent = mean_over_steps(row, &Measurement::exp_percent);
  total.issue_percent = mean_over_steps(row, &Measurement::issue_percent);
  total.shared_percent = mean_over_steps(row, &Measurement::shared_percent);
}

}  // namespace

void take_counters(Measurement& measured, const Measurement& counters) {
  measured.dram = counters.dram;
  measured.sm = counters.sm;
  measured.tensor_percent = counters.tensor_percent;
  measured.exp_percent = counters.exp_percent;
  measured.issue_percent = counters.issue_percent;
  measured.shared_percent = counters.shared_percent;
}

void take_counted_ranges(Row& row, std::span<const CountedRange> ranges) {
  for (const CountedRange& range : ranges) {
    Step* const step = step_named(row, range.name);
    if (step == nullptr) continue;
    if (!step->measured) step->measured.emplace();
    take_counters(*step->measured, range.counters);
  }
  add_up_counters(row);
}

}  // namespace flashlab::compare
