#include "attention/projections.hpp"

#include <array>
#include <string>

#include "attention/detail/arguments.hpp"

namespace flashlab {

using namespace detail;

namespace {

constexpr const char* kInputAxes = "[batch, seqlen, d_model]";
constexpr const char* kQueryWeightAxes = "[d_model, num_heads head_dim]";
constexpr const char* kKeyWeightAxes = "[d_model, num_kv_heads head_dim]";

/// Reads the sizes from X, Q and K.
ProjectionProblem projection_sizes(const Named& X, const Named& Q, const Named& K) {
  ProjectionProblem problem;
  problem.attention = detail::sizes_of(Q, K);
  const AttentionProblem& attention = problem.attention;
  if (attention.dtype != DataType::kFloat32 && attention.dtype != DataType::kFloat64) {
    throw ProblemError(Q.name, to_string(attention.dtype), "float or double");
  }
  if (attention.seqlen_k != attention.seqlen_q) {
    throw ProblemError(K.name, "seqlen " + std::to_string(attention.seqlen_k),
                       "Q's " + std::to_string(attention.seqlen_q) + ": both are made from X");
  }
  check_rank(X, 3, kInputAxes);
  problem.d_model = X.tensor.shape[2];
  if (problem.d_model < 1) {
    throw ProblemError(X.name, "d_model " + std::to_string(problem.d_model), "at least 1");
  }
  return problem;
}

struct Projected {
  Named X, W_Q, W_K, W_V;
};

/// Checks X, W_Q, W_K, W_V, or their gradients.
void check_projected(const ProjectionProblem& problem, const Projected& tensors) {
  const AttentionProblem& attention = problem.attention;
  const auto check = [&](const Named& argument, const std::vector<std::int64_t>& shape,
                         const char* axes) {
    check_shape(argument, shape, axes);
    check_dtype(argument, attention.dtype, "Q");
    check_memory({&argument, 1});
  };
  const std::vector<std::int64_t> key_weights = {problem.d_model,
                                                 attention.num_kv_heads * attention.head_dim};
  check(tensors.X, {attention.batch, attention.seqlen_q, problem.d_model}, kInputAxes);
  check(tensors.W_Q, {problem.d_model, attention.num_heads * attention.head_dim}, kQueryWeightAxes);
  check(tensors.W_K, key_weights, kKeyWeightAxes);
  check(tensors.W_V, key_weights, kKeyWeightAxes);
}

}  // namespace

ProjectionProblem check_projection(const ProjectionTensors& tensors) {
  const Named X{"X", tensors.X}, W_Q{"W_Q", tensors.W_Q}, W_K{"W_K", tensors.W_K},
      W_V{"W_V", tensors.W_V}, Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V};
  const ProjectionProblem problem = projection_sizes(X, Q, K);
  check_attention_tensors(problem.attention, std::array{Q}, std::array{K, V}, nullptr);
  check_projected(problem, {X, W_Q, W_K, W_V});
  check_outputs(std::array{Q, K, V}, std::array{X, W_Q, W_K, W_V});
  return problem;
}

ProjectionProblem check_projection_backward(const ProjectionBackwardTensors& tensors,
                                            const AttentionOptions& options) {
  const Named X{"X", tensors.X}, W_Q{"W_Q", tensors.W_Q}, W_K{"W_K", tensors.W_K},
      W_V{"W_V", tensors.W_V}, Q{"Q", tensors.Q}, K{"K", tensors.K}, V{"V", tensors.V},
      O{"O", tensors.O}, lse{"lse", tensors.lse}, dO{"dO", tensors.dO}, dX{"dX", tensors.dX},
      dW_Q{"dW_Q", tensors.dW_Q}, dW_K{"dW_K", tensors.dW_K}, dW_V{"dW_V", tensors.dW_V};
  ProjectionProblem problem = projection_sizes(X, Q, K);
  check_attention_tensors(problem.attention, std::array{Q, O, dO}, std::array{K, V}, &lse);
  check_projected(problem, {X, W_Q, W_K, W_V});
  check_projected(problem, {dX, dW_Q, dW_K, dW_V});
  check_options(problem.attention, options);
  check_outputs(std::array{dX, dW_Q, dW_K, dW_V},
                std::array{X, W_Q, W_K, W_V, Q, K, V, O, lse, dO});
  return problem;
}

std::int64_t projection_flops(const ProjectionProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  return 2 * attention.batch * attention.seqlen_q * problem.d_model *
         (attention.num_heads + 2 * attention.num_kv_heads) * attention.head_dim;
}

std::int64_t projection_gradient_flops(const ProjectionProblem& problem) {
  return 2 * projection_flops(problem);
}

std::int64_t streamed_backward_flops(const ProjectionProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  // Per pair: q k, dO v and dS K over head_dim; dS X, P X and the two parts of dX over d_model. Per
  // row: q W_K^T, dO W_V^T, dQ W_Q^T, and its part of each dW.
  return attention.visible_pairs() * (6 * attention.head_dim + 8 * problem.d_model) +
         12 * attention.batch * attention.num_heads * attention.seqlen_q * attention.head_dim *
             problem.d_model;
}

}  // namespace flashlab
