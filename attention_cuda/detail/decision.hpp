// What shapes, strides, types and options decide about a call, before any address but its alignment counts:
// the problem and the kernel. attention_forward() and attention_backward() decide and run; a caller that
// makes many equal calls decides once (detail/call_plans.hpp).
#pragma once

#include <cstddef>
#include <string_view>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

/// Returns the current device, or -1 if CUDA has none.
int device_or_none();

struct Decision {
  AttentionProblem problem;
  const KernelRow* row;
};

/// problem  of check_forward() or check_backward(), for the same tensors
/// Errors   ProblemError: no such variant, no suitable kernel
Decision decide(std::string_view variant, AttentionProblem problem, const ForwardTensors& tensors,
                const ExecutionOptions& execution);
Decision decide(std::string_view variant, AttentionProblem problem, const BackwardTensors& tensors,
                const ExecutionOptions& execution);

/// Returns the bytes that the call needs in ExecutionOptions::workspace.
std::size_t workspace_bytes(const Decision& decision, const ExecutionOptions& execution);

/// Runs the call. The tensors differ from the decision's at most in their addresses, of the same
/// alignment to 16 bytes.
/// Errors  ProblemError: host memory, workspace. CudaError
void run(const Decision& decision, const ForwardTensors& tensors,
         const ExecutionOptions& execution);
void run(const Decision& decision, const BackwardTensors& tensors,
         const ExecutionOptions& execution);

}  // namespace flashlab::cuda
