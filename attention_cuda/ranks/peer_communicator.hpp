// The ranks of one process, a thread each: copy engines pull the messages from one GPU's memory to
// another's, so that transfers take nothing from the multiprocessors. Threads exchange addresses and
// events; a copy starts when both sides are on their streams.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {

class PeerGroup {
 public:
  /// devices: of each rank; several ranks may share one. timeout: for what a rank waits for another on
  /// the host. Throws ProblemError: no rank, no such GPU.
  explicit PeerGroup(const std::vector<int>& devices,
                     std::chrono::milliseconds timeout = std::chrono::seconds(30));
  ~PeerGroup();
  PeerGroup(const PeerGroup&) = delete;
  PeerGroup& operator=(const PeerGroup&) = delete;

  /// Returns a rank's communicator. Called once by the rank's thread, whose current device becomes the
  /// rank's. If it is destroyed while others wait for the rank, they throw RankFailure.
  std::unique_ptr<Communicator> join(int rank);

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace flashlab::cuda
