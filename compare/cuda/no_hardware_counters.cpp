// count_on_gpu of a build that had no header of CUPTI's range profiler.
#include "compare/counters/hardware_counters.hpp"

namespace flashlab::compare {

std::vector<CountedRange> count_on_gpu(const std::function<void(RangeMarker&)>&,
                                       std::string& why_not) {
  why_not =
      "this program was built without CUPTI: cupti_range_profiler.h, which comes with the CUDA "
      "Toolkit from 12.6 on, was not there";
  return {};
}

}  // namespace flashlab::compare
