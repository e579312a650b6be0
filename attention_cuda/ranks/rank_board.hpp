// What ranks know of each other: who waits for whom, and who has failed. The threads of one process
// share a board; each of several processes has its own, and tells the others what happens on it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/ranks/communicator.hpp"
#include "attention_cuda/ranks/stop_flag.hpp"

namespace flashlab::cuda {

/// Between a board and other processes. Called under its lock; must not call the board.
struct BoardNews {
  std::function<void(int peer)> waits_for;  // -1: no longer
  std::function<void(int failed_rank, const std::string& reason)> failed;
  std::function<int(int rank)> suspect;  // who is to blame if this rank does not answer
};

class RankBoard {
 public:
  RankBoard(int num_ranks, std::chrono::milliseconds timeout, BoardNews news = {});

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
    bool is_known = false;
    while (!is_ready()) {
      if (!is_known && news_.waits_for) news_.waits_for(peer);
      is_known = true;
      throw_failure();
      if (at(peer).has_left) fail(peer, "it ended and did not " + what);
      if (changed_.wait_until(lock, end) == std::cv_status::timeout && !is_ready()) {
        throw_failure();
        const int last = last_of_chain(peer);
        fail(news_.suspect ? news_.suspect(last) : last,
             "it did not " + what + " within " + timeout_text());
      }
    }
    at(rank).waits_for = -1;
    if (is_known && news_.waits_for) news_.waits_for(-1);
  }
  /// Calls `change` under the board's lock and wakes those that wait.
  template <class Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  /// Throws RankFailure if a rank has failed.
  void check() {
    const std::lock_guard lock(mutex_);
    throw_failure();
  }
  /// Returns a flag that is raised once a rank has failed. Throws CudaError.
  const int* stop_flag();
  /// For a rank of another process: it waits for this peer; -1: no longer.
  void note_waits_for(int rank, int peer) {
    const std::lock_guard lock(mutex_);
    at(rank).waits_for = peer;
  }
  /// A rank has failed, unless another one had before. Returns whether it is news.
  bool abort(int rank, const std::string& reason) noexcept;
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
  void note_failure(int rank, const std::string& reason);
  /// Returns the rank that a rank waits for, or that one waits for, and so on.
  int last_of_chain(int rank);
  std::string timeout_text() const;

  const std::chrono::milliseconds timeout_;
  const BoardNews news_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  int failed_rank_ = -1;  // the first; -1: none
  std::string reason_;
  std::optional<StopFlag> stop_flag_;                    // nothing: no kernel reads one
  std::map<std::pair<int, int>, std::string> gathered_;  // by rank and its number of gathers
};

}  // namespace flashlab::cuda
