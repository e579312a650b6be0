// Stands in for attention_cuda/ptx/cp_async.cuh. The bytes arrive at the wait and not before; from
// the call on the destination holds NaN. Throws if an address is not aligned.
#pragma once

#include <cuda_runtime.h>

#include "attention_cuda/emulation/async_copies.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline void cp_async_16(void* shared, const void* global, bool is_there) {
  emulation::require_shared_16(shared, "cp.async");
  emulation::require_aligned(global, emulation::AsyncCopies::kBytes, "cp.async from global memory");
  emulation::async_copies().issue(shared, global, is_there);
  emulation::block_statistics().cp_async_bytes += emulation::AsyncCopies::kBytes;
}

inline void cp_async_16(SharedAddress shared, const void* global, bool is_there) {
  cp_async_16(reinterpret_cast<void*>(shared), global, is_there);
}

inline void cp_async_commit() { emulation::async_copies().commit(); }

template <int kGroupsUnderWay>
void cp_async_wait() {
  emulation::async_copies().wait(kGroupsUnderWay);
}

}  // namespace flashlab::cuda::ptx
