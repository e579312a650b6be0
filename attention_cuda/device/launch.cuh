// Launches a kernel: checks errors, names the launch for profilers, and notifies the observer.
#pragma once

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>

#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

/// A kernel needs an opt-in for more dynamic shared memory than this.
inline constexpr std::size_t kSharedBytesWithoutAsking = 48 << 10;

inline void check_cuda(cudaError_t error, std::string_view call,
                       std::source_location where = std::source_location::current()) {
  if (error != cudaSuccess) throw CudaError(call, cudaGetErrorString(error), where);
}

/// Returns the number of multiprocessors of the current device.
inline int num_multiprocessors() {
  int device = 0, count = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  return count;
}

/// What the process has asked about kernels and allowed them on devices, so that it does so once. A table
/// of fixed size: a kernel in another one's place is asked about again.
class PreparedKernels {
 public:
  /// Whether the kernel was compiled with instructions of compute capability 9.0.
  bool can_overlap(const void* kernel) {
    const std::lock_guard lock(mutex_);
    Kernel& known = of(kernel);
    if (known.ptx_version == 0) {
      cudaFuncAttributes attributes = {};
      check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
      known.ptx_version = attributes.ptxVersion;
    }
    return known.ptx_version >= 90;
  }

  /// Lets the kernel have this much dynamic shared memory, or more.
  void allow_shared_bytes(const void* kernel, std::size_t bytes, std::string_view name) {
    if (bytes <= kSharedBytesWithoutAsking) return;
    const std::lock_guard lock(mutex_);
    Kernel& known = of(kernel);
    if (known.shared_bytes >= bytes) return;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)),
               "cudaFuncSetAttribute(" + std::string(name) + ", shared memory)");
    known.shared_bytes = bytes;
  }

 private:
  struct Kernel {
    const void* kernel;
    int device, ptx_version;   // 0: not asked
    std::size_t shared_bytes;  // allowed
  };
  Kernel& of(const void* kernel) {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    const std::uintptr_t place =
        reinterpret_cast<std::uintptr_t>(kernel) / 16 + static_cast<std::uintptr_t>(device) * 31;
    Kernel& found = kernels_[place % kPlaces];
    if (found.kernel != kernel || found.device != device) found = {kernel, device, 0, 0};
    return found;
  }

  static constexpr std::size_t kPlaces = 512;
  std::mutex mutex_;
  Kernel kernels_[kPlaces] = {};
};

inline PreparedKernels& prepared_kernels() {
  static PreparedKernels kernels;
  return kernels;
}

/// A step of a call: an NVTX range, and calls of the observer before and after it.
class Step {
 public:
  Step(const Call& call, std::string_view name) : call_(call), name_(name) {
    nvtxRangePushA(name_.c_str());
    if (call.options.observer != nullptr) call.options.observer->before(name_, call.options.stream);
  }
  ~Step() {
    if (call_.options.observer != nullptr) {
      call_.options.observer->after(name_, call_.options.stream);
    }
    nvtxRangePop();
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  const Call& call_;
  const std::string name_;
};

struct LaunchShape {
  std::int64_t num_blocks;  // 0: no launch
  int num_threads;          // per block
  std::size_t shared_bytes = 0;
  /// The kernel may start before the previous one ends, and waits for it by itself
  /// (ptx/dependent_launch.cuh). Only code for compute capability 9.0 or later does.
  bool overlaps_previous = false;
  /// Neighbouring blocks that run together (ptx/cluster.cuh); num_blocks is a multiple.
  int cluster_blocks = 1;
};

/// Launches `kernel` on the call's stream. `name` is for profilers and errors.
/// Errors  ProblemError: more than 2^31 - 1 blocks. CudaError
template <class... Parameters, class... Arguments>
void launch(const Call& call, std::string_view name, void (*kernel)(Parameters...),
            const LaunchShape& shape, const Arguments&... arguments) {
  if (shape.num_blocks == 0) return;
  if (shape.num_blocks > INT32_MAX) {
    throw ProblemError("batch x heads x tiles", std::to_string(shape.num_blocks),
                       "at most 2147483647 blocks of " + std::string(name));
  }
  PreparedKernels& prepared = prepared_kernels();
  const auto* const address = reinterpret_cast<const void*>(kernel);
  prepared.allow_shared_bytes(address, shape.shared_bytes, name);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(shape.num_blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.num_threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = call.options.stream;
  cudaLaunchAttribute attributes[2] = {};
  config.attrs = attributes;
  if (shape.overlaps_previous && prepared.can_overlap(address)) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster_blocks > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(shape.cluster_blocks), 1, 1};
  }
  const Step step(call, name);
  const cudaError_t error =
      cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
  if (error != cudaSuccess) check_cuda(error, "launch of " + std::string(name));
}

}  // namespace flashlab::cuda
