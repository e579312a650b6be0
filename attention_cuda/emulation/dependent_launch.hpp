// The rule of programmatic dependent launches: every thread waits for the previous kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace flashlab::cuda::emulation {

/// Of the launch whose threads this processor thread runs. Ranks launch at the same time.
inline thread_local std::atomic<std::int64_t>* threads_that_waited = nullptr;

/// griddepcontrol.wait
inline void note_wait_for_previous_kernels() {
  if (threads_that_waited != nullptr) ++*threads_that_waited;
}

/// Runs a grid of num_threads that may start before its predecessors end: `run` is given the function of
/// one thread. Throws std::logic_error if a thread did not wait for them: on a GPU it could read what
/// is not written yet.
template <class Run>
void run_overlapping(std::int64_t num_threads, const std::function<void()>& thread,
                     const Run& run) {
  std::atomic<std::int64_t> waited = 0;
  run([&waited, &thread] {
    threads_that_waited = &waited;
    thread();
  });
  if (waited >= num_threads) return;
  throw std::logic_error(
      "the launch may start before the previous kernel ends, but griddepcontrol.wait was executed "
      "by " +
      std::to_string(waited.load()) + " of " + std::to_string(num_threads) + " threads");
}

}  // namespace flashlab::cuda::emulation
