// The projections of self-attention, forward and backward, on all cores.
#pragma once

#include <string_view>

#include "attention/projections.hpp"
#include "attention_cpu/attention.hpp"

namespace flashlab::cpu {

/// Computes Q = X W_Q, K = X W_K, V = X W_V: the inputs of attention_forward.
///
/// Tensors  see attention/projections.hpp; float or double
/// Errors   ProblemError; std::bad_alloc with the size
/// Bits     reproducible for an instruction set, with any num_threads
/// Cost     projection_flops(problem); no workspace, except for tensors without a unit stride
Execution project(const ProjectionTensors& tensors, const ExecutionOptions& execution = {});

/// Computes dX, dW_Q, dW_K, dW_V in two steps: dQ, dK and dV by a backward variant, then products.
/// Frameworks do the same; it is the fast way.
///
/// Tensors  see attention/projections.hpp; num_kv_heads may be smaller than num_heads
/// Errors   as for project; an unknown variant, or one that is not a backward variant
/// Bits     as for the variant
/// Cost     backward_flops + projection_gradient_flops(problem); workspace: dQ, dK, dV, that is
///          batch seqlen head_dim (num_heads + 2 num_kv_heads) elements, and the variant's
Execution project_backward(std::string_view variant, const ProjectionBackwardTensors& tensors,
                           const AttentionOptions& options = {},
                           const ExecutionOptions& execution = {});

/// Does the same, streamed: uses dQ, dK and dV one tile at a time and never stores them whole.
///
/// Bits     reproducible for a num_threads and an instruction set
/// Cost     streamed_backward_flops(problem); workspace: num_threads tiles of 64 queries, each
///          8192 + 64 (2 + head_dim + 4 d_model) elements, for any seqlen
/// Source   toy-model notes: intermediates that only feed a sum need not exist
Execution project_backward_streamed(const ProjectionBackwardTensors& tensors,
                                    const AttentionOptions& options = {},
                                    const ExecutionOptions& execution = {});

}  // namespace flashlab::cpu
