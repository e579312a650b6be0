// Runs the projections' kernels on the caller's tensors.
#include "attention_cpu/projections.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "attention_cpu/detail/dispatch.hpp"
#include "attention_cpu/detail/prepare.hpp"

namespace flashlab::cpu {
namespace {

using namespace detail;

/// Inserts axes of size 1 before the last two, after the batch axis if there is one: [batch,
/// 1, rows, columns].
TensorView with_four_axes(const TensorView& tensor) {
  TensorView result = tensor;
  const auto at = static_cast<std::ptrdiff_t>(tensor.shape.size()) - 2;
  const auto missing = 4 - tensor.shape.size();
  result.shape.insert(result.shape.begin() + at, missing, 1);
  result.strides.insert(result.strides.begin() + at, missing, 0);
  return result;
}

/// X and the weights, or their gradients, with the kernels' axes.
struct Projected {
  TensorView X, W_Q, W_K, W_V;

  Projected(const TensorView& x, const TensorView& w_q, const TensorView& w_k,
            const TensorView& w_v)
      : X(with_four_axes(x)),
        W_Q(with_four_axes(w_q)),
        W_K(with_four_axes(w_k)),
        W_V(with_four_axes(w_v)) {}
};

/// The memory and threads of one call.
struct Frame {
  Workspace workspace;
  Progress progress;
  Preparation prepare;
  const ExecutionOptions& options;

  explicit Frame(const ExecutionOptions& execution)
      : progress(execution),
        prepare{workspace, kernels_for(execution.instruction_set), threads_of(execution)},
        options(execution) {}

  template <class Element>
  void fill(ProjectedSizes<Element>& call, const ProjectionProblem& problem,
            const Projected& inputs) {
    static_cast<Sizes&>(call) = sizes_of(problem.attention, prepare.num_threads);
    call.d_model = problem.d_model;
    call.X = prepare.input<Element>(inputs.X);
    call.W_Q = prepare.input<Element>(inputs.W_Q);
    call.W_K = prepare.input<Element>(inputs.W_K);
    call.W_V = prepare.input<Element>(inputs.W_V);
    call.workspace = &workspace;
    call.progress = &progress;
  }

