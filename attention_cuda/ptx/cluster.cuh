// Clusters: blocks that run at the same time, on multiprocessors that can reach each other's shared
// memory. Compute capability 9.0.
//
// A block must not end while another one still signals it, writes to it or reads it: all threads wait
// at the cluster's barrier before they end, and before the first access, too.
// Source  PTX ISA, "barrier.cluster", "mapa", "mbarrier.arrive", "cp.async.bulk",
//         "cp.async.bulk.tensor"
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

/// The number of this block in its cluster.
__device__ __forceinline__ int cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}

/// An address in the shared memory of any block of the cluster.
using ClusterAddress = SharedAddress;

/// What lies at this address of the own block, in block `rank`.
__device__ __forceinline__ ClusterAddress in_block_of_cluster(SharedAddress own, int rank) {
  ClusterAddress address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  return address;
}

/// All threads of the cluster arrive, and each waits for all. Orders mbarriers before a
/// fence_mbarrier_init, and no other writes: a release here would wait for all additions in flight.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Arrives at an mbarrier of any block of the cluster: this block no longer reads what asynchronous
/// copies will overwrite. Does not order ordinary writes for the other block, which would cost a fence of
/// the whole GPU; copy_to_block brings data, and its mbarrier says that they are there.
__device__ __forceinline__ void mbarrier_arrive_in_cluster(ClusterAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Copies shared memory to another block of the cluster; an mbarrier there counts the bytes.
/// Addresses and `bytes` are multiples of 16.
__device__ __forceinline__ void copy_to_block(ClusterAddress to, SharedAddress from,
                                              std::uint32_t bytes, ClusterAddress barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(to),
      "r"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

/// load_box into several blocks: bit r of `blocks` stands for block r. Each gets the box at the same
/// place, and its mbarrier at the place of `barrier` counts the bytes.
__device__ __forceinline__ void load_box_of_cluster(SharedAddress to, const TensorMap& map,
                                                    SharedAddress barrier, std::uint16_t blocks,
                                                    int column, int row, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(blocks), "r"(column), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

}  // namespace flashlab::cuda::ptx
