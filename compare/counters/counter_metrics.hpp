// Maps the GPU's metrics to the fields of a Measurement, and combines several launches. CUPTI and
// Nsight Compute use the same metric names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/counters/hardware_counters.hpp"

namespace flashlab::compare {

/// Units: bytes, per cent of the peak over the elapsed cycles, or (kTime) nanoseconds.
enum class Counter : std::uint8_t {
  kDramRead,
  kDramWritten,
  kSmRead,
  kSmWritten,
  kTensor,
  kExp,
  kIssue,
  kShared,
  kTime  // the weight of each launch's percentages
};
inline constexpr std::size_t kNumCounters = 9;

struct CounterMetric {
  Counter counter;
  /// Metric names on different chips. The first one that a chip has is used. The last may be empty.
  std::array<std::string_view, 2> names;
};

/// Returns a row for each counter, in their order.
const std::array<CounterMetric, kNumCounters>& counter_metrics();

/// Returns the first names, separated by commas, for `ncu --metrics`.
std::string metric_list();

/// One launch, or one range of launches.
struct CountedLaunch {
  std::string name;
  std::array<std::optional<double>, kNumCounters> values;  // by Counter
};

/// Combines the launches of each name, in the order of first occurrence: adds bytes, averages
/// percentages by time. A field that one launch lacks stays empty. If all stay empty,
/// why_no_counters says so.
std::vector<CountedRange> together(std::span<const CountedLaunch> launches);

}  // namespace flashlab::compare