  Execution finished() const { return finish(workspace, options, prepare.num_threads); }
};

/// Gives a call its dX and dW, runs the kernel, and copies results that were not written in place.
template <class Element, class Call, class Kernel>
void run_to_gradients(Frame& frame, Call& call, const ProjectionBackwardTensors& tensors,
                      const Kernel& kernel) {
  const Projected outputs(tensors.dX, tensors.dW_Q, tensors.dW_K, tensors.dW_V);
  const Preparation& prepare = frame.prepare;
  call.dX = prepare.output<Element>(outputs.X);
  call.dW_Q = prepare.output<Element>(outputs.W_Q);
  call.dW_K = prepare.output<Element>(outputs.W_K);
  call.dW_V = prepare.output<Element>(outputs.W_V);
  kernel(call);
  prepare.write_back(call.dX, outputs.X);
  prepare.write_back(call.dW_Q, outputs.W_Q);
  prepare.write_back(call.dW_K, outputs.W_K);
  prepare.write_back(call.dW_V, outputs.W_V);
}

template <class Element>
Execution run_project(const ProjectionProblem& problem, const ProjectionTensors& tensors,
                      const ExecutionOptions& execution) {
  Frame frame(execution);
  const Preparation& prepare = frame.prepare;
  ProjectionCall<Element> call;
  frame.fill(call, problem, {tensors.X, tensors.W_Q, tensors.W_K, tensors.W_V});
  call.Q = prepare.output<Element>(tensors.Q);
  call.K = prepare.output<Element>(tensors.K);
  call.V = prepare.output<Element>(tensors.V);
  if constexpr (std::is_same_v<Element, float>) {
    prepare.kernels.projections.project_float(call);
  } else {
    prepare.kernels.projections.project_double(call);
  }
  prepare.write_back(call.Q, tensors.Q);
  prepare.write_back(call.K, tensors.K);
  prepare.write_back(call.V, tensors.V);
  return frame.finished();
}

/// Maps the progress of one of a call's steps to `from` … `to`.
ExecutionOptions part_of(const ExecutionOptions& execution, double from, double to) {
  ExecutionOptions part = execution;
  if (execution.progress) {
    part.progress = [&execution, from, to](double share) {
      execution.progress(from + share * (to - from));
    };
  }
  return part;
}

template <class Element>
Execution run_two_steps(std::string_view variant, const ProjectionProblem& problem,
                        const ProjectionBackwardTensors& tensors, const AttentionOptions& options,
                        const ExecutionOptions& execution) {
  const ExecutionOptions first = part_of(execution, 0, 0.5), second = part_of(execution, 0.5, 1);
  Frame frame(second);
  const auto gradient = [&](const TensorView& like) {
    std::int64_t count = 1;
    for (const std::int64_t size : like.shape) count *= size;
    return view(frame.workspace.allocate<Element>(count), like.shape);
  };
  const TensorView dQ = gradient(tensors.Q), dK = gradient(tensors.K), dV = gradient(tensors.V);
  const Execution attention = attention_backward(
      variant, {tensors.Q, tensors.K, tensors.V, tensors.O, tensors.lse, tensors.dO, dQ, dK, dV},
      options, first);
  const std::int64_t gradient_bytes = frame.workspace.bytes();

  ProjectionGradientCall<Element> call;
  frame.fill(call, problem, {tensors.X, tensors.W_Q, tensors.W_K, tensors.W_V});
  call.dQ = frame.prepare.input<Element>(dQ);
  call.dK = frame.prepare.input<Element>(dK);
  call.dV = frame.prepare.input<Element>(dV);
  run_to_gradients<Element>(frame, call, tensors, [&](const auto& filled) {
    if constexpr (std::is_same_v<Element, float>) {
      frame.prepare.kernels.projections.gradients_float(filled);
    } else {
      frame.prepare.kernels.projections.gradients_double(filled);
    }
  });
  Execution result = frame.finished();
  // The variant frees its memory before the second step allocates its own.
  result.workspace_bytes =
      std::max(result.workspace_bytes, gradient_bytes + attention.workspace_bytes);
  return result;
}

template <class Element>
Execution run_streamed(const ProjectionProblem& problem, const ProjectionBackwardTensors& tensors,
                       const ExecutionOptions& execution) {
  Frame frame(execution);
  const Preparation& prepare = frame.prepare;
  StreamedBackwardCall<Element> call;
  frame.fill(call, problem, {tensors.X, tensors.W_Q, tensors.W_K, tensors.W_V});
  call.Q = prepare.input<Element>(tensors.Q);
  call.K = prepare.input<Element>(tensors.K);
  call.V = prepare.input<Element>(tensors.V);
  call.O = prepare.input<Element>(tensors.O);
  call.dO = prepare.input<Element>(tensors.dO);
  call.lse = prepare.const_statistics<Element>(tensors.lse);
  run_to_gradients<Element>(frame, call, tensors, [&](const auto& filled) {
    if constexpr (std::is_same_v<Element, float>) {
      prepare.kernels.projections.streamed_float(filled);
    } else {
      prepare.kernels.projections.streamed_double(filled);
    }
  });
  return frame.finished();
}

bool is_double(const ProjectionProblem& problem) {
  return problem.attention.dtype == DataType::kFloat64;
}

}  // namespace

Execution project(const ProjectionTensors& tensors, const ExecutionOptions& execution) {
  const ProjectionProblem problem = check_projection(tensors);
  return is_double(problem) ? run_project<double>(problem, tensors, execution)
                            : run_project<float>(problem, tensors, execution);
}

Execution project_backward(std::string_view variant, const ProjectionBackwardTensors& tensors,
                           const AttentionOptions& options, const ExecutionOptions& execution) {
  const ProjectionProblem problem = check_projection_backward(tensors, options);
  return is_double(problem) ? run_two_steps<double>(variant, problem, tensors, options, execution)
                            : run_two_steps<float>(variant, problem, tensors, options, execution);
}

Execution project_backward_streamed(const ProjectionBackwardTensors& tensors,
                                    const AttentionOptions& options,
                                    const ExecutionOptions& execution) {
  const ProjectionProblem problem = check_projection_backward(tensors, options);
  return is_double(problem) ? run_streamed<double>(problem, tensors, execution)
                            : run_streamed<float>(problem, tensors, execution);
}

}  // namespace flashlab::cpu
