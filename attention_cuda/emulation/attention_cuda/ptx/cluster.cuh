// Stands in for attention_cuda/ptx/cluster.cuh.
#pragma once

#include <array>
#include <cstdint>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline int cluster_rank() { return emulation::cluster_rank(); }

using ClusterAddress = SharedAddress;

inline ClusterAddress in_block_of_cluster(SharedAddress own, int rank) {
  return reinterpret_cast<ClusterAddress>(
      emulation::in_block_of_cluster(reinterpret_cast<const void*>(own), rank));
}

inline void cluster_arrive() { emulation::arrive_at_cluster(); }
inline void cluster_wait() { emulation::wait_for_cluster(); }

inline void mbarrier_arrive_in_cluster(ClusterAddress barrier) {
  const emulation::ClusterPlace place = emulation::cluster_place(
      reinterpret_cast<const void*>(barrier), kMbarrierBytes, "an arrival at an mbarrier");
  place.block->mbarriers().arrive(place.offset);
  emulation::pause_at_random();
}

inline void copy_to_block(ClusterAddress to, SharedAddress from, std::uint32_t bytes,
                          ClusterAddress barrier) {
  const emulation::ClusterPlace place =
      emulation::cluster_place(reinterpret_cast<const void*>(to), bytes, "a bulk copy");
  const emulation::ClusterPlace counter = emulation::cluster_place(
      reinterpret_cast<const void*>(barrier), kMbarrierBytes, "a bulk copy's mbarrier");
  if (counter.block != place.block) {
    throw std::logic_error("a bulk copy's mbarrier is not in the block that the bytes go to");
  }
  emulation::async_block().copy_to(
      *place.block, emulation::thread_number(),
      emulation::shared_offset(reinterpret_cast<const void*>(from), bytes, "a bulk copy"),
      place.offset, bytes, counter.offset);
}

inline void load_box_of_cluster(SharedAddress to, const TensorMap& map, SharedAddress barrier,
                                std::uint16_t blocks, int column, int row, int head, int batch) {
  const std::array<std::int32_t, TensorLayout::kRank> at = {column, row, head, batch};
  for (int rank = 0; rank < 16; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    const emulation::ClusterPlace place = emulation::cluster_place(
        emulation::in_block_of_cluster(reinterpret_cast<const void*>(to), rank), map.box_bytes(),
        "a bulk load of the cluster");
    place.block->load_box(emulation::thread_number(), place.offset, map,
                          emulation::shared_offset(reinterpret_cast<const void*>(barrier),
                                                   kMbarrierBytes, "a bulk load's mbarrier"),
                          at);
  }
}

}  // namespace flashlab::cuda::ptx
