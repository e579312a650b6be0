#include "generate/run/driver.hpp"

namespace flashlab::generate {
namespace {

CudaDriver open_driver() {
  const OpenedLibrary library("FLASHLAB_CUDA_DRIVER", {"libcuda.so.1", "libcuda.so"}, "CUDA driver",
                              "it comes with NVIDIA's driver (nvidia-smi shows whether it works)");
  CudaDriver driver{};
  // Functions with a second version have it under another name.
#define FLASHLAB_FIND(name) library.find(driver.name, #name)
#define FLASHLAB_FIND_V2(name) library.find(driver.name, #name "_v2")
  FLASHLAB_FIND(cuInit);
  FLASHLAB_FIND(cuGetErrorName);
  FLASHLAB_FIND(cuGetErrorString);
  FLASHLAB_FIND(cuDriverGetVersion);
  FLASHLAB_FIND(cuDeviceGetCount);
  FLASHLAB_FIND(cuDeviceGet);
  FLASHLAB_FIND(cuDeviceGetName);
  FLASHLAB_FIND_V2(cuDeviceTotalMem);
  FLASHLAB_FIND(cuDeviceGetAttribute);
  FLASHLAB_FIND(cuDevicePrimaryCtxRetain);
  FLASHLAB_FIND_V2(cuDevicePrimaryCtxRelease);
  FLASHLAB_FIND(cuCtxSetCurrent);
  FLASHLAB_FIND(cuCtxSynchronize);
  FLASHLAB_FIND_V2(cuMemGetInfo);
  FLASHLAB_FIND_V2(cuMemAlloc);
  FLASHLAB_FIND_V2(cuMemFree);
  FLASHLAB_FIND_V2(cuMemcpyDtoH);
  FLASHLAB_FIND(cuMemsetD8Async);
  FLASHLAB_FIND(cuModuleLoadData);
  FLASHLAB_FIND(cuModuleUnload);
  FLASHLAB_FIND(cuModuleGetFunction);
  FLASHLAB_FIND(cuFuncGetAttribute);
  FLASHLAB_FIND(cuFuncSetAttribute);
  FLASHLAB_FIND(cuLaunchKernel);
  FLASHLAB_FIND(cuEventCreate);
  FLASHLAB_FIND(cuEventRecord);
  FLASHLAB_FIND(cuEventSynchronize);
  FLASHLAB_FIND(cuEventElapsedTime);
  FLASHLAB_FIND_V2(cuEventDestroy);
  library.find_if_there(driver.cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
#undef FLASHLAB_FIND_V2
#undef FLASHLAB_FIND
  return driver;
}

std::string error_text(const CudaDriver& driver, int error) {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(error, &name) != 0 || name == nullptr) {
    return "error " + std::to_string(error);
  }
  if (driver.cuGetErrorString(error, &text) != 0 || text == nullptr) return name;
  return std::string(name) + ": " + text;
}

CudaDriver initialised_driver() {
  CudaDriver driver = open_driver();
  int count = 0;
  int error = driver.cuInit(0);
  if (error == 0) error = driver.cuDeviceGetCount(&count);
  if (error != 0) throw GpuUnavailable("no GPU to run on: " + error_text(driver, error));
  if (count == 0) throw GpuUnavailable("no GPU to run on: the driver sees none");
  return driver;
}

}  // namespace

const CudaDriver& CudaDriver::loaded() {
  static const CudaDriver driver = initialised_driver();
  return driver;
}

void CudaDriver::check(int result, std::string_view call) const {
  if (result != 0) throw GpuError(std::string(call) + ": " + error_text(*this, result));
}

}  // namespace flashlab::generate
