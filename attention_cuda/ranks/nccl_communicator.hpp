// Ranks that are connected by NCCL: threads of one process or processes on one or several hosts.
//
// A rank's exchanges run on a stream of their own, one after the other.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "attention_cuda/ranks/communicator.hpp"
#include "attention_cuda/ranks/nccl_library.hpp"

namespace flashlab::cuda {

/// How long a rank waits for another one before it gives up.
inline constexpr std::chrono::milliseconds kNcclTimeout = std::chrono::minutes(5);

/// Returns an id for a new group of ranks. One rank makes it and gives it to all others.
NcclId make_nccl_id();

/// Joins a group of ranks, on the current device; blocks until all have. The communicator is
/// non-blocking: if a rank does not answer in time it is aborted, and RankFailure names the rank that
/// this one waited for. Throws CudaError. `watch` is called now and then while the host waits: if it
/// throws, the communicator is aborted.
std::unique_ptr<Communicator> join_nccl(const NcclId& id, int num_ranks, int rank,
                                        std::chrono::milliseconds timeout = kNcclTimeout,
                                        std::function<void()> watch = {});

/// Uses the caller's communicator, on the current device, as long as the result lives. A failure aborts
/// it. (A blocking communicator blocks in NCCL's own functions, beyond the timeout.)
std::unique_ptr<Communicator> use_nccl(NcclComm comm,
                                       std::chrono::milliseconds timeout = kNcclTimeout);

}  // namespace flashlab::cuda
