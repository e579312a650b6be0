// The GPU's own counters over a stretch of kernels, through CUPTI's range profiler.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/comparison.hpp"

namespace flashlab::compare {

/// Tells the profiler where a range begins and ends.
class RangeMarker {
 public:
  virtual ~RangeMarker() = default;
  virtual void begin(std::string_view name) = 0;
  virtual void end() = 0;
};

/// Counters of the ranges of one name together: traffic and percentages of Measurement; no times.
struct CountedRange {
  std::string name;
  Measurement counters;
};

/// What the hardware counted between begin() and end() of each name, in the order of the first of
/// each. `call` runs several times, once for each group of counters that fit the hardware together,
/// and must do the same each time; it must have waited for the GPU when it calls end().
/// Nothing, and `why_not` says why: no CUPTI library, no permission, a GPU that it does not know.
std::vector<CountedRange> count_on_gpu(const std::function<void(RangeMarker&)>& call,
                                       std::string& why_not);

}  // namespace flashlab::compare
