// Bulk tensor copies: one thread starts a copy of a box between global and shared memory, and the
// copy goes on by itself. Compute capability 9.0.
// Source  PTX ISA, "Data movement and conversion instructions: cp.async.bulk.tensor",
//         "cp.reduce.async.bulk"; CUDA Driver API, cuTensorMapEncodeTiled
#pragma once

#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>

#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/ptx/tensor_layout.hpp"

namespace flashlab::cuda::ptx {

/// How bulk copies address a tensor; a kernel takes it as a __grid_constant__ parameter.
using TensorMap = CUtensorMap;

/// Throws std::invalid_argument for a layout that the hardware cannot address, and
/// std::runtime_error if the driver has no bulk copies or refuses.
inline TensorMap make_tensor_map(const TensorLayout& layout) {
  static const auto encode = [] {
    constexpr unsigned kDriverVersion = 12000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kDriverVersion,
                                     cudaEnableDefault, &found);
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(
        found == cudaDriverEntryPointSuccess ? function : nullptr);
  }();
  if (const auto why = why_not_addressable(layout)) throw std::invalid_argument(*why);
  if (encode == nullptr) throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
  const cuuint32_t box[] = {TensorLayout::kBoxColumns, static_cast<cuuint32_t>(layout.box_rows), 1,
                            1};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  TensorMap map;
  const CUresult result = encode(
      &map, layout.is_bfloat16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      TensorLayout::kRank, layout.data, layout.sizes, layout.strides + 1, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled: error " + std::to_string(result));
  }
  return map;
}

/// Orders this thread's writes to shared memory before asynchronous operations that read them.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Loads the box whose first element is (column, row, head, batch). The mbarrier counts its bytes;
/// elements outside of the tensor are 0.
__device__ __forceinline__ void load_box(SharedAddress to, const TensorMap& map,
                                         SharedAddress barrier, int column, int row, int head,
                                         int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(column), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

/// Stores a box. Elements outside of the tensor are skipped.
__device__ __forceinline__ void store_box(const TensorMap& map, SharedAddress from, int column,
                                          int row, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(
          &map),
      "r"(from), "r"(column), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

/// Adds floats in shared memory to as many in global memory, in any order. Both begin at multiples of
/// 16 bytes, and `bytes` is one. Belongs to a group of stores.
__device__ __forceinline__ void add_floats(float* to, SharedAddress from, std::uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(from), "r"(bytes)
               : "memory");
}

/// The stores of this thread since its last call form a group.
__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but this many groups of the thread's stores have read shared memory.
template <int kGroupsInFlight>
__device__ __forceinline__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroupsInFlight) : "memory");
}

/// Waits until all but this many groups of the thread's stores are complete.
template <int kGroupsInFlight>
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kGroupsInFlight) : "memory");
}

}  // namespace flashlab::cuda::ptx
