// The decisions about the calls of the C interface, kept: a call with the shapes, strides, types, alignment
// and options of an earlier one needs no checks but those of its addresses.
//
// Each thread keeps its own, at most kMostPlans; a further one takes the place of all. Calls with states or
// long lists are decided each time. Devices have decisions of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "attention_cuda/detail/decision.hpp"
#include "attention_cuda/flashlab.h"

namespace flashlab::cuda {

inline constexpr std::size_t kMostPlans = 256;

/// A decided call. The views have the addresses of the call that it was made or last found for.
struct CallPlan {
  Decision decision;
  std::size_t workspace_bytes;
  std::variant<ForwardTensors, BackwardTensors> tensors;
};

/// Returns the plan of a call, valid until the thread's next call of one of these.
/// Errors  ProblemError: an unsupported shape, type, stride, length or name; null or, unless
///         options.memory_is_checked, overlapping memory; no kernel for this type on this GPU
const CallPlan& plan_of(const flashlab_forward_tensors& tensors, const flashlab_options& options);
const CallPlan& plan_of(const flashlab_backward_tensors& tensors, const flashlab_options& options);

/// Returns the number of plans that this thread has kept and that it has made, for tests.
struct PlanCounts {
  std::size_t kept;
  std::uint64_t made;
};
PlanCounts plan_counts();

}  // namespace flashlab::cuda
