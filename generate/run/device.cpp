#include "generate/run/device.hpp"

#include <utility>

namespace flashlab::generate {

GpuInfo first_gpu(const CudaDriver& driver) {
  int device = 0;
  driver.check(driver.cuDeviceGet(&device, 0), "cuDeviceGet");
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    driver.check(driver.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  GpuInfo gpu;
  char name[256] = "";
  driver.check(driver.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  gpu.name = name;
  gpu.compute_capability =
      10 * attribute(kComputeCapabilityMajor) + attribute(kComputeCapabilityMinor);
  gpu.num_multiprocessors = attribute(kMultiprocessors);
  gpu.l2_bytes = attribute(kL2CacheBytes);
  gpu.shared_bytes_per_block = attribute(kSharedBytesPerBlock);
  std::size_t bytes = 0;
  driver.check(driver.cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  gpu.memory_bytes = static_cast<std::int64_t>(bytes);
  driver.check(driver.cuDriverGetVersion(&gpu.driver_version), "cuDriverGetVersion");
  return gpu;
}

DeviceContext::DeviceContext(const CudaDriver& driver) : driver_(driver) {
  driver.check(driver.cuDeviceGet(&device_, 0), "cuDeviceGet");
  ContextHandle context = nullptr;
  driver.check(driver.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
  driver.check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

DeviceContext::~DeviceContext() { driver_.cuDevicePrimaryCtxRelease(device_); }

DeviceBytes::DeviceBytes(const CudaDriver& driver, const std::string& what, std::int64_t bytes)
    : driver_(driver), bytes_(bytes) {
  if (bytes == 0) return;
  driver.check(driver.cuMemAlloc(&address_, static_cast<std::size_t>(bytes)),
               "cuMemAlloc, " + std::to_string(bytes) + " bytes for " + what);
}

DeviceBytes::~DeviceBytes() {
  if (address_ != 0) driver_.cuMemFree(address_);
}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : driver_(other.driver_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}

void DeviceBytes::fill(unsigned char byte) const {
  if (bytes_ == 0) return;
  driver_.check(driver_.cuMemsetD8Async(address_, byte, static_cast<std::size_t>(bytes_), nullptr),
                "cuMemsetD8Async");
}

void DeviceBytes::read(void* to, std::int64_t first, std::int64_t bytes) const {
  if (bytes == 0) return;
  driver_.check(driver_.cuMemcpyDtoH(to, address_ + static_cast<DevicePointer>(first),
                                     static_cast<std::size_t>(bytes)),
                "cuMemcpyDtoH");
}

DeviceModule::DeviceModule(const CudaDriver& driver, const std::string& image) : driver_(driver) {
  driver.check(driver.cuModuleLoadData(&module_, image.data()), "cuModuleLoadData");
}

DeviceModule::~DeviceModule() { driver_.cuModuleUnload(module_); }

FunctionHandle DeviceModule::function(const std::string& name) const {
  FunctionHandle function = nullptr;
  driver_.check(driver_.cuModuleGetFunction(&function, module_, name.c_str()),
                "cuModuleGetFunction, " + name);
  return function;
}

int DeviceModule::attribute(FunctionHandle function, FunctionAttribute attribute) const {
  int value = 0;
  driver_.check(driver_.cuFuncGetAttribute(&value, attribute, function), "cuFuncGetAttribute");
  return value;
}

void DeviceModule::allow_shared_bytes(FunctionHandle function, std::int64_t bytes) const {
  driver_.check(
      driver_.cuFuncSetAttribute(function, kMaxDynamicSharedBytes, static_cast<int>(bytes)),
      "cuFuncSetAttribute, " + std::to_string(bytes) + " bytes of shared memory");
}

void DeviceModule::launch(FunctionHandle function, const LaunchSize& size,
                          std::vector<unsigned long long> parameters,
                          std::vector<TensorMap> maps) const {
  std::vector<void*> places;
  for (unsigned long long& parameter : parameters) places.push_back(&parameter);
  for (TensorMap& map : maps) places.push_back(&map);
  driver_.check(driver_.cuLaunchKernel(
                    function, static_cast<unsigned>(size.blocks),
                    static_cast<unsigned>(size.problems), 1, static_cast<unsigned>(size.threads), 1,
                    1, static_cast<unsigned>(size.shared_bytes), nullptr, places.data(), nullptr),
                "cuLaunchKernel");
}

DeviceEvent::DeviceEvent(const CudaDriver& driver) : driver_(driver) {
  driver.check(driver.cuEventCreate(&event_, 0), "cuEventCreate");
}

DeviceEvent::~DeviceEvent() {
  if (event_ != nullptr) driver_.cuEventDestroy(event_);
}

DeviceEvent::DeviceEvent(DeviceEvent&& other) noexcept
    : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}

void DeviceEvent::record() const {
  driver_.check(driver_.cuEventRecord(event_, nullptr), "cuEventRecord");
}

double DeviceEvent::ms_since(const DeviceEvent& start) const {
  driver_.check(driver_.cuEventSynchronize(event_), "the kernels");
  float ms = 0;
  driver_.check(driver_.cuEventElapsedTime(&ms, start.event_, event_), "cuEventElapsedTime");
  return ms;
}

}  // namespace flashlab::generate
