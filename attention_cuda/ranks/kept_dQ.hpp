// A rank's backward pass whose kernels sum dQ over all calls in their workspace, and round it once. The
// others round the dQ of each call, and it is added to a sum in fp32.
#pragma once

#include <string_view>

#include "attention/ranks/rank_programs.hpp"
#include "attention_cuda/attention.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

/// Returns the kernel of all calls, if it can sum dQ over them: each call has all the rank's queries, or those
/// from a multiple of kQueriesOfSums on. Null: none can. Throws ProblemError if no kernel can run a call.
const KernelRow* kernel_that_keeps_dQ(std::string_view variant, const ShardedProblem& problem,
                                      int rank, const RankProgram& program,
                                      const ExecutionOptions& execution);

/// Returns the call with all queries of the shard. The kernel leaves out the first ones
/// (ExecutionOptions::first_query), because all calls that sum together have the same tensors.
ShardCall from_first_query(ShardCall call);

}  // namespace flashlab::cuda
