// Runs the threads of a block, or of a cluster of blocks, each on its own stack, in turns on one
// processor thread.
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
inline constexpr unsigned kMostBlocksOfCluster = 8;

struct Launch {
  dim3 grid, block;
  std::size_t shared_bytes;
  std::function<void()> thread;  ///< the body of each thread
  int cluster_blocks = 1;        ///< neighbours along x that run together
};

/// Runs a grid to its end. Throws std::logic_error with block and thread if threads deadlock, if a
/// lane skips an operation of its warp, or if a check fails.
void run(const Launch& launch);

// The following functions are for the running thread.

int lane_index();
/// Returns the number of the thread in its block.
int thread_number();
void sync_block();

/// Returns the number of the block in its cluster.
int cluster_rank();
int cluster_blocks();
/// barrier.cluster: the wait returns when all threads of the cluster that have not ended have arrived.
void arrive_at_cluster();
void wait_for_cluster();
/// mapa: the address in the shared memory of another block of the cluster.
const void* in_block_of_cluster(const void* address, int rank);

/// Returns the block's shared memory. At the start all bytes are 0xFF, which is NaN
/// in every format.
std::span<unsigned char> shared_bytes();
/// Returns the offset of 16 bytes in shared memory. Throws if they are not inside, or not
/// aligned to 16.
std::size_t require_shared_16(const void* address, const char* operation);

/// Throws unless the address is a multiple of `bytes`, a power of two.
void require_aligned(const void* address, std::size_t bytes, const char* operation);

/// Returns how many bytes into shared memory the address is. Throws std::logic_error unless this
/// many bytes from there on are shared memory.
std::size_t shared_offset(const void* address, std::size_t bytes, const char* operation);

/// Lets other threads run, and operations in flight advance, until the condition holds.
/// `describe`: names what the thread waits for, in the report of a deadlock.
void wait_until(std::function<std::string()> describe, std::function<bool()> is_ready);

/// Lets other threads run, at random: those that waited for what this one has just signalled may be ahead.
void pause_at_random();

/// Waits for blocks that run on other processor threads, or have run. `describe` names what the thread
/// waits for. Throws std::logic_error if they do not get there: none does where blocks run one after
/// another, nor where nothing happens for seconds.
void wait_for_other_blocks(const std::function<bool()>& is_ready,
                           const std::function<std::string()>& describe);

/// Notes a write by an instruction, if the block uses asynchronous instructions. Throws
/// std::logic_error if one in flight uses the bytes.
void note_shared_write(const void* address, std::size_t bytes, const char* instruction);

class AsyncBlock;
AsyncBlock& async_block();

/// Bytes of shared memory of a block of the cluster.
struct ClusterPlace {
  AsyncBlock* block;
  std::size_t offset;
};
/// Throws std::logic_error if the address is in no block, or the block has ended.
ClusterPlace cluster_place(const void* address, std::size_t bytes, const char* operation);

AsyncCopies& async_copies();
Statistics& block_statistics();

/// The data of each lane in an operation of their warp; null for a lane that has ended or
/// does not exist.
template <class Data>
using Lanes = std::span<Data*, kWarpLanes>;

using CompleteWarp = void (*)(Lanes<void>);
void meet_warp(const char* operation, void* data, CompleteWarp complete);

/// Waits for the other lanes of the warp. The last one runs compute(Lanes<Data>), a lambda without
/// captures, for all. `operation` is its name in errors.
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
