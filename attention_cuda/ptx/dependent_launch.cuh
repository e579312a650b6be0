// Programmatic dependent launch: a kernel that starts before its predecessor on the stream ends, if
// its launch allows this (LaunchShape::overlaps_previous). It waits before it reads or writes what
// its predecessor, or a kernel before that, writes or reads.
//
// Compute capability 9.0. Code for earlier ones contains nothing: there such launches are ordinary
// (device/launch.cuh).
// Source  PTX ISA, "Miscellaneous instructions: griddepcontrol"
#pragma once

#include <cuda_runtime.h>

namespace flashlab::cuda::ptx {

/// The next kernel of the stream may start once all blocks of this one have executed this or ended.
__device__ __forceinline__ void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until the previous kernels of the stream have ended and their writes are visible. Every
/// thread executes this.
__device__ __forceinline__ void wait_for_previous_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace flashlab::cuda::ptx
