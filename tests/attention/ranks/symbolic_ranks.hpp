// Runs the programs of all ranks with sets of names in place of tensors: who attended to which keys,
// and whose parts are in a sum.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attention/ranks/rank_programs.hpp"

namespace flashlab::test {

/// Throws std::runtime_error: ranks that wait for each other, transfers that do not fit, a buffer that
/// is used while it is transferred or holds something else than the program says.
class SymbolicRanks {
 public:
  /// A call by its rank, the rank of its keys, and its first query and key.
  using CallName = std::tuple<int, int, std::int64_t, std::int64_t>;

  SymbolicRanks(const ShardedProblem& problem, const std::vector<RankProgram>& programs)
      : problem_(problem), ranks_(programs.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].program = &programs[rank];
    while (!all_ended()) {
      bool advanced = false;
      for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
        while (step(rank)) advanced = true;
      }
      if (!advanced) throw std::runtime_error("ranks wait for each other");
    }
    for (const Rank& rank : ranks_) {
      if (!rank.in_flight.empty()) throw std::runtime_error("an exchange is never waited for");
    }
  }

  /// The calls of kAttend, of all ranks.
  const std::multiset<CallName>& attended() const { return attended_; }
  /// The parts in the stored dK and dV of a rank.
  const std::multiset<CallName>& stored(int rank) const { return at(rank).stored; }
  bool has_stored(int rank) const { return at(rank).has_stored; }

 private:
  using BufferName = std::pair<int, int>;
  struct Content {
    int key_rank = -1;  // -1: nothing
    std::multiset<CallName> parts;
  };
  struct Flight {
    int exchange;
    RankTransfer transfer;
  };
  struct Rank {
    const RankProgram* program = nullptr;
    std::size_t next = 0;
    std::map<BufferName, Content> buffers;
    std::vector<Flight> in_flight;
    std::set<int> started;
    CallName last_call;
    std::multiset<CallName> stored;
    bool has_stored = false;
  };

  static BufferName name_of(const RankBuffer& buffer) {
    return {static_cast<int>(buffer.kind), buffer.number};
  }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  bool all_ended() const {
    for (const Rank& rank : ranks_) {
      if (rank.next < rank.program->size()) return false;
    }
    return true;
  }

  Content& content(int rank, const RankBuffer& buffer, bool is_written) {
    for (const Flight& flight : at(rank).in_flight) {
      if (flight.transfer.buffer == buffer && (is_written || !flight.transfer.is_sent)) {
        throw std::runtime_error("a buffer is used while it is transferred");
      }
    }
    Content& result = at(rank).buffers[name_of(buffer)];
    if (buffer.kind == RankBuffer::Kind::kOwnKeys) result.key_rank = rank;
    return result;
  }
  Content& holding(int rank, const RankBuffer& buffer, int key_rank, bool is_written) {
    Content& result = content(rank, buffer, is_written);
    if (problem_.key_rows(key_rank) == 0) result = {key_rank, {}};  // nothing was sent
    if (result.key_rank != key_rank) throw std::runtime_error("a buffer holds another rank's data");
    return result;
  }

  /// Finds the other side of a transfer: in the same exchange, of the same rows.
  const Flight* other_side(int rank, const Flight& flight) const {
    for (const Flight& other : at(flight.transfer.peer).in_flight) {
      if (other.exchange == flight.exchange && other.transfer.peer == rank &&
          other.transfer.is_sent != flight.transfer.is_sent &&
          other.transfer.key_rank == flight.transfer.key_rank &&
          (other.transfer.buffer.kind == RankBuffer::Kind::kSums) ==
              (flight.transfer.buffer.kind == RankBuffer::Kind::kSums)) {
        return &other;
      }
    }
    return nullptr;
  }

  /// A received buffer gets what the sender's holds. A sender has nothing to do: its buffer has not
  /// changed when the receiver looks, because it stays in flight until then.
  bool complete(int rank, int exchange) {
    std::vector<Flight> kept;
    for (const Flight& flight : at(rank).in_flight) {
      if (flight.exchange != exchange) {
        kept.push_back(flight);
      } else if (flight.transfer.is_sent) {
        if (!received_.contains({rank, exchange, flight.transfer.peer})) return false;
      } else if (!received_.contains({flight.transfer.peer, exchange, rank})) {
        if (other_side(rank, flight) == nullptr) return false;
        receive(rank, flight);
      }
    }
    at(rank).in_flight = kept;
    return true;
  }
  void receive(int rank, const Flight& flight) {
    const Flight& sent = *other_side(rank, flight);
    Content& source = at(flight.transfer.peer).buffers[name_of(sent.transfer.buffer)];
    if (sent.transfer.buffer.kind == RankBuffer::Kind::kOwnKeys) {
      source.key_rank = flight.transfer.peer;
    }
    if (source.key_rank != flight.transfer.key_rank) {
      throw std::runtime_error("a rank sends another rank's data than it says");
    }
    at(rank).buffers[name_of(flight.transfer.buffer)] = source;
    received_.insert({flight.transfer.peer, flight.exchange, rank});
  }

  bool step(int rank) {
    Rank& own = at(rank);
    // Whatever can be received is: the sender may wait for that.
    for (const int exchange : own.started) {
      for (const Flight& flight : own.in_flight) {
        if (flight.exchange == exchange && !flight.transfer.is_sent &&
            !received_.contains({flight.transfer.peer, exchange, rank}) &&
            other_side(rank, flight) != nullptr) {
          receive(rank, flight);
        }
      }
    }
    if (own.next == own.program->size()) return false;
    const RankOperation& operation = (*own.program)[own.next];
    if (operation.kind == RankOperation::Kind::kWait && !complete(rank, operation.exchange)) {
      return false;
    }
    run(rank, operation);
    ++own.next;
    return true;
  }

  void run(int rank, const RankOperation& operation) {
    using Kind = RankOperation::Kind;
    Rank& own = at(rank);
    switch (operation.kind) {
      case Kind::kStart:
        for (const RankTransfer& transfer : operation.transfers) {
          content(rank, transfer.buffer, !transfer.is_sent);
          own.in_flight.push_back({operation.exchange, transfer});
        }
        if (!own.started.insert(operation.exchange).second) {
          throw std::runtime_error("two exchanges have one number");
        }
        break;
      case Kind::kWait:
        if (!own.started.contains(operation.exchange)) {
          throw std::runtime_error("an exchange is waited for that was not started");
        }
        break;
      case Kind::kAttend:
        if (operation.call.keys.count() == 0) break;
        holding(rank, operation.buffer, operation.key_rank, false);
        own.last_call = {rank, operation.key_rank, operation.call.queries.first,
                         operation.call.keys.first};
        attended_.insert(own.last_call);
        break;
      case Kind::kClear:
        content(rank, operation.buffer, true) = {operation.key_rank, {}};
        break;
      case Kind::kAdd:
        holding(rank, operation.buffer, operation.key_rank, true).parts.insert(own.last_call);
        break;
      case Kind::kAddSums: {
        const Content added = holding(rank, operation.added, operation.key_rank, false);
        holding(rank, operation.buffer, operation.key_rank, true)
            .parts.insert(added.parts.begin(), added.parts.end());
        break;
      }
      case Kind::kStore:
        own.stored = holding(rank, operation.buffer, rank, false).parts;
        own.has_stored = true;
        break;
    }
  }

  const ShardedProblem& problem_;
  std::vector<Rank> ranks_;
  std::multiset<CallName> attended_;
  std::set<std::tuple<int, int, int>> received_;  // sender, exchange, receiver
};

}  // namespace flashlab::test
