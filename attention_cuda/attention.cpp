// Calls a kernel's launcher for the caller's tensors: checks, choice of the kernel, workspace.
#include "attention_cuda/attention.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "attention_cuda/detail/call.hpp"
#include "attention_cuda/detail/decision.hpp"
#include "attention_cuda/detail/key_lengths.hpp"
#include "attention_cuda/detail/packed_sequences.hpp"
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/registry.hpp"
#include "attention_cuda/tiles.hpp"

namespace flashlab::cuda {
namespace {

/// Key lengths and bounds of sequences in host memory are copied to the device before the kernel's
/// own workspace.
struct WorkspaceParts {
  std::int64_t* key_lengths = nullptr;
  PackedArrays packed;
  std::byte* kernel = nullptr;
  std::size_t bytes = 0;     // of all
  std::size_t required = 0;  // without what the kernel can do without
};

WorkspaceParts parts(const KernelRow& row, const AttentionProblem& problem,
                     const ExecutionOptions& execution, std::byte* memory) {
  Workspace workspace(memory);
  WorkspaceParts result;
  if (!problem.key_lengths.empty()) {
    result.key_lengths = workspace.take<std::int64_t>(problem.batch);
  }
  result.packed = take_packed_arrays(workspace, problem, execution);
  result.required = workspace.bytes();
  if (row.workspace_bytes != nullptr) {
    const std::size_t wanted = row.workspace_bytes(problem, execution);
    result.kernel = workspace.take<std::byte>(static_cast<std::int64_t>(wanted));
  }
  result.bytes = workspace.bytes();
  if (!row.works_without_workspace) result.required = result.bytes;
  return result;
}

WorkspaceParts checked_parts(const KernelRow& row, const AttentionProblem& problem,
                             const ExecutionOptions& execution) {
  const WorkspaceParts wanted = parts(row, problem, execution, nullptr);
  const std::size_t given = execution.workspace == nullptr ? 0 : execution.workspace_bytes;
  if (given < wanted.required) {
    throw ProblemError("workspace_bytes", std::to_string(execution.workspace_bytes),
                       std::to_string(wanted.bytes) + " (see workspace_bytes)");
  }
  if (wanted.bytes == 0 || given == 0) return {};
  if (reinterpret_cast<std::uintptr_t>(execution.workspace) % 256 != 0) {
    throw ProblemError("workspace", "unaligned memory", "256-byte aligned device memory");
  }
  WorkspaceParts result =
      parts(row, problem, execution, static_cast<std::byte*>(execution.workspace));
  if (given < wanted.bytes) result.kernel = nullptr;
  return result;
}

void check_in_device_memory(std::string_view name, const void* memory) {
  cudaPointerAttributes attributes = {};
  check_cuda(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  if (attributes.type == cudaMemoryTypeUnregistered || attributes.devicePointer == nullptr) {
    throw ProblemError(name, "host memory", "device memory");
  }
}

struct NamedTensor {
  std::string_view name;
  const TensorView& view;
};

void check_in_device_memory(std::initializer_list<NamedTensor> tensors) {
  for (const auto& [name, view] : tensors) {
    const bool has_elements = !view.empty() && std::ranges::find(view.shape, 0) == view.shape.end();
    if (has_elements) check_in_device_memory(name, view.data);
  }
}

void check_packed_arguments(const AttentionProblem& problem, const ExecutionOptions& execution) {
  const std::int64_t *const q = execution.device_cu_seqlens_q, *const k =
                                                                   execution.device_cu_seqlens_k;
  if (q == nullptr && k == nullptr) return;
  if (q == nullptr || k == nullptr) {
    throw ProblemError(q == nullptr ? "device_cu_seqlens_q" : "device_cu_seqlens_k", "null",
                       "device memory: the bounds of both");
  }
  if (problem.is_packed() || !problem.key_lengths.empty() ||
      execution.device_key_lengths != nullptr) {
    throw ProblemError("device_cu_seqlens_q", "given",
                       "null where cu_seqlens_q or key lengths are given");
  }
  if (problem.batch != 1) {
    throw ProblemError("device_cu_seqlens_q", "batch " + std::to_string(problem.batch),
                       "batch 1: its sequences are packed in one batch entry");
  }
  if (problem.query_offset != 0) {
    throw ProblemError("query_offset", std::to_string(problem.query_offset),
                       "0 where device_cu_seqlens_q is given");
  }
  if (execution.memory_is_checked) return;
  check_in_device_memory("device_cu_seqlens_q", q);
  check_in_device_memory("device_cu_seqlens_k", k);
}

void check_arguments(const AttentionProblem& problem, const ExecutionOptions& execution) {
  if (execution.device_key_lengths != nullptr && !problem.key_lengths.empty()) {
    throw ProblemError("device_key_lengths", "given", "null where key_lengths are given");
  }
  if (execution.device_key_lengths != nullptr && problem.is_packed()) {
    throw ProblemError("device_key_lengths", "given", "null where cu_seqlens_q are given");
  }
  const bool is_checked = execution.memory_is_checked;
  if (execution.device_key_lengths != nullptr && !is_checked) {
    check_in_device_memory("device_key_lengths", execution.device_key_lengths);
  }
  check_packed_arguments(problem, execution);
  if (execution.workspace != nullptr && !is_checked) {
    check_in_device_memory("workspace", execution.workspace);
  }
}

template <class Tensors>
Decision decide_for(std::string_view variant, Pass pass, AttentionProblem problem,
                    const ExecutionOptions& execution, const Tensors& tensors) {
  if (find_variant(variant).pass != pass) {
    throw ProblemError("variant", variant, "a " + std::string(to_string(pass)) + " variant");
  }
  const KernelRow& row =
      find_kernel_for(tensors, variant, problem, execution, compute_capability());
  return {std::move(problem), &row};
}

Call prepare(const KernelRow& row, const AttentionProblem& problem,
             const ExecutionOptions& execution) {
  check_arguments(problem, execution);
  const WorkspaceParts memory = checked_parts(row, problem, execution);
  Call call{problem, execution, execution.device_key_lengths, memory.kernel};
  if (memory.key_lengths != nullptr) {
    store_numbers(call, "store_key_lengths", problem.key_lengths, memory.key_lengths);
    call.key_lengths = memory.key_lengths;
  }
  if (is_packed(problem, execution)) call.ranges = store_visible_ranges(call, memory.packed);
  return call;
}

}  // namespace

int device_or_none() {
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess) return device;
  cudaGetLastError();  // clears the error for later calls
  return -1;
}

int compute_capability() {
  int device = 0, major = 0, minor = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  // Before this call, a thread that has not used CUDA yet (autograd's, for example) does not
  // recognise device memory.
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
             "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

std::string_view forward_variant_here(const AttentionProblem& problem,
                                      const ExecutionOptions& execution) {
  GpuLimits gpu;
  gpu.compute_capability = compute_capability();
  int device = 0, shared_bytes = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(
      cudaDeviceGetAttribute(&gpu.num_multiprocessors, cudaDevAttrMultiProcessorCount, device),
      "cudaDeviceGetAttribute");
  check_cuda(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  gpu.shared_memory_per_block_bytes = shared_bytes;
  return forward_variant(problem, execution, gpu);
}

std::size_t workspace_bytes(std::string_view variant, const AttentionProblem& problem,
                            const ExecutionOptions& execution) {
  const KernelRow& row = find_kernel(variant, problem, execution, compute_capability());
  return parts(row, problem, execution, nullptr).bytes;
}

Decision decide(std::string_view variant, AttentionProblem problem, const ForwardTensors& tensors,
                const ExecutionOptions& execution) {
  return decide_for(variant, Pass::kForward, std::move(problem), execution, tensors);
}

Decision decide(std::string_view variant, AttentionProblem problem, const BackwardTensors& tensors,
                const ExecutionOptions& execution) {
  return decide_for(variant, Pass::kBackward, std::move(problem), execution, tensors);
}

std::size_t workspace_bytes(const Decision& decision, const ExecutionOptions& execution) {
  return parts(*decision.row, decision.problem, execution, nullptr).bytes;
}

void run(const Decision& decision, const ForwardTensors& tensors,
         const ExecutionOptions& execution) {
  const AttentionProblem& problem = decision.problem;
  if (!execution.memory_is_checked) {
    check_in_device_memory({{"Q", tensors.Q},
                            {"K", tensors.K},
                            {"V", tensors.V},
                            {"O", tensors.O},
                            {"lse", tensors.lse}});
  }
  if (execution.has_state()) {
    check_states(problem, tensors, execution.state_in, execution.state_out);
    for (const ForwardState* state : {&execution.state_in, &execution.state_out}) {
      check_in_device_memory({{"state m", state->m}, {"state l", state->l}, {"state O", state->O}});
    }
  }
  decision.row->forward({prepare(*decision.row, problem, execution), tensors});
}

void run(const Decision& decision, const BackwardTensors& tensors,
         const ExecutionOptions& execution) {
  if (!execution.memory_is_checked) {
    check_in_device_memory({{"Q", tensors.Q},
                            {"K", tensors.K},
                            {"V", tensors.V},
                            {"O", tensors.O},
                            {"lse", tensors.lse},
                            {"dO", tensors.dO},
                            {"dQ", tensors.dQ},
                            {"dK", tensors.dK},
                            {"dV", tensors.dV}});
  }
  decision.row->backward({prepare(*decision.row, decision.problem, execution), tensors});
}

void attention_forward(std::string_view variant, const ForwardTensors& tensors,
                       const AttentionOptions& options, const ExecutionOptions& execution) {
  run(decide(variant, check_forward(tensors, options), tensors, execution), tensors, execution);
}

void attention_backward(std::string_view variant, const BackwardTensors& tensors,
                        const AttentionOptions& options, const ExecutionOptions& execution) {
  run(decide(variant, check_backward(tensors, options), tensors, execution), tensors, execution);
}

}  // namespace flashlab::cuda
