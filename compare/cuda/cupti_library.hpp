// CUPTI's range profiler, loaded at run time if it is installed: nothing links against it.
//
// Source  CUPTI documentation, "CUPTI Range Profiling API", "CUPTI Profiler Host API"
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace flashlab::compare {

/// Why the hardware counters cannot be read, as text for people. count_on_gpu catches it.
class CountersUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The functions under CUPTI's own names.
struct CuptiLibrary {
  // The GPU and the library
  decltype(&::cuptiGetResultString) cuptiGetResultString;
  decltype(&::cuptiProfilerInitialize) cuptiProfilerInitialize;
  decltype(&::cuptiProfilerDeInitialize) cuptiProfilerDeInitialize;
  decltype(&::cuptiProfilerDeviceSupported) cuptiProfilerDeviceSupported;
  decltype(&::cuptiProfilerGetCounterAvailability) cuptiProfilerGetCounterAvailability;
  decltype(&::cuptiDeviceGetChipName) cuptiDeviceGetChipName;
  // Metrics, which need no GPU
  decltype(&::cuptiProfilerHostInitialize) cuptiProfilerHostInitialize;
  decltype(&::cuptiProfilerHostDeinitialize) cuptiProfilerHostDeinitialize;
  decltype(&::cuptiProfilerHostConfigAddMetrics) cuptiProfilerHostConfigAddMetrics;
  decltype(&::cuptiProfilerHostGetConfigImageSize) cuptiProfilerHostGetConfigImageSize;
  decltype(&::cuptiProfilerHostGetConfigImage) cuptiProfilerHostGetConfigImage;
  decltype(&::cuptiProfilerHostGetNumOfPasses) cuptiProfilerHostGetNumOfPasses;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) cuptiProfilerHostEvaluateToGpuValues;
  // Ranges
  decltype(&::cuptiRangeProfilerEnable) cuptiRangeProfilerEnable;
  decltype(&::cuptiRangeProfilerDisable) cuptiRangeProfilerDisable;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) cuptiRangeProfilerGetCounterDataSize;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize)
      cuptiRangeProfilerCounterDataImageInitialize;
  decltype(&::cuptiRangeProfilerSetConfig) cuptiRangeProfilerSetConfig;
  decltype(&::cuptiRangeProfilerStart) cuptiRangeProfilerStart;
  decltype(&::cuptiRangeProfilerStop) cuptiRangeProfilerStop;
  decltype(&::cuptiRangeProfilerPushRange) cuptiRangeProfilerPushRange;
  decltype(&::cuptiRangeProfilerPopRange) cuptiRangeProfilerPopRange;
  decltype(&::cuptiRangeProfilerDecodeData) cuptiRangeProfilerDecodeData;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) cuptiRangeProfilerGetCounterDataInfo;
  decltype(&::cuptiRangeProfilerCounterDataGetRangeInfo) cuptiRangeProfilerCounterDataGetRangeInfo;

  /// Returns the same object each time. Throws CountersUnavailable: no library, or too
  /// old a library.
  static const CuptiLibrary& loaded();

  /// Throws CountersUnavailable if the call failed.
  void check(CUptiResult result, std::string_view call) const;
};

/// CUPTI requires each structure to contain its size.
template <class Parameters>
Parameters sized(std::size_t struct_size) {
  Parameters parameters = {};
  parameters.structSize = struct_size;
  return parameters;
}

}  // namespace flashlab::compare
