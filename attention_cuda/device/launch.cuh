// Launches a kernel: checks errors, names the launch for profilers, and notifies the observer.
#pragma once

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
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

/// Whether the kernel was compiled with instructions of compute capability 9.0.
inline bool can_overlap(const void* kernel) {
  cudaFuncAttributes attributes = {};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 90;
}

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
  if (shape.shared_bytes > kSharedBytesWithoutAsking) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               "cudaFuncSetAttribute(" + std::string(name) + ", shared memory)");
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(shape.num_blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.num_threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = call.options.stream;
  cudaLaunchAttribute attributes[2] = {};
  config.attrs = attributes;
  if (shape.overlaps_previous && can_overlap(reinterpret_cast<const void*>(kernel))) {
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
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
             "launch of " + std::string(name));
}

}  // namespace flashlab::cuda
