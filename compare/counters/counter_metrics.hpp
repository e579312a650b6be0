// Which of the GPU's metrics fill which field of a Measurement, and what several launches count
// together. CUPTI and Nsight Compute know metrics by the same names.
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

/// Bytes, per cent of the peak over the elapsed cycles, or (kTime) nanoseconds.
enum class Counter : std::uint8_t {
  kDramRead,
  kDramWritten,
  kSmRead,
  kSmWritten,
  kTensor,
  kExp,
  kIssue,
  kShared,
  kTime  // weighs percentages of several launches
};
inline constexpr std::size_t kNumCounters = 9;

struct CounterMetric {
  Counter counter;
  /// What counts it, by chip; the first that a chip has is taken. The last ones may be empty.
  std::array<std::string_view, 2> names;
};

/// A row for each counter, in their order.
const std::array<CounterMetric, kNumCounters>& counter_metrics();

/// The first names, with commas between them: what `ncu --metrics` is to be given.
std::string metric_list();

/// One launch, or one range of launches.
struct CountedLaunch {
  std::string name;
  std::array<std::optional<double>, kNumCounters> values;  // by Counter
};

/// Launches of one name together, in the order of the first of each: bytes are added up,
/// percentages averaged by time. A field that one of the launches lacks stays empty; where all of
/// them stay empty, why_no_counters says so.
std::vector<CountedRange> together(std::span<const CountedLaunch> launches);

}  // namespace flashlab::compare
