// The memory of emulated devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace flashlab::cuda::emulation {

struct Allocation {
  std::size_t bytes = 0;
  int file = -1;  // that it lies in; -1: none
};

/// Memory from cudaMalloc that was not freed.
class Allocations {
 public:
  void add(const void* memory, const Allocation& allocation) {
    const std::lock_guard lock(mutex_);
    all_[reinterpret_cast<std::uintptr_t>(memory)] = allocation;
  }
  /// Returns what was removed; 0 bytes: nothing.
  Allocation remove(const void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == all_.end()) return {};
    const Allocation removed = found->second;
    all_.erase(found);
    return removed;
  }
  /// Returns the first byte of what contains the address; null: nothing does.
  void* containing(const void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::lock_guard lock(mutex_);
    const auto after = all_.upper_bound(address);
    if (after == all_.begin()) return nullptr;
    const auto& [first, allocation] = *std::prev(after);
    if (address - first >= allocation.bytes) return nullptr;
    return const_cast<char*>(static_cast<const char*>(memory)) - (address - first);
  }
  Allocation at(const void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(reinterpret_cast<std::uintptr_t>(memory));
    return found == all_.end() ? Allocation{} : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> all_;
};
}  // namespace flashlab::cuda::emulation
