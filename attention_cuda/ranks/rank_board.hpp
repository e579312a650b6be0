// What the ranks of one process know of each other: who waits for whom, and who has failed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {

/// Shared by the threads of all ranks.
class RankBoard {
 public:
  RankBoard(int num_ranks, std::chrono::milliseconds timeout);

  int num_ranks() const { return static_cast<int>(ranks_.size()); }

  /// Blocks `rank` until `is_ready()`, which needs `peer` to do something. Throws RankFailure if a rank
  /// has failed, if the peer has left, or after the timeout. Then the rank at the end of the chain of
  /// those that wait for each other has failed: all others throw the same.
  /// `what`: "take part in exchange 3". Calls is_ready under the board's lock.
  template <class IsReady>
  void wait(int rank, int peer, const std::string& what, const IsReady& is_ready) {
    std::unique_lock lock(mutex_);
    const auto end = std::chrono::steady_clock::now() + timeout_;
    at(rank).waits_for = peer;
    while (!is_ready()) {
      throw_failure();
      if (at(peer).has_left) fail(peer, "it ended and did not " + what);
      if (changed_.wait_until(lock, end) == std::cv_status::timeout && !is_ready()) {
        throw_failure();
        fail(last_of_chain(peer), "it did not " + what + " within " + timeout_text());
      }
    }
    at(rank).waits_for = -1;
  }
  /// Calls `change` under the board's lock and wakes those that wait.
  template <class Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  void abort(int rank, const std::string& reason) noexcept;
  /// The rank has ended. Whoever waits for it, or will, throws RankFailure.
  void leave(int rank) noexcept;
  std::vector<std::string> gather(int rank, const std::string& own);

 private:
  struct Rank {
    int waits_for = -1;
    bool has_left = false;
    int num_gathered = 0;
  };

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void throw_failure() const {
    if (failed_rank_ >= 0) throw RankFailure(failed_rank_, reason_);
  }
  [[noreturn]] void fail(int rank, const std::string& reason);
  /// Returns the rank that a rank waits for, or that one waits for, and so on.
  int last_of_chain(int rank);
  std::string timeout_text() const;

  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  int failed_rank_ = -1;  // the first; -1: none
  std::string reason_;
  std::map<std::pair<int, int>, std::string> gathered_;  // by rank and its number of gathers
};

}  // namespace flashlab::cuda
