#include "attention_cuda/gpu.hpp"

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {
namespace {

/// On a machine without a driver, the runtime only reports an insufficient version.
void check_driver() {
  int device = 0, driver = 0, runtime = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaErrorInsufficientDriver) return check_cuda(error, "cudaGetDevice");
  cudaGetLastError();
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  throw CudaError("cudaGetDevice", driver == 0
                                       ? "CUDA finds no NVIDIA driver on this computer"
                                       : "the NVIDIA driver is for CUDA " +
                                             cuda_version_text(driver) + ", this needs one for " +
                                             cuda_version_text(runtime) + " or later");
}

}  // namespace

GpuInfo current_gpu() {
  check_driver();
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  int l2_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device),
             "cudaDeviceGetAttribute");
  GpuInfo gpu;
  gpu.name = properties.name;
  gpu.compute_capability = 10 * properties.major + properties.minor;
  gpu.num_multiprocessors = properties.multiProcessorCount;
  gpu.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  gpu.l2_bytes = l2_bytes;
  gpu.shared_memory_per_block_bytes = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  check_cuda(cudaDriverGetVersion(&gpu.driver_version), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&gpu.runtime_version), "cudaRuntimeGetVersion");
  return gpu;
}

DeviceMemory::DeviceMemory(const std::string& owner, std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears the error for later calls
    throw NoDeviceMemory(owner, bytes);
  }
  check_cuda(error, "cudaMalloc");
}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

void DeviceMemory::fill(int byte, Stream stream) const {
  if (bytes_ > 0) check_cuda(cudaMemsetAsync(data_, byte, bytes_, stream), "cudaMemsetAsync");
}

void copy_to_gpu(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) check_cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void copy_from_gpu(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) check_cuda(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

}  // namespace flashlab::cuda
