// Orders the additions to a shared sum: tiles add in their order, so that the result depends
// neither on the speed of threads nor on their number.
#pragma once

#include <sched.h>

#include <cstdint>

#include "attention_cpu/detail/build.hpp"
#include "attention_cpu/detail/workspace.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Tile `mine` may add when `*added` tiles have added. All earlier tiles must have been started by
/// some thread. Each waits only for earlier tiles, so there is no deadlock.
struct Turn {
  std::int64_t* added = nullptr;  // null: the sum is not shared
  std::int64_t mine = 0;
  const Progress* progress = nullptr;

  /// Returns false if the call was cancelled: then the tile before never adds.
  bool wait() const {
    constexpr int kSpins = 1000;  // about a microsecond, then yields the core
    if (added == nullptr) return true;
    for (std::int64_t spins = 0; __atomic_load_n(added, __ATOMIC_ACQUIRE) != mine; ++spins) {
      if (spins < kSpins) continue;
      if (progress->cancelled()) return false;
      sched_yield();
    }
    return true;
  }

  void pass_on() const {
    if (added != nullptr) __atomic_store_n(added, mine + 1, __ATOMIC_RELEASE);
  }
};

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
