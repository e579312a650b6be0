// Stands in for attention_cuda/ptx/mbarrier.cuh. A wait lets other threads run.
#pragma once

#include <cstdint>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline constexpr int kMbarrierBytes = 8;

inline std::size_t mbarrier_offset(SharedAddress barrier) {
  return emulation::shared_offset(reinterpret_cast<const void*>(barrier), kMbarrierBytes,
                                  "an mbarrier");
}

inline void mbarrier_init(SharedAddress barrier, int num_arrivals) {
  emulation::async_block().mbarriers().init(mbarrier_offset(barrier), num_arrivals,
                                            emulation::thread_number());
}

inline void fence_mbarrier_init() {
  emulation::async_block().mbarriers().fence_init(emulation::thread_number());
}

inline void mbarrier_arrive(SharedAddress barrier) {
  emulation::async_block().mbarriers().arrive(mbarrier_offset(barrier));
  emulation::pause_at_random();
}

inline void mbarrier_arrive_expect(SharedAddress barrier, std::uint32_t bytes) {
  emulation::Mbarriers& barriers = emulation::async_block().mbarriers();
  barriers.expect(mbarrier_offset(barrier), bytes);
  barriers.arrive(mbarrier_offset(barrier));
}

inline void mbarrier_wait(SharedAddress barrier, std::uint32_t parity) {
  const std::size_t at = mbarrier_offset(barrier);
  emulation::Mbarriers& barriers = emulation::async_block().mbarriers();
  if (barriers.is_complete(at, parity)) return;
  emulation::wait_until([&barriers, at] { return barriers.missing(at); },
                        [&barriers, at, parity] { return barriers.is_complete(at, parity); });
}

}  // namespace flashlab::cuda::ptx
