// What a host raises to stop kernels that are enqueued (ExecutionOptions::stop_flag).
#pragma once

#include <cuda_runtime.h>

#include <atomic>

#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {

/// A number in memory of the host that every GPU of this process reads. It must outlive the kernels.
class StopFlag {
 public:
  /// Throws CudaError.
  StopFlag() {
    check_cuda(cudaHostAlloc(reinterpret_cast<void**>(&flag_), sizeof *flag_,
                             cudaHostAllocPortable | cudaHostAllocMapped),
               "cudaHostAlloc");
    *flag_ = 0;
  }
  ~StopFlag() { cudaFreeHost(flag_); }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  void raise() noexcept { std::atomic_ref<int>(*flag_).store(1, std::memory_order_relaxed); }
  const int* on_device() const { return flag_; }

 private:
  int* flag_ = nullptr;
};

}  // namespace flashlab::cuda
