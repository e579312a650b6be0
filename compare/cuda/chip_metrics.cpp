#include "compare/cuda/chip_metrics.hpp"

#include <cmath>
#include <utility>

namespace flashlab::compare {

ChipMetrics::ChipMetrics(const CuptiLibrary& cupti, std::string chip,
                         std::vector<std::uint8_t> availability)
    : cupti_(cupti), chip_(std::move(chip)), availability_(std::move(availability)) {
  for (const CounterMetric& metric : counter_metrics()) {
    for (const std::string_view name : metric.names) {
      if (name.empty() || !has(name.data())) continue;
      names_.push_back(name.data());  // a literal: it ends with a zero byte
      counters_.push_back(metric.counter);
      break;
    }
  }
  if (names_.empty()) {
    throw CountersUnavailable("the chip " + chip_ + " has none of the needed metrics");
  }
  host_ = new_host();
  try {
    configure();
  } catch (...) {
    free_host(host_);
    throw;
  }
}

ChipMetrics::~ChipMetrics() { free_host(host_); }

CUpti_Profiler_Host_Object* ChipMetrics::new_host() const {
  auto parameters = sized<CUpti_Profiler_Host_Initialize_Params>(
      CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  parameters.pChipName = chip_.c_str();
  parameters.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  cupti_.check(cupti_.cuptiProfilerHostInitialize(&parameters),
               "cuptiProfilerHostInitialize for the chip " + chip_);
  return parameters.pHostObject;
}

void ChipMetrics::free_host(CUpti_Profiler_Host_Object* host) const {
  auto parameters = sized<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  parameters.pHostObject = host;
  cupti_.cuptiProfilerHostDeinitialize(&parameters);
}

/// A host object that has rejected one metric rejects all others afterwards, so each metric gets
/// a new object.
bool ChipMetrics::has(const char* metric) const {
  CUpti_Profiler_Host_Object* const host = new_host();
  auto parameters = sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  parameters.pHostObject = host;
  parameters.ppMetricNames = &metric;
  parameters.numMetrics = 1;
  const CUptiResult result = cupti_.cuptiProfilerHostConfigAddMetrics(&parameters);
  free_host(host);
  return result == CUPTI_SUCCESS;
}

void ChipMetrics::configure() {
  auto add = sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  cupti_.check(cupti_.cuptiProfilerHostConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics");

  auto size = sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_;
  cupti_.check(cupti_.cuptiProfilerHostGetConfigImageSize(&size),
               "cuptiProfilerHostGetConfigImageSize");
  configuration_.resize(size.configImageSize);

  auto image = sized<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  image.pHostObject = host_;
  image.configImageSize = configuration_.size();
  image.pConfigImage = configuration_.data();
  cupti_.check(cupti_.cuptiProfilerHostGetConfigImage(&image), "cuptiProfilerHostGetConfigImage");

  auto passes = sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  passes.configImageSize = configuration_.size();
  passes.pConfigImage = configuration_.data();
  cupti_.check(cupti_.cuptiProfilerHostGetNumOfPasses(&passes), "cuptiProfilerHostGetNumOfPasses");
  num_passes_ = passes.numOfPasses;
}

CountedLaunch ChipMetrics::values_of(const std::vector<std::uint8_t>& counter_data,
                                     std::size_t range) const {
  std::vector<const char*> names = names_;
  std::vector<double> values(names.size(), NAN);
  auto parameters = sized<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  parameters.pHostObject = host_;
  parameters.pCounterDataImage = counter_data.data();
  parameters.counterDataImageSize = counter_data.size();
  parameters.rangeIndex = range;
  parameters.ppMetricNames = names.data();
  parameters.numMetrics = names.size();
  parameters.pMetricValues = values.data();
  cupti_.check(cupti_.cuptiProfilerHostEvaluateToGpuValues(&parameters),
               "cuptiProfilerHostEvaluateToGpuValues");
  CountedLaunch result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    result.values[static_cast<std::size_t>(counters_[i])] = values[i];
  }
  return result;
}

}  // namespace flashlab::compare
