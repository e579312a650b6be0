#include "compare/counters/counted_call.hpp"

#include <algorithm>
#include <iterator>

namespace flashlab::compare {
namespace {

std::vector<CountedLaunch> launches_of(const std::string& step,
                                       std::span<const CountedLaunch> launches) {
  std::vector<CountedLaunch> result;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(result),
               [&](const CountedLaunch& launch) { return launch.name == step; });
  return result;
}

/// The number of calls that these launches of a step belong to; 0: none was counted.
std::int64_t num_calls(const Step& step, std::size_t num_launches) {
  const auto counted = static_cast<std::int64_t>(num_launches);
  if (counted % step.num_launches == 0) return counted / step.num_launches;
  throw OtherCallError(std::to_string(counted) + " launches of " + step.name +
                       ": expected a multiple of the call's " + std::to_string(step.num_launches));
}

void divide(std::optional<Traffic>& traffic, std::int64_t divisor) {
  if (!traffic) return;
  traffic->bytes_read /= divisor;
  traffic->bytes_written /= divisor;
}

/// The mean of several calls.
Measurement one_call_of(const std::vector<CountedLaunch>& launches, std::int64_t calls) {
  Measurement result = together(launches).front().counters;
  divide(result.dram, calls);
  divide(result.sm, calls);
  double ns = 0;
  for (const CountedLaunch& launch : launches) {
    const auto& time = launch.values[static_cast<std::size_t>(Counter::kTime)];
    if (!time) return result;
    ns += *time;
  }
  result.median_ms = 1e-6 * ns / static_cast<double>(calls);
  result.num_samples = static_cast<int>(calls);
  return result;
}

}  // namespace

void take_counted_launches(Row& row, std::span<const CountedLaunch> launches) {
  std::vector<CountedLaunch> all;
  std::int64_t calls = 0;
  for (Step& step : row.steps) {
    const std::vector<CountedLaunch> own = launches_of(step.name, launches);
    const std::int64_t of_step = num_calls(step, own.size());
    if (of_step == 0) continue;  // a library's kernel, which has another name, or not profiled
    if (calls != 0 && of_step != calls) {
      throw OtherCallError(step.name + " was counted in " + std::to_string(of_step) +
                           " calls, the steps before it in " + std::to_string(calls));
    }
    calls = of_step;
    step.measured = one_call_of(own, calls);
    all.insert(all.end(), own.begin(), own.end());
  }
  if (calls == 0) throw OtherCallError("no launch of " + key_of(row));
  const bool is_whole = std::all_of(row.steps.begin(), row.steps.end(),
                                    [](const Step& step) { return step.measured.has_value(); });
  if (!is_whole) return;  // the counters cover only a part of the call
  for (CountedLaunch& launch : all) launch.name = "call";
  row.measured = one_call_of(all, calls);
}

}  // namespace flashlab::compare
