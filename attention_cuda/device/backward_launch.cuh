// Shared functions of the launchers of the tensor-core backward kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/tensor_core.cuh"

namespace flashlab::cuda {

/// Calls work.operator()<TensorCore>() for the 16-bit type of this call.
template <class Work>
void with_tensor_core_16(const Call& call, const Work& work) {
  if (call.problem.dtype == DataType::kBFloat16) {
    work.template operator()<TensorCore16<BFloat16>>();
  } else {
    work.template operator()<TensorCore16<Float16>>();
  }
}

/// Calls work.operator()<TensorCore>() for the way in which this call multiplies fp32 values.
template <class Work>
void with_tensor_core_32(const Call& call, const Work& work) {
  if (call.options.products == Products::kTensorFloat32) {
    work.template operator()<TensorCoreTf32>();
  } else {
    work.template operator()<TensorCoreTf32x3>();
  }
}

/// Returns whether all rows that the kernels read and write can be copied 16 bytes at a time.
template <class Element>
bool has_aligned_rows(const BackwardArguments<Element>& arguments) {
  const int head_dim = arguments.sizes.head_dim;
  return arguments.Q.has_aligned_rows(head_dim) && arguments.K.has_aligned_rows(head_dim) &&
         arguments.V.has_aligned_rows(head_dim) && arguments.dO.has_aligned_rows(head_dim) &&
         arguments.dQ.has_aligned_rows(head_dim) && arguments.dK.has_aligned_rows(head_dim) &&
         arguments.dV.has_aligned_rows(head_dim);
}

/// What bwd-onepass does before its kernel: sets `zeros`, the sums of dQ, to zero, and computes delta.
/// `arrays`: of the workspace. Returns the call's arguments, with rounded lse if the call rounds statistics.
/// delta comes last: the kernel may start before that launch ends (ptx/dependent_launch.cuh). A call that
/// continues another one has it.
template <class Element, class Arrays>
BackwardArguments<Element> begin_onepass(const BackwardCall& call, const Arrays& arrays,
                                         std::span<std::byte> zeros) {
  if (!zeros.empty()) {
    const Step step(call, "dQ sums to zero");
    check_cuda(cudaMemsetAsync(zeros.data(), 0, zeros.size(), call.options.stream),
               "cudaMemsetAsync(dQ sums)");
  }
  auto arguments = backward_arguments<Element>(call);
  if (!call.options.continues_dQ) {
    launch_delta(call, arguments, arrays.delta, arrays.rounded_lse);
  }
  if (arrays.rounded_lse != nullptr) arguments = with_lse(arguments, arrays.rounded_lse);
  return arguments;
}

/// Returns the maximum shared memory of a block on the current device, in bytes.
inline int max_shared_bytes() {
  int device = 0, bytes = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute(shared memory a block)");
  return bytes;
}

}  // namespace flashlab::cuda
