// Stands in for attention_cuda/ptx/stmatrix.cuh. Throws if a row does not lie in shared memory or
// is not aligned.
#pragma once

#include <cstdint>
#include <cstring>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda::ptx {

inline void store_matrices(SharedAddress row, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                           std::uint32_t d) {
  struct Lane {
    SharedAddress row;
    std::uint32_t values[4];
  } own{row, {a, b, c, d}};
  emulation::require_shared_16(reinterpret_cast<const void*>(row), "stmatrix");
  emulation::warp_collective("stmatrix", own, [](emulation::Lanes<Lane> lanes) {
    emulation::require_whole_warp(lanes, "stmatrix");
    const int first_thread =
        emulation::thread_number() / emulation::kWarpLanes * emulation::kWarpLanes;
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      for (std::size_t matrix = 0; matrix < 4; ++matrix) {
        // Lane l holds two elements of row l / 4 of each matrix.
        const SharedAddress to = lanes[8 * matrix + l / 4]->row + 4 * (l % 4);
        const auto* const place = reinterpret_cast<const void*>(to);
        const std::size_t at = emulation::shared_offset(place, 4, "stmatrix");
        emulation::async_block().wrote_shared(first_thread + static_cast<int>(l), {at, at + 4},
                                              "stmatrix");
        std::memcpy(reinterpret_cast<void*>(to), &lanes[l]->values[matrix], 4);
      }
    }
  });
}

}  // namespace flashlab::cuda::ptx
