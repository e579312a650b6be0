// Runs the threads of one cluster of blocks after another; most launches have clusters of one block.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention_cuda/emulation/async/async_block.hpp"
#include "attention_cuda/emulation/async_copies.hpp"
#include "attention_cuda/emulation/context.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/emulation/run_queue.hpp"

namespace flashlab::cuda::emulation {

/// Runs clusters one after another, and reuses their stacks.
class ClusterRunner {
 public:
  /// Throws std::logic_error with block and thread if the emulation detects an error in the kernel.
  void run(const Launch& launch, std::int64_t cluster_number, std::uint64_t seed);
  /// Returns statistics of the blocks since the last call.
  Statistics take_statistics();

  // For the running thread, through fibers.hpp.
  /// The runner whose thread calls it. Throws std::logic_error outside a kernel.
  static ClusterRunner& of_device_function();
  int lane() const { return thread(current_).number % kWarpLanes; }
  int thread_number() const { return thread(current_).number; }
  int rank() const { return thread(current_).rank; }
  int num_blocks() const { return num_blocks_; }
  void sync_block();
  void arrive_at_cluster();
  void wait_for_cluster();
  void meet_warp(const char* operation, void* data, CompleteWarp complete);
  /// Lets other threads run, and operations in flight advance, until the condition holds.
  void wait_until(std::function<std::string()> describe, std::function<bool()> is_ready);
  AsyncBlock& async() { return block().async; }
  /// The async state of another block, which must not have ended.
  AsyncBlock& async_of(int rank, const char* operation);
  std::span<unsigned char> shared_bytes() const { return shared_bytes_of(rank()); }
  std::span<unsigned char> shared_bytes_of(int rank) const {
    return {block(rank).shared, launch_->shared_bytes};
  }
  AsyncCopies& async_copies() { return thread(current_).copies; }
  Statistics& statistics() { return statistics_; }

 private:
  struct Thread {
    uint3 index{};
    int number = 0, rank = 0;  // in its block, and the block's in the cluster
    bool waits_at_barrier = false;
    bool is_at_cluster = false;       // has arrived at the cluster's barrier, and not waited
    std::uint64_t cluster_phase = 0;  // in which it arrived
    AsyncCopies copies;
  };
  struct Block {
    uint3 index{};
    int num_present = 0, num_at_barrier = 0;
    AsyncBlock async;
    std::vector<unsigned char> memory;
    unsigned char* shared = nullptr;
  };
  struct Warp {
    int present = 0;  // lanes that have not ended
    int waiting = 0;
    const char* operation = nullptr;
    CompleteWarp complete = nullptr;
    std::array<void*, kWarpLanes> data{};  // null: this lane is not waiting
  };

  struct Blocked {
    int thread;
    std::function<std::string()> describe;
    std::function<bool()> is_ready;
  };

  Thread& thread(int index) { return threads_[static_cast<std::size_t>(index)]; }
  const Thread& thread(int index) const { return threads_[static_cast<std::size_t>(index)]; }
  Block& block(int rank) { return *blocks_[static_cast<std::size_t>(rank)]; }
  const Block& block(int rank) const { return *blocks_[static_cast<std::size_t>(rank)]; }
  Block& block() { return block(rank()); }
  /// The number of a thread's warp in the cluster. No two blocks share one.
  std::size_t warp_of(int index) const {
    const Thread& own = thread(index);
    const int warp = own.rank * warps_per_block_ + own.number / kWarpLanes;
    return static_cast<std::size_t>(warp);
  }
  Warp& warp() { return warps_[warp_of(current_)]; }
  Context& context(int index) { return *contexts_[static_cast<std::size_t>(index)]; }

  static void enter_context();
  void prepare_block(int rank, std::int64_t number);
  void prepare_threads();
  void block_ended(Block& block);
  void release_cluster();
  bool advance_some();
  void run_thread();
  void thread_ended();
  void finish_warp();
  void release_barrier(int rank);
  template <class Predicate>
  void enqueue_lanes(std::size_t warp, Predicate is_wanted);
  /// Threads of one warp.
  void enqueue(std::span<std::uint16_t> threads);
  void choose_late_threads();
  void let_others_run();
  /// Advances operations in flight and wakes blocked threads, until one can run.
  int next_thread();
  void wake_blocked();
  void switch_to(int thread);
  [[noreturn]] void throw_stuck() const;
  [[noreturn]] void throw_failure();

  Context main_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::uint16_t> warp_order_;
  RunQueue queue_, late_queue_;  // the second is taken from where the first has none
  int first_late_ = 0, end_late_ = 0;
  std::vector<Blocked> blocked_;
  std::vector<std::unique_ptr<Block>> blocks_;  // at least those of the cluster
  Random random_{0};
  const Launch* launch_ = nullptr;
  int current_ = 0, num_blocks_ = 0, block_threads_ = 0, warps_per_block_ = 0;
  int num_present_ = 0;  // threads that have not ended
  int num_at_cluster_ = 0;
  std::uint64_t cluster_phase_ = 0;
  std::exception_ptr failure_;
  Statistics statistics_;
};

}  // namespace flashlab::cuda::emulation
