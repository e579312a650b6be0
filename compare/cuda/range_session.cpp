#include "compare/cuda/range_session.hpp"

#include "text/read_number.hpp"

namespace flashlab::compare {

/// Names the ranges for CUPTI by their numbers: it would combine ranges of one name, with an
/// unknown average of percentages. Must not throw, because begin and end are called where
/// exceptions are not allowed.
class RangeSession::Marker : public RangeMarker {
 public:
  explicit Marker(const RangeSession& session) : session_(session) {}

  void begin(std::string_view name) override {
    if (num_begun_ >= session_.names_.size() || session_.names_[num_begun_] != name) {
      is_another_call_ = true;
    }
    const std::string number = std::to_string(num_begun_++);
    auto parameters = sized<CUpti_RangeProfiler_PushRange_Params>(
        CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
    parameters.pRangeProfilerObject = session_.profiler_;
    parameters.pRangeName = number.c_str();
    note(session_.cupti_.cuptiRangeProfilerPushRange(&parameters));
  }

  void end() override {
    auto parameters =
        sized<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
    parameters.pRangeProfilerObject = session_.profiler_;
    note(session_.cupti_.cuptiRangeProfilerPopRange(&parameters));
  }

  /// Throws CountersUnavailable: a range could not be marked, or the ranges differ from
  /// the expected ones.
  void check() const {
    session_.cupti_.check(first_failure_, "cuptiRangeProfilerPushRange or …PopRange");
    if (is_another_call_ || num_begun_ != session_.names_.size()) {
      throw CountersUnavailable("the call did not launch the same kernels each time");
    }
  }

 private:
  void note(CUptiResult result) {
    if (first_failure_ == CUPTI_SUCCESS) first_failure_ = result;
  }

  const RangeSession& session_;
  std::size_t num_begun_ = 0;
  bool is_another_call_ = false;
  CUptiResult first_failure_ = CUPTI_SUCCESS;
};

RangeSession::RangeSession(const CuptiLibrary& cupti, CUcontext context, const ChipMetrics& metrics,
                           const std::vector<std::string>& names)
    : cupti_(cupti), metrics_(metrics), names_(names) {
  auto parameters =
      sized<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  parameters.ctx = context;
  cupti_.check(cupti_.cuptiRangeProfilerEnable(&parameters), "cuptiRangeProfilerEnable");
  profiler_ = parameters.pRangeProfilerObject;
}

RangeSession::~RangeSession() {
  auto parameters =
      sized<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  parameters.pRangeProfilerObject = profiler_;
  cupti_.cuptiRangeProfilerDisable(&parameters);
}

std::vector<CountedLaunch> RangeSession::count(const std::function<void(RangeMarker&)>& call) {
  configure();
  // The hardware may need one pass more than planned. A session that never ends would be
  // a bug here.
  const std::size_t most_passes = 2 * metrics_.num_passes() + 2;
  std::size_t num_passes = 0;
  while (!run_pass(call)) {
    if (++num_passes == most_passes) {
      throw CountersUnavailable("after " + std::to_string(num_passes) +
                                " passes of the call the counters are still not complete");
    }
  }
  decode();
  return results();
}

void RangeSession::configure() {
  std::vector<const char*> metric_names(metrics_.names().begin(), metrics_.names().end());
  auto size = sized<CUpti_RangeProfiler_GetCounterDataSize_Params>(
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = metric_names.data();
  size.numMetrics = metric_names.size();
  size.maxNumOfRanges = names_.size();
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(names_.size());
  cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataSize(&size),
               "cuptiRangeProfilerGetCounterDataSize");
  counter_data_.resize(size.counterDataSize);

  auto image = sized<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  image.pRangeProfilerObject = profiler_;
  image.counterDataSize = counter_data_.size();
  image.pCounterData = counter_data_.data();
  cupti_.check(cupti_.cuptiRangeProfilerCounterDataImageInitialize(&image),
               "cuptiRangeProfilerCounterDataImageInitialize");

  auto configuration =
      sized<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  configuration.pRangeProfilerObject = profiler_;
  configuration.configSize = metrics_.configuration().size();
  configuration.pConfig = metrics_.configuration().data();
  configuration.counterDataImageSize = counter_data_.size();
  configuration.pCounterDataImage = counter_data_.data();
  configuration.range = CUPTI_UserRange;
  configuration.replayMode = CUPTI_UserReplay;
  configuration.maxRangesPerPass = names_.size();
  configuration.numNestingLevels = 1;
  configuration.minNestingLevel = 1;
  configuration.passIndex = 0;
  configuration.targetNestingLevel = 1;
  cupti_.check(cupti_.cuptiRangeProfilerSetConfig(&configuration), "cuptiRangeProfilerSetConfig");
}

/// Returns whether all passes are done. If `call` throws, the profiler is stopped.
bool RangeSession::run_pass(const std::function<void(RangeMarker&)>& call) {
  auto start =
      sized<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  start.pRangeProfilerObject = profiler_;
  cupti_.check(cupti_.cuptiRangeProfilerStart(&start), "cuptiRangeProfilerStart");
  auto stop = sized<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  stop.pRangeProfilerObject = profiler_;
  Marker marker(*this);
  try {
    call(marker);
  } catch (...) {
    cupti_.cuptiRangeProfilerStop(&stop);
    throw;
  }
  const CUptiResult stopped = cupti_.cuptiRangeProfilerStop(&stop);
  marker.check();
  cupti_.check(stopped, "cuptiRangeProfilerStop");
  return stop.isAllPassSubmitted != 0;
}

void RangeSession::decode() {
  auto parameters = sized<CUpti_RangeProfiler_DecodeData_Params>(
      CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  parameters.pRangeProfilerObject = profiler_;
  cupti_.check(cupti_.cuptiRangeProfilerDecodeData(&parameters), "cuptiRangeProfilerDecodeData");
  if (parameters.numOfRangeDropped != 0) {
    throw CountersUnavailable("the profiler dropped " +
                              std::to_string(parameters.numOfRangeDropped) + " of the ranges");
  }
}

std::vector<CountedLaunch> RangeSession::results() const {
  auto info = sized<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
      CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataInfo(&info),
               "cuptiRangeProfilerGetCounterDataInfo");
  if (info.numTotalRanges != names_.size()) {
    throw CountersUnavailable("the profiler has " + std::to_string(info.numTotalRanges) +
                              " ranges: expected " + std::to_string(names_.size()));
  }
  std::vector<CountedLaunch> launches(names_.size());
  for (std::size_t range = 0; range < info.numTotalRanges; ++range) {
    auto parameters = sized<CUpti_RangeProfiler_CounterData_GetRangeInfo_Params>(
        CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE);
    parameters.pCounterDataImage = counter_data_.data();
    parameters.counterDataImageSize = counter_data_.size();
    parameters.rangeIndex = range;
    parameters.rangeDelimiter = "/";
    cupti_.check(cupti_.cuptiRangeProfilerCounterDataGetRangeInfo(&parameters),
                 "cuptiRangeProfilerCounterDataGetRangeInfo");
    const char* const text = parameters.rangeName == nullptr ? "" : parameters.rangeName;
    std::size_t number = names_.size();
    read_number(text, number);
    if (number >= names_.size()) {
      throw CountersUnavailable(std::string("the profiler has a range that was not marked: \"") +
                                text + "\"");
    }
    launches[number] = metrics_.values_of(counter_data_, range);
    launches[number].name = names_[number];
  }
  return launches;
}

}  // namespace flashlab::compare
