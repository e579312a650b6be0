// Repeats one call under the hardware counters, pass after pass, until every counter was read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compare/counters/hardware_counters.hpp"
#include "compare/cuda/chip_metrics.hpp"

namespace flashlab::compare {

/// The range profiler is active from the constructor to the destructor. Timings made in
/// between are invalid.
class RangeSession {
 public:
  /// `names`: the ranges of the call, in their order. Throws CountersUnavailable.
  RangeSession(const CuptiLibrary& cupti, CUcontext context, const ChipMetrics& metrics,
               const std::vector<std::string>& names);
  ~RangeSession();
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  /// Returns the counts in the order of the ranges. Throws CountersUnavailable, and
  /// exceptions of `call`.
  std::vector<CountedLaunch> count(const std::function<void(RangeMarker&)>& call);

 private:
  class Marker;
  void configure();
  bool run_pass(const std::function<void(RangeMarker&)>& call);
  void decode();
  std::vector<CountedLaunch> results() const;

  const CuptiLibrary& cupti_;
  const ChipMetrics& metrics_;
  const std::vector<std::string>& names_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> counter_data_;
};

}  // namespace flashlab::compare
