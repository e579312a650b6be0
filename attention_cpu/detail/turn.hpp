// Who may add to a shared sum next: tiles add in their order, so that the bits do not depend on
// which thread is faster, nor on how many there are.
#pragma once

#include <sched.h>

#include <cstdint>

#include "attention_cpu/detail/build.hpp"
#include "attention_cpu/detail/workspace.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

/// Tile `mine` adds when `*added` tiles have. Some thread must have begun every tile before it:
/// each of those waits only for tiles before itself, so that nothing waits for ever.
struct Turn {
  std::int64_t* added = nullptr;  // null: the sum is not shared
  std::int64_t mine = 0;
  const Progress* progress = nullptr;

  /// False when the call was cancelled, and the tile before will not come.
  bool wait() const {
    constexpr int kSpins = 1000;  // about a microsecond, then somebody else may have the core
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
