#include "attention_cuda/emulation/runtime_api.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "attention_cuda/emulation/allocations.hpp"
#include "attention_cuda/emulation/dependent_launch.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ranks/processes/cuda_ipc.hpp"

struct CUstream_st {};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};

namespace {

constexpr std::size_t kMemoryBytes = std::size_t{8} << 30;
constexpr int kSharedBytes = 48 << 10, kSharedBytesOptin = 227 << 10, kVersion = 13000;
// The limits of a launch, from the table of compute capabilities in the CUDA programming guide.
constexpr unsigned kMaxGridX = 0x7FFFFFFF, kMaxGridYZ = 65535, kMaxBlockZ = 64;

thread_local cudaError_t last_error = cudaSuccess;

thread_local int current_device = 0;

int num_devices() {
  const char* const wish = std::getenv("FLASHLAB_EMULATED_GPUS");
  return wish == nullptr ? 1 : std::atoi(wish);
}
bool is_device(int device) { return device >= 0 && device < num_devices(); }

cudaError_t recorded(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

struct ErrorText {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "cluster misconfiguration"},
};

const ErrorText& text_of(cudaError_t error) {
  static constexpr ErrorText kUnknown{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                   [&](const ErrorText& row) { return row.error == error; });
  return found == std::end(kErrors) ? kUnknown : *found;
}

/// The maximum shared memory of each kernel, if it differs from the default.
class SharedLimits {
 public:
  void set(const void* kernel, int bytes) {
    const std::lock_guard lock(mutex_);
    limits_[kernel] = bytes;
  }
  int of(const void* kernel) {
    const std::lock_guard lock(mutex_);
    const auto found = limits_.find(kernel);
    return found == limits_.end() ? kSharedBytes : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, int> limits_;
};
SharedLimits shared_limits;

flashlab::cuda::emulation::Allocations allocations;
std::atomic<bool> takes_host_memory = false;

bool is_possible(const dim3& grid, const dim3& block) {
  const auto is_in = [](unsigned value, unsigned limit) { return value >= 1 && value <= limit; };
  using flashlab::cuda::emulation::kMaxThreads;
  return is_in(grid.x, kMaxGridX) && is_in(grid.y, kMaxGridYZ) && is_in(grid.z, kMaxGridYZ) &&
         is_in(block.x, kMaxThreads) && is_in(block.y, kMaxThreads) && is_in(block.z, kMaxBlockZ) &&
         block.x * block.y * block.z <= kMaxThreads;
}

}  // namespace

// Errors

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

// Devices

cudaError_t cudaGetDeviceCount(int* count) {
  *count = num_devices();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return recorded(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device(device)) return recorded(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = flashlab::cuda::emulation::kMaxThreads;
      break;
    case cudaDevAttrWarpSize:
      *value = flashlab::cuda::emulation::kWarpLanes;
      break;
    case cudaDevAttrClockRate:
      *value = 1'000'000;
      break;  // kHz
    case cudaDevAttrMultiProcessorCount:
      *value = 4;
      break;
    case cudaDevAttrL2CacheSize:
      *value = 64 << 10;  // small: each timed call overwrites L2 eight times, in emulated threads
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = kSharedBytesOptin + 1024;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = kSharedBytesOptin;
      break;
    default:
      return recorded(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return recorded(cudaErrorInvalidDevice);
  *properties = {"emulated GPU", kMemoryBytes, 9, 0, 4, kSharedBytesOptin};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = *total_bytes = kMemoryBytes;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

// Streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

// Memory

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > kMemoryBytes) return recorded(cudaErrorMemoryAllocation);
  int file = -1;
  if (std::getenv("FLASHLAB_EMULATED_IPC") != nullptr) {
    file = memfd_create("emulated GPU memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      return recorded(cudaErrorMemoryAllocation);
    }
    *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (*memory == MAP_FAILED) return recorded(cudaErrorMemoryAllocation);
  } else if (posix_memalign(memory, kAlignment, bytes) != 0) {
    return recorded(cudaErrorMemoryAllocation);
  }
  allocations.add(*memory, {bytes, file});
  return cudaMemset(*memory, 0xFF, bytes);
}

cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  const flashlab::cuda::emulation::Allocation freed = allocations.remove(memory);
  if (freed.bytes == 0) return recorded(cudaErrorInvalidValue);
  if (freed.file < 0) {
    std::free(memory);
  } else {
    munmap(memory, freed.bytes);
    close(freed.file);
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void* memory, int byte, std::size_t bytes) {
  if (bytes > 0) std::memset(memory, byte, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t) {
  return cudaMemset(memory, byte, bytes);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  *attributes = {};
  if (takes_host_memory || allocations.containing(memory) != nullptr) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->devicePointer = const_cast<void*>(memory);
  }
  return cudaSuccess;
}

// Events

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st{};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

// Kernels

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  if (value < 0 || value > kSharedBytesOptin) return recorded(cudaErrorInvalidValue);
  shared_limits.set(kernel, value);
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  *attributes = {};
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxThreadsPerBlock = flashlab::cuda::emulation::kMaxThreads;
  attributes->maxDynamicSharedSizeBytes = shared_limits.of(kernel);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* num_blocks, const void*, int,
                                                          std::size_t) {
  *num_blocks = 1;
  return cudaSuccess;
}

namespace flashlab::cuda::emulation {
namespace {

std::int64_t num_threads(const cudaLaunchConfig_t& config) {
  const auto count = [](const dim3& size) { return std::int64_t{size.x} * size.y * size.z; };
  return count(config.gridDim) * count(config.blockDim);
}

}  // namespace

void* allocation_with(const void* memory) { return allocations.containing(memory); }

std::pair<int, std::size_t> file_of(const void* allocation) {
  const Allocation found = allocations.at(allocation);
  return {found.file, found.bytes};
}

void take_host_memory() { takes_host_memory = true; }

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> thread) {
  if (!is_possible(config.gridDim, config.blockDim)) {
    return recorded(cudaErrorInvalidConfiguration);
  }
  if (config.dynamicSmemBytes > static_cast<std::size_t>(shared_limits.of(kernel))) {
    return recorded(cudaErrorInvalidValue);
  }
  Launch grid = {config.gridDim, config.blockDim, config.dynamicSmemBytes, std::move(thread)};
  bool overlaps = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      overlaps = attribute.val.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      if (cluster.x < 1 || cluster.x > kMostBlocksOfCluster || cluster.y != 1 || cluster.z != 1 ||
          config.gridDim.x % cluster.x != 0) {
        return recorded(cudaErrorInvalidClusterSize);
      }
      grid.cluster_blocks = static_cast<int>(cluster.x);
    } else {
      return recorded(cudaErrorNotSupported);
    }
  }
  if (overlaps && runs_blocks()) {
    run_overlapping(num_threads(config), grid.thread, [&](std::function<void()> counted) {
      Launch counting = grid;
      counting.thread = std::move(counted);
      run(counting);
    });
  } else {
    run(grid);
  }
  return cudaSuccess;
}

}  // namespace flashlab::cuda::emulation
