// Runs a variant on the caller's tensors: checks, conversion, choice of the build.
#include "attention_cpu/attention.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "attention_cpu/detail/dispatch.hpp"
#include "attention_cpu/detail/kernels.hpp"
#include "attention_cpu/detail/prepare.hpp"

namespace flashlab::cpu {
namespace {

using namespace detail;

const KernelRow& find_row(const KernelTable& kernels, std::string_view variant, Pass pass) {
  const VariantInfo& info = find_variant(variant);
  if (info.pass != pass) {
    throw ProblemError("variant", variant, "a " + std::string(to_string(pass)) + " variant");
  }
  const KernelRow* const end = kernels.rows + kernels.num_rows;
  const KernelRow* const row = std::find_if(
      kernels.rows, end, [&](const KernelRow& candidate) { return candidate.variant == variant; });
  if (row == end) throw ProblemError("variant", variant, "a variant that runs on the CPU");
  return *row;
}

template <class Element>
Execution forward(const KernelRow& row, const AttentionProblem& problem,
                  const ForwardTensors& tensors, const ExecutionOptions& options) {
  Workspace workspace;
  Progress progress(options);
  const Preparation prepare{workspace, kernels_for(options.instruction_set), threads_of(options)};
  ForwardCall<Element> call;
  static_cast<Sizes&>(call) = sizes_of(problem, prepare.num_threads);
  call.Q = prepare.input<Element>(tensors.Q);
  call.K = prepare.input<Element>(tensors.K);
  call.V = prepare.input<Element>(tensors.V);
  call.O = prepare.output<Element>(tensors.O);
  call.lse = prepare.statistics<Element>(tensors.lse, problem);
  call.workspace = &workspace;
  call.progress = &progress;
  if constexpr (std::is_same_v<Element, float>) {
    row.forward_float(call);
  } else {
    row.forward_double(call);
  }
  prepare.write_back(call.O, tensors.O);
  return finish(workspace, options, call.num_threads);
}

template <class Element>
Execution backward(const KernelRow& row, const AttentionProblem& problem,
                   const BackwardTensors& tensors, const ExecutionOptions& options) {
  Workspace workspace;
  Progress progress(options);
  const Preparation prepare{workspace, kernels_for(options.instruction_set), threads_of(options)};
  BackwardCall<Element> call;
  static_cast<Sizes&>(call) = sizes_of(problem, prepare.num_threads);
  call.Q = prepare.input<Element>(tensors.Q);
  call.K = prepare.input<Element>(tensors.K);
  call.V = prepare.input<Element>(tensors.V);
  call.O = prepare.input<Element>(tensors.O);
  call.dO = prepare.input<Element>(tensors.dO);
  call.lse = prepare.const_statistics<Element>(tensors.lse);
  call.dQ = prepare.output<Element>(tensors.dQ);
  call.dK = prepare.output<Element>(tensors.dK);
  call.dV = prepare.output<Element>(tensors.dV);
  call.workspace = &workspace;
  call.progress = &progress;
  if constexpr (std::is_same_v<Element, float>) {
    row.backward_float(call);
  } else {
    row.backward_double(call);
  }
  prepare.write_back(call.dQ, tensors.dQ);
  prepare.write_back(call.dK, tensors.dK);
  prepare.write_back(call.dV, tensors.dV);
  return finish(workspace, options, call.num_threads);
}

}  // namespace

Execution attention_forward(std::string_view variant, const ForwardTensors& tensors,
                            const AttentionOptions& options, const ExecutionOptions& execution) {
  const KernelRow& row = find_row(kernels_for(execution.instruction_set), variant, Pass::kForward);
  const AttentionProblem problem = check_forward(tensors, options);
  return problem.dtype == DataType::kFloat64 ? forward<double>(row, problem, tensors, execution)
                                             : forward<float>(row, problem, tensors, execution);
}

Execution attention_backward(std::string_view variant, const BackwardTensors& tensors,
                             const AttentionOptions& options, const ExecutionOptions& execution) {
  const KernelRow& row = find_row(kernels_for(execution.instruction_set), variant, Pass::kBackward);
  const AttentionProblem problem = check_backward(tensors, options);
  return problem.dtype == DataType::kFloat64 ? backward<double>(row, problem, tensors, execution)
                                             : backward<float>(row, problem, tensors, execution);
}

}  // namespace flashlab::cpu
