// Makes sure that all ranks compute the same, before any of them launches a kernel.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attention/ranks/shards.hpp"
#include "attention_cuda/ranks/communicator.hpp"

namespace flashlab::cuda {

/// Names and values of what all ranks must agree on, in the order in which they are compared.
using CallFacts = std::vector<std::pair<std::string, std::string>>;

CallFacts facts_of(std::string_view variant, const ShardedProblem& problem,
                   const ExecutionOptions& execution);

/// Collective. `make_facts` checks this rank's call and returns its facts; if it throws, all ranks
/// throw. Throws ProblemError: "rank 2's head_dim: 64: expected 128, as on rank 0"; or the reason for
/// which a rank's own call was refused.
void agree(Communicator& communicator, const std::function<CallFacts()>& make_facts);

}  // namespace flashlab::cuda
