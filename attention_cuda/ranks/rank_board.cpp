#include "attention_cuda/ranks/rank_board.hpp"

#include <set>
#include <utility>

namespace flashlab::cuda {

RankBoard::RankBoard(int num_ranks, std::chrono::milliseconds timeout, BoardNews news)
    : timeout_(timeout), news_(std::move(news)), ranks_(static_cast<std::size_t>(num_ranks)) {}

void RankBoard::note_failure(int rank, const std::string& reason) {
  reason_ = reason;
  failed_rank_ = rank;
  if (stop_flag_) stop_flag_->raise();
  if (news_.failed) news_.failed(rank, reason);
}

void RankBoard::fail(int rank, const std::string& reason) {
  note_failure(rank, reason);
  changed_.notify_all();
  throw RankFailure(rank, reason);
}

const int* RankBoard::stop_flag() {
  const std::lock_guard lock(mutex_);
  if (!stop_flag_) {
    stop_flag_.emplace();
    if (failed_rank_ >= 0) stop_flag_->raise();
  }
  return stop_flag_->on_device();
}

bool RankBoard::abort(int rank, const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (failed_rank_ >= 0) return false;
    note_failure(rank, reason);
  } catch (...) {  // no memory for the reason: the others end by the timeout
    return false;
  }
  changed_.notify_all();
  return true;
}

void RankBoard::leave(int rank) noexcept {
  const std::lock_guard lock(mutex_);
  at(rank).has_left = true;
  changed_.notify_all();
}

int RankBoard::last_of_chain(int rank) {
  std::set<int> seen;
  while (at(rank).waits_for >= 0 && seen.insert(rank).second) rank = at(rank).waits_for;
  return rank;
}

std::string RankBoard::timeout_text() const {
  const auto ms = timeout_.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::vector<std::string> RankBoard::gather(int rank, const std::string& own) {
  int number = 0;
  change([&] {
    number = at(rank).num_gathered++;
    gathered_[{rank, number}] = own;
  });
  std::vector<std::string> result;
  for (int peer = 0; peer < num_ranks(); ++peer) {
    wait(rank, peer, "say what it computes", [&] {
      const auto found = gathered_.find({peer, number});
      if (found == gathered_.end()) return false;
      result.push_back(found->second);
      return true;
    });
  }
  // All ranks are in this gather, so all have read the one before.
  change([&] { gathered_.erase({rank, number - 1}); });
  return result;
}

}  // namespace flashlab::cuda
