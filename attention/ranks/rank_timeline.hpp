// How long several ranks take for their programs, if each operation takes a known time: a model in which
// a rank computes one operation after another, and receives messages one after another beside that.
#pragma once

#include <functional>
#include <vector>

#include "attention/ranks/rank_programs.hpp"

namespace flashlab {

/// All times in milliseconds.
struct RankCosts {
  /// Of an operation other than kStart and kWait.
  std::function<double(const RankOperation& operation)> compute_ms;
  /// Of a message of this length in bytes, if no other message arrives at that time.
  std::function<double(std::int64_t bytes)> link_ms;
};

/// Of the rank that ends last.
struct RankTimes {
  double total_ms = 0;
  double compute_ms = 0;  // of its operations
  double link_ms = 0;     // of the messages that it receives
  /// Time in which it waits: total - compute. Part of the link's time, or another rank's delay.
  double exposed_ms() const { return total_ms - compute_ms; }
};

/// programs: of all ranks, in their order. A message begins when both sides have started its exchange and
/// the messages before it have arrived. A rank goes on after kWait when what it receives has arrived, and
/// what it sends at its receivers. Throws std::logic_error: ranks that wait for each other.
RankTimes rank_times(const ShardedProblem& problem, const std::vector<RankProgram>& programs,
                     const RankCosts& costs);

}  // namespace flashlab
