#include "attention_cuda/emulation/async/named_barriers.hpp"

#include <algorithm>
#include <stdexcept>

namespace flashlab::cuda::emulation {
namespace {

constexpr int kThreadsOfWarp = 32, kWarpsOfGroup = 4;
constexpr int kRegistersOfBlock = 65536, kMostOfThread = 255;

}  // namespace

std::uint64_t NamedBarriers::arrive(int id, int num_threads) {
  if (id < 0 || id >= kCount) {
    throw std::logic_error("named barrier " + std::to_string(id) + "; expected 0 to 15");
  }
  if (num_threads < kThreadsOfWarp || num_threads % kThreadsOfWarp != 0) {
    throw std::logic_error("named barrier " + std::to_string(id) + " for " +
                           std::to_string(num_threads) + " threads; expected a multiple of 32");
  }
  Barrier& barrier = barriers_[static_cast<std::size_t>(id)];
  if (barrier.expected != 0 && barrier.expected != num_threads) {
    throw std::logic_error("named barrier " + std::to_string(id) + " is for " +
                           std::to_string(barrier.expected) + " threads, and one expects " +
                           std::to_string(num_threads));
  }
  barrier.expected = num_threads;
  const std::uint64_t round = barrier.round;
  if (++barrier.arrived == num_threads) {
    barrier.expected = barrier.arrived = 0;
    ++barrier.round;
  }
  return round;
}

bool NamedBarriers::is_over(int id, std::uint64_t round) const {
  return barriers_[static_cast<std::size_t>(id)].round > round;
}

std::string NamedBarriers::missing(int id) const {
  const Barrier& barrier = barriers_[static_cast<std::size_t>(id)];
  return "named barrier " + std::to_string(id) + ": " + std::to_string(barrier.arrived) + " of " +
         std::to_string(barrier.expected) + " threads have arrived";
}

void RegisterPool::begin(int num_threads) {
  const int share = std::min(kRegistersOfBlock / std::max(num_threads, 1) / 8 * 8, kMostOfThread);
  const auto num_warps =
      static_cast<std::size_t>((num_threads + kThreadsOfWarp - 1) / kThreadsOfWarp);
  share_.assign(num_warps, share);
  asked_.assign(num_warps, {});
  free_ = 0;
}

void RegisterPool::limit(int registers) {
  for (std::size_t warp = 0; warp < share_.size(); ++warp) {
    if (!asked_[warp].empty() || registers > share_[warp]) {
      throw std::logic_error("a launch with " + std::to_string(registers) +
                             " registers per thread, when warp " + std::to_string(warp) + " has " +
                             std::to_string(share_[warp]) +
                             (asked_[warp].empty() ? "" : " after a setmaxnreg"));
    }
    share_[warp] = registers;
  }
}

void RegisterPool::check(int warp, int registers, const char* operation) {
  if (registers < 24 || registers > 256 || registers % 8 != 0) {
    throw std::logic_error(std::string(operation) + " " + std::to_string(registers) +
                           "; expected a multiple of 8 from 24 to 256");
  }
  std::vector<int>& own = asked_[static_cast<std::size_t>(warp)];
  own.push_back(registers);
  const int first = warp / kWarpsOfGroup * kWarpsOfGroup;
  for (int other = first; other < std::min(first + kWarpsOfGroup, static_cast<int>(asked_.size()));
       ++other) {
    const std::vector<int>& theirs = asked_[static_cast<std::size_t>(other)];
    if (theirs.size() >= own.size() && theirs[own.size() - 1] != registers) {
      throw std::logic_error(std::string(operation) + " " + std::to_string(registers) +
                             " in warp " + std::to_string(warp) + ", and " +
                             std::to_string(theirs[own.size() - 1]) + " in warp " +
                             std::to_string(other) + " of the same warpgroup");
    }
    if (theirs.size() + 1 < own.size()) {
      throw std::logic_error(std::string(operation) + " again in warp " + std::to_string(warp) +
                             ", before warp " + std::to_string(other) +
                             " of its warpgroup executed the one before");
    }
  }
}

void RegisterPool::release(int warp, int registers) {
  check(warp, registers, "setmaxnreg.dec");
  int& share = share_[static_cast<std::size_t>(warp)];
  if (registers > share) {
    throw std::logic_error("setmaxnreg.dec " + std::to_string(registers) + " in a warp that has " +
                           std::to_string(share));
  }
  free_ += share - registers;
  share = registers;
}

void RegisterPool::request(int warp, int registers) {
  check(warp, registers, "setmaxnreg.inc");
  const int share = share_[static_cast<std::size_t>(warp)];
  if (registers < share) {
    throw std::logic_error("setmaxnreg.inc " + std::to_string(registers) + " in a warp that has " +
                           std::to_string(share));
  }
}

bool RegisterPool::has(int warp, int registers) const {
  return registers - share_[static_cast<std::size_t>(warp)] <= free_;
}

void RegisterPool::take(int warp, int registers) {
  int& share = share_[static_cast<std::size_t>(warp)];
  free_ -= registers - share;
  share = registers;
}

std::string RegisterPool::missing(int warp, int registers) const {
  return "setmaxnreg.inc " + std::to_string(registers) + " of a warp with " +
         std::to_string(share_[static_cast<std::size_t>(warp)]) + " registers, when " +
         std::to_string(free_) + " are free";
}

}  // namespace flashlab::cuda::emulation
