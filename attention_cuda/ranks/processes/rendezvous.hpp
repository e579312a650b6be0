// How the processes of a group find each other: rank 0 listens, all others connect to it and say who
// they are. Once all have come, they all may go on.
//
// Errors   RankFailure, on all ranks that have come, within the time: a rank that does not come, two
//          with the same number, one that knows of another number of ranks, two on one GPU, another
//          version of flashlab, one that says it has failed. Whoever connects and says neither this nor
//          a Hello is ignored
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "attention/ranks/rank_process.hpp"
#include "attention_cuda/ranks/processes/frames.hpp"
#include "attention_cuda/ranks/processes/sockets.hpp"

namespace flashlab::cuda {

struct Meeting {
  /// Of rank 0: to each rank, none to itself. Of another rank: one, to rank 0.
  std::vector<Connection> connections;
  bool is_one_computer = false;
};

/// Blocks until all ranks have come. Throws RankFailure.
Meeting meet(const RankProcess& process, const Hello& own, std::chrono::milliseconds timeout);

/// Instead of meet(), by a rank that cannot take part: when all others have come, they end with the reason.
/// Waits a while for rank 0. Rank 0 itself has nobody to tell.
void tell_failure(const RankProcess& process, const std::string& reason,
                  std::chrono::milliseconds timeout) noexcept;

/// Returns "3 s" or "200 ms".
std::string time_text(std::chrono::milliseconds time);

}  // namespace flashlab::cuda
