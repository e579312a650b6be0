// Runs the threads of one block after the other's; what fibers.hpp offers a running thread.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "attention_cuda/emulation/async_copies.hpp"
#include "attention_cuda/emulation/context.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/emulation/run_queue.hpp"

namespace flashlab::cuda::emulation {

/// Runs blocks, one after the other, and keeps their stacks in between.
class BlockRunner {
 public:
  /// Throws std::logic_error, which names block and thread, if the kernel makes an error.
  void run(const Launch& launch, std::int64_t block_number, std::uint64_t seed);
  /// What the blocks did since the last call.
  Statistics take_statistics();

  // For the thread that is running.
  int lane() const { return current_ % kWarpLanes; }
  void sync_block();
  void meet_warp(const char* operation, void* data, CompleteWarp complete);
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
    std::array<void*, kWarpLanes> data{};  // null: this lane does not wait
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
  void switch_to(int thread);
  [[noreturn]] void throw_stuck() const;
  [[noreturn]] void throw_failure();

  Context main_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::uint16_t> warp_order_;
  RunQueue queue_;
  Random random_{0};
  const Launch* launch_ = nullptr;
  int current_ = 0, num_threads_ = 0, num_present_ = 0, num_at_barrier_ = 0;
  std::exception_ptr failure_;
  std::vector<unsigned char> shared_memory_;
  unsigned char* shared_ = nullptr;
  Statistics statistics_;
};

}  // namespace flashlab::cuda::emulation
