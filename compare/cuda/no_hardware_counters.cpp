// count_on_gpu for builds without the header of CUPTI's range profiler.
#include "compare/counters/hardware_counters.hpp"

namespace flashlab::compare {

std::vector<CountedRange> count_on_gpu(const std::function<void(RangeMarker&)>&,
                                       std::string& why_not) {
  why_not =
      "this program was built without CUPTI: cupti_range_profiler.h was not found; it comes "
      "with the CUDA Toolkit 12.6 or later";
  return {};
}

}  // namespace flashlab::compare
