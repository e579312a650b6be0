// The projections before and after self-attention, for every device: Q, K, V from X,
// and the gradients.
//
//   Q = X W_Q,  K = X W_K,  V = X W_V                      head h has columns h head_dim … of W_Q
//   dX = dQ W_Q^T + dK W_K^T + dV W_V^T
//   dW_Q = X^T dQ,  dW_K = X^T dK,  dW_V = X^T dV          summed over the batch
//
// Shapes   X, dX       [batch, seqlen, d_model]
//          W_Q, dW_Q   [d_model, num_heads head_dim]
//          W_K, W_V, dW_K, dW_V  [d_model, num_kv_heads head_dim]
//          others      attention/problem.hpp, with seqlen_q = seqlen_k = seqlen
// Types    all float or all double; any strides
#pragma once

#include <cstdint>

#include "attention/problem.hpp"

namespace flashlab {

struct ProjectionTensors {
  TensorView X, W_Q, W_K, W_V;
  TensorView Q, K, V;  // overwritten
};

struct ProjectionBackwardTensors {
  TensorView X, W_Q, W_K, W_V;
  TensorView Q, K, V, O, lse, dO;   // from the forward pass
  TensorView dX, dW_Q, dW_K, dW_V;  // overwritten
};

struct ProjectionProblem {
  AttentionProblem attention;
  std::int64_t d_model = 0;
};

/// Check the tensors. Both throw ProblemError.
ProjectionProblem check_projection(const ProjectionTensors& tensors);
ProjectionProblem check_projection_backward(const ProjectionBackwardTensors& tensors,
                                            const AttentionOptions& options = {});

/// Return FLOPs, counted as in backward_flops: of Q = X W_Q, K and V; of dX and the three dW
/// from dQ, dK and dV (twice as many); of the attention backward and these together, streamed
/// row by row.
std::int64_t projection_flops(const ProjectionProblem& problem);
std::int64_t projection_gradient_flops(const ProjectionProblem& problem);
std::int64_t streamed_backward_flops(const ProjectionProblem& problem);

}  // namespace flashlab
