// Stands in for attention_cuda/ptx/warpgroup.cuh.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/fibers.hpp"

namespace flashlab::cuda::ptx {

/// Calls change(warp) once for a warp whose lanes are all here.
template <int kRegisters, class Change>
void change_registers(const char* operation, const Change& change) {
  struct None {
  } none;
  emulation::warp_collective(operation, none, [](emulation::Lanes<None> lanes) {
    emulation::require_whole_warp(lanes, "setmaxnreg");
  });
  if (emulation::lane_index() == 0) change(emulation::thread_number() / emulation::kWarpLanes);
}

template <int kRegisters>
void release_registers() {
  change_registers<kRegisters>("setmaxnreg.dec", [](int warp) {
    emulation::async_block().registers().release(warp, kRegisters);
  });
}

template <int kRegisters>
void take_registers() {
  change_registers<kRegisters>("setmaxnreg.inc", [](int warp) {
    emulation::RegisterPool& pool = emulation::async_block().registers();
    pool.request(warp, kRegisters);
    do {  // another warp may take them between the wake-up and the next turn of this one
      emulation::wait_until([&pool, warp] { return pool.missing(warp, kRegisters); },
                            [&pool, warp] { return pool.has(warp, kRegisters); });
    } while (!pool.has(warp, kRegisters));
    pool.take(warp, kRegisters);
  });
}

inline void barrier_sync(int id, int num_threads) {
  emulation::NamedBarriers& barriers = emulation::async_block().named_barriers();
  const std::uint64_t round = barriers.arrive(id, num_threads);
  emulation::wait_until([&barriers, id] { return barriers.missing(id); },
                        [&barriers, id, round] { return barriers.is_over(id, round); });
}

inline void barrier_arrive(int id, int num_threads) {
  emulation::async_block().named_barriers().arrive(id, num_threads);
}

/// Throws std::logic_error if the lanes' values differ.
inline int same_in_warp(int value) {
  emulation::warp_collective("redux", value, [](emulation::Lanes<int> lanes) {
    emulation::require_whole_warp(lanes, "redux");
    for (const int* lane : lanes) {
      if (*lane != *lanes[0]) {
        throw std::logic_error("same_in_warp: lanes have " + std::to_string(*lanes[0]) + " and " +
                               std::to_string(*lane));
      }
    }
  });
  return value;
}

/// The GPU may elect any lane; here it is the last, which kernels rarely expect.
inline bool elect_one() { return emulation::lane_index() == emulation::kWarpLanes - 1; }

}  // namespace flashlab::cuda::ptx
