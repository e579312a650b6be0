// Chooses the next thread of a block among those that can run, partly at random.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace flashlab::cuda::emulation {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 32) * limit >> 32);
  }

  void shuffle(std::span<std::uint16_t> values) {
    for (auto left = static_cast<std::uint32_t>(values.size()); left > 1; --left) {
      std::swap(values[left - 1], values[below(left)]);
    }
  }

 private:
  std::uint64_t state_;
};

class RunQueue {
 public:
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }

  /// Shuffles the threads, then adds them at the front or at the back, at random: so a warp may run
  /// far ahead of the others.
  void add(std::span<std::uint16_t> threads, Random& random) {
    random.shuffle(threads);
    const auto count = static_cast<std::uint32_t>(threads.size());
    const bool are_first = random.below(2) == 0;
    if (are_first) first_ -= count;
    std::uint32_t to = are_first ? first_ : first_ + size_;
    for (const std::uint16_t thread : threads) threads_[to++ % kCapacity] = thread;
    size_ += count;
  }

  int take() {
    --size_;
    return threads_[first_++ % kCapacity];
  }

 private:
  static constexpr std::uint32_t kCapacity = 4096;  // a power of two: indices wrap around

  std::array<std::uint16_t, kCapacity> threads_;
  std::uint32_t first_ = 0, size_ = 0;
};

}  // namespace flashlab::cuda::emulation
