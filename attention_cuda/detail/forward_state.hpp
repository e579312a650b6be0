// The checks of the tensors of a ForwardState.
#pragma once

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// Throws ProblemError: shapes, types, memory; a state_out that overlaps another tensor, or state_in
/// other than with the same tensor.
void check_states(const AttentionProblem& problem, const ForwardTensors& tensors,
                  const ExecutionOptions& execution);

}  // namespace flashlab::cuda
