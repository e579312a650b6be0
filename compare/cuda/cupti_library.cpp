#include "compare/cuda/cupti_library.hpp"

#include <cstdlib>
#include <vector>

#include "system/opened_library.hpp"

namespace flashlab::compare {
namespace {

/// The search path: the dynamic linker's folders, then CUDA Toolkits.
std::vector<std::string> candidate_paths() {
  std::vector<std::string> folders = {""};
  const auto add_toolkit = [&](const std::string& toolkit) {
    for (const char* inside : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"}) {
      folders.push_back(toolkit + inside);
    }
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const toolkit = std::getenv(variable)) add_toolkit(toolkit);
  }
  add_toolkit("/usr/local/cuda");
#ifdef FLASHLAB_CUDA_LIBRARY_FOLDER
  folders.push_back(std::string(FLASHLAB_CUDA_LIBRARY_FOLDER) + "/");
#endif
  std::vector<std::string> paths;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    for (const std::string& folder : folders) paths.push_back(folder + name);
  }
  return paths;
}

system::OpenedLibrary open_library() {
  const system::OpenedLibrary library(candidate_paths());
  if (library) return library;
  throw CountersUnavailable(
      "no CUPTI library (libcupti.so.13, libcupti.so.12) was found: expected in the folders of "
      "the dynamic linker, in $CUDA_HOME or in /usr/local/cuda; it comes with the CUDA Toolkit");
}

CuptiLibrary load() {
  const system::OpenedLibrary library = open_library();
  const auto function = [&](auto& pointer, const char* name) {
    if (!library.find(pointer, name)) {
      throw CountersUnavailable(std::string("the CUPTI library that was found has no ") + name +
                                ": expected the range profiler of CUDA 12.6 or later");
    }
  };
  CuptiLibrary result = {};
#define FLASHLAB_LOAD(name) function(result.name, #name)
  FLASHLAB_LOAD(cuptiGetResultString);
  FLASHLAB_LOAD(cuptiProfilerInitialize);
  FLASHLAB_LOAD(cuptiProfilerDeInitialize);
  FLASHLAB_LOAD(cuptiProfilerDeviceSupported);
  FLASHLAB_LOAD(cuptiProfilerGetCounterAvailability);
  FLASHLAB_LOAD(cuptiDeviceGetChipName);
  FLASHLAB_LOAD(cuptiProfilerHostInitialize);
  FLASHLAB_LOAD(cuptiProfilerHostDeinitialize);
  FLASHLAB_LOAD(cuptiProfilerHostConfigAddMetrics);
  FLASHLAB_LOAD(cuptiProfilerHostGetConfigImageSize);
  FLASHLAB_LOAD(cuptiProfilerHostGetConfigImage);
  FLASHLAB_LOAD(cuptiProfilerHostGetNumOfPasses);
  FLASHLAB_LOAD(cuptiProfilerHostEvaluateToGpuValues);
  FLASHLAB_LOAD(cuptiRangeProfilerEnable);
  FLASHLAB_LOAD(cuptiRangeProfilerDisable);
  FLASHLAB_LOAD(cuptiRangeProfilerGetCounterDataSize);
  FLASHLAB_LOAD(cuptiRangeProfilerCounterDataImageInitialize);
  FLASHLAB_LOAD(cuptiRangeProfilerSetConfig);
  FLASHLAB_LOAD(cuptiRangeProfilerStart);
  FLASHLAB_LOAD(cuptiRangeProfilerStop);
  FLASHLAB_LOAD(cuptiRangeProfilerPushRange);
  FLASHLAB_LOAD(cuptiRangeProfilerPopRange);
  FLASHLAB_LOAD(cuptiRangeProfilerDecodeData);
  FLASHLAB_LOAD(cuptiRangeProfilerGetCounterDataInfo);
  FLASHLAB_LOAD(cuptiRangeProfilerCounterDataGetRangeInfo);
#undef FLASHLAB_LOAD
  return result;
}

}  // namespace

const CuptiLibrary& CuptiLibrary::loaded() {
  static const CuptiLibrary library = load();
  return library;
}

void CuptiLibrary::check(CUptiResult result, std::string_view call) const {
  if (result == CUPTI_SUCCESS) return;
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
      result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) {
    throw CountersUnavailable(
        "the driver lets only administrators read performance counters (ERR_NVGPUCTRPERM); an "
        "administrator can allow it: https://developer.nvidia.com/ERR_NVGPUCTRPERM");
  }
  const char* text = nullptr;
  if (cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "no name";
  throw CountersUnavailable(std::string(call) + " failed: " + text + " (" + std::to_string(result) +
                            ")");
}

}  // namespace flashlab::compare
