// The projections round self-attention, forward and backward, on all cores.
#pragma once

#include <string_view>

#include "attention/projections.hpp"
#include "attention_cpu/attention.hpp"

namespace flashlab::cpu {

/// Q = X W_Q, K = X W_K, V = X W_V: what attention_forward takes.
///
/// Tensors  as attention/projections.hpp has them; float or double
/// Errors   ProblemError; std::bad_alloc says how much
/// Bits     the same for an instruction set, whatever num_threads is
/// Cost     projection_flops(problem); no workspace, but for tensors without a unit stride
Execution project(const ProjectionTensors& tensors, const ExecutionOptions& execution = {});

/// dX, dW_Q, dW_K, dW_V in two steps: dQ, dK and dV by a backward variant, then products. What a
/// framework does, and the fast way.
///
/// Tensors  as attention/projections.hpp has them; num_kv_heads may be smaller than num_heads
/// Errors   as project; a variant that is unknown or not a backward one
/// Bits     as the variant's
/// Cost     backward_flops + projection_gradient_flops(problem); workspace: dQ, dK, dV, that is
///          batch seqlen head_dim (num_heads + 2 num_kv_heads) elements, and the variant's
Execution project_backward(std::string_view variant, const ProjectionBackwardTensors& tensors,
                           const AttentionOptions& options = {},
                           const ExecutionOptions& execution = {});

/// The same, streamed: dQ, dK and dV are used a tile at a time and never whole.
///
/// Bits     the same for a given num_threads and instruction set
/// Cost     streamed_backward_flops(problem); workspace: num_threads tiles of 64 queries, each
///          8192 + 64 (2 + head_dim + 4 d_model) elements, whatever seqlen is
/// Source   toy-model notes: intermediates that only feed a sum need not exist
Execution project_backward_streamed(const ProjectionBackwardTensors& tensors,
                                    const AttentionOptions& options = {},
                                    const ExecutionOptions& execution = {});

}  // namespace flashlab::cpu
