#include "attention/ranks/rank_timeline.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>

namespace flashlab {
namespace {

class Timeline {
 public:
  Timeline(const ShardedProblem& problem, const std::vector<RankProgram>& programs,
           const RankCosts& costs)
      : problem_(problem), costs_(costs), ranks_(programs.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].program = &programs[rank];
  }

  RankTimes run() {
    while (true) {
      bool has_advanced = false, has_ended = true;
      for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        while (step(rank)) has_advanced = true;
        has_ended &= at(rank).next == at(rank).program->size();
      }
      if (has_ended) break;
      if (!has_advanced) throw std::logic_error("ranks wait for each other");
    }
    const auto last = std::ranges::max_element(ranks_, {}, &Rank::now);
    return {last->now, last->compute_ms, last->link_ms};
  }

 private:
  using Kind = RankOperation::Kind;

  struct Started {
    double time;
    const RankOperation* operation;
  };
  struct Rank {
    const RankProgram* program = nullptr;
    std::size_t next = 0;
    double now = 0, compute_ms = 0, link_ms = 0;
    double link_free = 0;               // when its last message has arrived
    std::vector<int> order;             // exchanges, as it started them
    std::size_t num_received = 0;       // of `order`
    std::map<int, Started> started;     // by exchange
    std::map<int, double> all_arrived;  // what it receives in an exchange
  };

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  /// Takes one operation, if it can.
  bool step(int rank) {
    Rank& self = at(rank);
    if (self.next == self.program->size()) return false;
    const RankOperation& operation = (*self.program)[self.next];
    if (operation.kind == Kind::kStart) {
      self.started[operation.exchange] = {self.now, &operation};
      self.order.push_back(operation.exchange);
    } else if (operation.kind == Kind::kWait) {
      const std::optional<double> end = end_of(rank, operation.exchange);
      if (!end) return false;
      self.now = std::max(self.now, *end);
    } else {
      const double ms = costs_.compute_ms(operation);
      self.now += ms;
      self.compute_ms += ms;
    }
    ++self.next;
    return true;
  }

  /// When all messages of a rank's exchange have arrived; nothing: not known yet.
  std::optional<double> end_of(int rank, int exchange) {
    const std::optional<double> own = arrival(rank, exchange);
    if (!own) return std::nullopt;
    double end = *own;
    for (const RankTransfer& transfer : at(rank).started.at(exchange).operation->transfers) {
      if (!transfer.is_sent) continue;
      const std::optional<double> there = arrival(transfer.peer, exchange);
      if (!there) return std::nullopt;
      end = std::max(end, *there);
    }
    return end;
  }

  /// When what a rank receives in an exchange has arrived.
  std::optional<double> arrival(int rank, int exchange) {
    Rank& self = at(rank);
    while (!self.all_arrived.contains(exchange)) {
      if (self.num_received == self.order.size()) return std::nullopt;
      const int next = self.order[self.num_received];
      double end = std::max(self.link_free, self.started.at(next).time), link_ms = 0;
      for (const RankTransfer& transfer : self.started.at(next).operation->transfers) {
        if (transfer.is_sent) continue;
        const auto sent = at(transfer.peer).started.find(next);
        if (sent == at(transfer.peer).started.end()) return std::nullopt;
        const bool are_sums = transfer.buffer.kind == RankBuffer::Kind::kSums;
        const std::int64_t element_bytes = are_sums ? 4 : size_in_bytes(problem_.whole.dtype);
        const double ms = costs_.link_ms(element_bytes * transferred_elements(problem_, transfer));
        end = std::max(end, sent->second.time) + ms;
        link_ms += ms;
      }
      self.link_ms += link_ms;
      self.link_free = end;
      self.all_arrived[next] = end;
      ++self.num_received;
    }
    return self.all_arrived.at(exchange);
  }

  const ShardedProblem& problem_;
  const RankCosts& costs_;
  std::vector<Rank> ranks_;
};

}  // namespace

RankTimes rank_times(const ShardedProblem& problem, const std::vector<RankProgram>& programs,
                     const RankCosts& costs) {
  return Timeline(problem, programs, costs).run();
}

}  // namespace flashlab
