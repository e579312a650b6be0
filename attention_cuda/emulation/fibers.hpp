// A block's threads, each on a stack of its own, taking turns on one thread of the processor.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "attention_cuda/emulation/async_copies.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/vector_types.hpp"

namespace flashlab::cuda::emulation {

inline constexpr int kWarpLanes = 32, kMaxThreads = 1024;

struct Launch {
  dim3 grid, block;
  std::size_t shared_bytes;
  std::function<void()> thread;  ///< what each thread does
};

/// Runs a grid to its end. Throws std::logic_error, naming block and thread, if a block's threads
/// wait for one another for ever, if a lane skips its warp's operation, or if a check fails.
void run(const Launch& launch);

// The rest is for the thread that is running.

int lane_index();
void sync_block();

/// The block's; all bytes are 0xFF, which is NaN in every format, when the block begins.
std::span<unsigned char> shared_bytes();
/// How far into shared memory 16 bytes begin; throws if not inside, or if not at a multiple of 16.
std::size_t require_shared_16(const void* address, const char* operation);

/// Throws unless a number of bytes, a power of two, divides the address.
void require_aligned(const void* address, std::size_t bytes, const char* operation);

AsyncCopies& async_copies();
Statistics& block_statistics();

/// What the lanes brought to an operation of their warp; null for a lane that has ended or that the
/// block does not have.
template <class Data>
using Lanes = std::span<Data*, kWarpLanes>;

using CompleteWarp = void (*)(Lanes<void>);
void meet_warp(const char* operation, void* data, CompleteWarp complete);

/// Waits for the other lanes of the warp; the last one to come runs compute(Lanes<Data>), a lambda
/// without captures, for all. `operation` is what errors call it.
template <class Data, class Compute>
void warp_collective(const char* operation, Data& data, Compute) {
  static_assert(std::is_empty_v<Compute>, "any lane's lambda serves: captures would differ");
  meet_warp(operation, &data, [](Lanes<void> lanes) {
    std::array<Data*, kWarpLanes> typed;
    for (std::size_t i = 0; i < lanes.size(); ++i) typed[i] = static_cast<Data*>(lanes[i]);
    Compute{}(Lanes<Data>(typed));
  });
}

/// Throws unless all 32 lanes take part.
template <class Data>
void require_whole_warp(Lanes<Data> lanes, const char* operation) {
  for (const Data* lane : lanes) {
    if (lane == nullptr) throw std::logic_error(std::string(operation) + " without all 32 lanes");
  }
}

}  // namespace flashlab::cuda::emulation
