// The twin of a communicator, for tests: ranks are threads, and everything that a transfer may do on
// several GPUs happens here at random.
//
// Time     a message leaves when it is started or as late as its sender's wait, and arrives as late as
//          its receiver's wait, after a delay. Received memory is NaN until then
// Order    the messages of one pair of ranks arrive in order, those of different pairs in any order
// End      a rank whose communicator is destroyed is dead: others that wait for it throw RankFailure
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda::emulation {

class DelayedGroup {
 public:
  /// The seed determines when messages leave, their delays and their order.
  DelayedGroup(int num_ranks, std::uint64_t seed, std::chrono::milliseconds timeout);
  ~DelayedGroup();
  DelayedGroup(const DelayedGroup&) = delete;
  DelayedGroup& operator=(const DelayedGroup&) = delete;

  /// Returns a rank's communicator, for the rank's thread.
  std::unique_ptr<Communicator> join(int rank);

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
  std::uint64_t seed_;
};

}  // namespace flashlab::cuda::emulation
