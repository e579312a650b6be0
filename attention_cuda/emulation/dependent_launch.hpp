// The rule of programmatic dependent launches: every thread waits for the previous kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace flashlab::cuda::emulation {

inline std::atomic<std::int64_t> threads_that_waited = 0;

/// griddepcontrol.wait
inline void note_wait_for_previous_kernels() { ++threads_that_waited; }

/// Runs a grid of num_threads that may start before its predecessors end. Throws std::logic_error
/// if a thread did not wait for them: on a GPU it could read what is not written yet.
template <class Run>
void run_overlapping(std::int64_t num_threads, const Run& run) {
  threads_that_waited = 0;
  run();
  if (threads_that_waited >= num_threads) return;
  throw std::logic_error(
      "the launch may start before the previous kernel ends, but griddepcontrol.wait was executed "
      "by " +
      std::to_string(threads_that_waited.load()) + " of " + std::to_string(num_threads) +
      " threads");
}

}  // namespace flashlab::cuda::emulation
