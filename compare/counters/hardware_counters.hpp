// Reads the GPU's own counters for ranges of kernels, with CUPTI's range profiler.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/comparison.hpp"

namespace flashlab::compare {

/// Marks the begin and the end of a range for the profiler.
class RangeMarker {
 public:
  virtual ~RangeMarker() = default;
  virtual void begin(std::string_view name) = 0;
  virtual void end() = 0;
};

/// Counters of all ranges of one name: traffic and percentages of Measurement, no times.
struct CountedRange {
  std::string name;
  Measurement counters;
};

/// Returns the hardware's counts between begin() and end() for each name, in the order of first
/// occurrence. `call` runs several times, once for each group of counters that fit the hardware
/// together, and must do the same each time. It must have waited for the GPU when it calls end().
/// On failure returns nothing and sets `why_not`: no CUPTI library, no permission, an unknown GPU.
std::vector<CountedRange> count_on_gpu(const std::function<void(RangeMarker&)>& call,
                                       std::string& why_not);

}  // namespace flashlab::compare
