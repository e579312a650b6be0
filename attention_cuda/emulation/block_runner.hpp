// Runs the threads of one block after another. Implements fibers.hpp for the running thread.
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

/// Runs blocks one after another, and reuses their stacks.
class BlockRunner {
 public:
  /// Throws std::logic_error with block and thread if the emulation detects an error in the kernel.
  void run(const Launch& launch, std::int64_t block_number, std::uint64_t seed);
  /// Returns statistics of the blocks since the last call.
  Statistics take_statistics();

  // For the running thread.
  int lane() const { return current_ % kWarpLanes; }
  int thread_number() const { return current_; }
  void sync_block();
  void meet_warp(const char* operation, void* data, CompleteWarp complete);
  /// Lets other threads run, and operations in flight advance, until the condition holds.
  void wait_until(std::function<std::string()> describe, std::function<bool()> is_ready);
  AsyncBlock& async() { return async_; }
  std::span<unsigned char> shared_bytes() const { return {shared_, launch_->shared_bytes}; }
  AsyncCopies& async_copies() { return thread(current_).copies; }
  Statistics& statistics() { return statistics_; }

 private:
  struct Thread {
    uint3 index{};
    bool waits_at_barrier = false;
    AsyncCopies copies;
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
  Warp& warp() { return warps_[static_cast<std::size_t>(current_ / kWarpLanes)]; }
  Context& context(int index) { return *contexts_[static_cast<std::size_t>(index)]; }

  static void enter_context();
  void prepare_threads();
  void prepare_shared();
  void check_shared_end() const;
  void run_thread();
  void thread_ended();
  void finish_warp();
  void release_barrier();
  template <class Predicate>
  void enqueue_lanes(std::size_t warp, Predicate is_wanted);
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
  RunQueue queue_;
  std::vector<Blocked> blocked_;
  AsyncBlock async_;
  Random random_{0};
  const Launch* launch_ = nullptr;
  int current_ = 0, num_threads_ = 0, num_present_ = 0, num_at_barrier_ = 0;
  std::exception_ptr failure_;
  std::vector<unsigned char> shared_memory_;
  unsigned char* shared_ = nullptr;
  Statistics statistics_;
};

}  // namespace flashlab::cuda::emulation
