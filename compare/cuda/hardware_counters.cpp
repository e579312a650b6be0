#include "compare/counters/hardware_counters.hpp"

#include <cuda_runtime.h>

#include "compare/cuda/range_session.hpp"
#include "system/opened_library.hpp"

namespace flashlab::compare {
namespace {

void check_runtime(cudaError_t error, const std::string& call) {
  if (error != cudaSuccess) throw CountersUnavailable(call + ": " + cudaGetErrorString(error));
}

/// The current device's context. The runtime creates it at first use.
CUcontext current_context() {
  check_runtime(cudaFree(nullptr), "no CUDA context");
  CUresult (*get_current)(CUcontext*) = nullptr;
  if (!system::OpenedLibrary({"libcuda.so.1"}).find(get_current, "cuCtxGetCurrent")) {
    throw CountersUnavailable("no CUDA driver (libcuda.so.1) was found");
  }
  CUcontext context = nullptr;
  if (get_current(&context) != CUDA_SUCCESS || context == nullptr) {
    throw CountersUnavailable("there is no current CUDA context");
  }
  return context;
}

/// Attaches the profiler to the driver, and detaches it at the end of the scope.
class Profiler {
 public:
  explicit Profiler(const CuptiLibrary& cupti) : cupti_(cupti) {
    auto parameters =
        sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    cupti_.check(cupti_.cuptiProfilerInitialize(&parameters), "cuptiProfilerInitialize");
  }
  ~Profiler() {
    auto parameters =
        sized<CUpti_Profiler_DeInitialize_Params>(CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE);
    cupti_.cuptiProfilerDeInitialize(&parameters);
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void check_supported(int device) const {
    auto parameters = sized<CUpti_Profiler_DeviceSupported_Params>(
        CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
    parameters.cuDevice = device;
    parameters.api = CUPTI_PROFILER_RANGE_PROFILING;
    cupti_.check(cupti_.cuptiProfilerDeviceSupported(&parameters), "cuptiProfilerDeviceSupported");
    if (parameters.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
    const auto reason = [&](CUpti_Profiler_Support_Level level, const char* words) {
      if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
          level == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
        throw CountersUnavailable(std::string("CUPTI cannot profile this GPU: ") + words);
      }
    };
    reason(parameters.architecture, "it needs compute capability 7.5 or later");
    reason(parameters.vGpu, "it is virtual, and its host does not allow profiling");
    reason(parameters.confidentialCompute, "confidential computing is on");
    reason(parameters.sli, "SLI is on");
    reason(parameters.cmp, "it is a mining processor");
    reason(parameters.wsl, "this Windows Subsystem for Linux does not allow profiling");
    throw CountersUnavailable("CUPTI cannot profile this GPU and gives no reason");
  }

  std::string chip_name(int device) const {
    auto parameters =
        sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
    parameters.deviceIndex = static_cast<std::size_t>(device);
    cupti_.check(cupti_.cuptiDeviceGetChipName(&parameters), "cuptiDeviceGetChipName");
    return parameters.pChipName;
  }

  std::vector<std::uint8_t> availability(CUcontext context) const {
    auto parameters = sized<CUpti_Profiler_GetCounterAvailability_Params>(
        CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
    parameters.ctx = context;
    const std::string call = "cuptiProfilerGetCounterAvailability";
    cupti_.check(cupti_.cuptiProfilerGetCounterAvailability(&parameters), call);
    std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
    parameters.pCounterAvailabilityImage = image.data();
    cupti_.check(cupti_.cuptiProfilerGetCounterAvailability(&parameters), call);
    return image;
  }

 private:
  const CuptiLibrary& cupti_;
};

/// Collects the names of the ranges, because their number must be known before the first pass.
class NameList : public RangeMarker {
 public:
  void begin(std::string_view name) override { names.emplace_back(name); }
  void end() override {}

  std::vector<std::string> names;
};

std::vector<CountedLaunch> counted_launches(const std::function<void(RangeMarker&)>& call) {
  const CuptiLibrary& cupti = CuptiLibrary::loaded();
  int device = 0;
  check_runtime(cudaGetDevice(&device), "no GPU");
  CUcontext const context = current_context();
  const Profiler profiler(cupti);
  profiler.check_supported(device);
  const ChipMetrics metrics(cupti, profiler.chip_name(device), profiler.availability(context));
  NameList list;
  call(list);
  if (list.names.empty()) return {};
  return RangeSession(cupti, context, metrics, list.names).count(call);
}

}  // namespace

std::vector<CountedRange> count_on_gpu(const std::function<void(RangeMarker&)>& call,
                                       std::string& why_not) {
  why_not.clear();
  try {
    return together(counted_launches(call));
  } catch (const CountersUnavailable& unavailable) {
    why_not = unavailable.what();
    return {};
  }
}

}  // namespace flashlab::compare
