// Stands in for attention_cuda/ptx/host_flag.cuh.
#pragma once

#include <atomic>

namespace flashlab::cuda::ptx {

inline int load_from_host(const int* flag) {
  return std::atomic_ref<int>(*const_cast<int*>(flag)).load(std::memory_order_relaxed);
}

}  // namespace flashlab::cuda::ptx
