// The ranks that work for a command: threads of this process with a GPU each, or this process as one of
// several that a launcher has started.
#pragma once

#include <functional>

#include "attention/ranks/rank_process.hpp"
#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {

/// Calls `work` for each rank of this process, on its GPU: in a thread for each of the first num_ranks
/// GPUs; or, with options.process, once. Then the group lasts as long as the process; if a rank fails
/// and this GPU keeps waiting for it, the process ends 10 s later with the reason and code 1.
/// Rethrows the error of the rank that failed first by itself. Throws ProblemError: fewer GPUs; another
/// number of ranks than that of the launcher.
void on_each_rank(int num_ranks, const RankOptions& options,
                  const std::function<void(Communicator&)>& work);

/// Makes the GPU of this process's rank the current one, if it is one of several.
void use_gpu_of(const RankOptions& options);

}  // namespace flashlab::cuda
