// The arguments of the projections' kernels: checked, unit stride along the last axis. Plain data,
// as in call.hpp.
#pragma once

#include <cstdint>

#include "attention_cpu/detail/call.hpp"

namespace flashlab::cpu::detail {

/// X is [batch, 1, seqlen, d_model], the weights are [1, 1, d_model, heads head_dim].
template <class Element>
struct ProjectedSizes : Sizes {
  std::int64_t d_model = 0;
  Heads<const Element> X, W_Q, W_K, W_V;
  Workspace* workspace = nullptr;
  Progress* progress = nullptr;
};

template <class Element>
struct ProjectionCall : ProjectedSizes<Element> {
  Heads<Element> Q, K, V;
};

/// The second of two steps: dQ, dK and dV are inputs.
template <class Element>
struct ProjectionGradientCall : ProjectedSizes<Element> {
  Heads<const Element> dQ, dK, dV;
  Heads<Element> dX, dW_Q, dW_K, dW_V;
};

/// Both steps at once.
template <class Element>
struct StreamedBackwardCall : ProjectedSizes<Element> {
  Heads<const Element> Q, K, V, O, dO;
  Statistics<const Element> lse;
  Heads<Element> dX, dW_Q, dW_K, dW_V;
};

struct ProjectionKernels {
  void (*project_float)(const ProjectionCall<float>&);
  void (*project_double)(const ProjectionCall<double>&);
  void (*gradients_float)(const ProjectionGradientCall<float>&);
  void (*gradients_double)(const ProjectionGradientCall<double>&);
  void (*streamed_float)(const StreamedBackwardCall<float>&);
  void (*streamed_double)(const StreamedBackwardCall<double>&);
};

}  // namespace flashlab::cpu::detail
