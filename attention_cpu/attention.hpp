// Attention on the CPU: all variants under their common names, on all cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "attention/variants.hpp"

namespace flashlab::cpu {

/// The builds of the kernels. By default the best one for the processor is used.
enum class InstructionSet : std::uint8_t { kBaseline, kAvx2, kAvx512 };

std::string_view to_string(InstructionSet set);

/// Returns the instruction sets that this library was built with and that this processor supports,
/// the best last. Throws std::runtime_error if there is none.
const std::vector<InstructionSet>& instruction_sets();

/// Returns the best one, or the one in the environment variable FLASHLAB_CPU=baseline|avx2|avx512.
InstructionSet best_instruction_set();

struct ExecutionOptions {
  int num_threads = 0;                           // 0: OpenMP's default
  std::function<void(double)> progress;          // gets the share done, 0 … 1; must not throw
  const std::atomic<bool>* cancelled = nullptr;  // checked between tiles; throws Cancelled
  InstructionSet instruction_set = best_instruction_set();  // a lower one for comparisons
};

/// The resources that a call used.
struct Execution {
  int num_threads = 0;
  InstructionSet instruction_set = InstructionSet::kBaseline;
  std::int64_t workspace_bytes = 0;  // maximum memory besides the caller's tensors
};

struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

/// Computes O = softmax(softmax_scale Q K^T + mask) V and, if requested, lse.
///
/// Tensors  see attention/problem.hpp; float, double, or bf16 and fp16 computed in float
/// Errors   ProblemError (also: an unknown or backward variant); std::bad_alloc with the size
/// Bits     reproducible for an instruction set and a num_threads (which matters only for split-kv)
/// Cost     forward_flops(problem), more for three-pass; workspace: see the variant's file
Execution attention_forward(std::string_view variant, const ForwardTensors& tensors,
                            const AttentionOptions& options = {},
                            const ExecutionOptions& execution = {});

/// Computes dQ, dK, dV from the results of the forward pass: P = exp(S - lse), D = rowsum(dO o O).
///
/// Bits  reproducible for an instruction set, with any num_threads
Execution attention_backward(std::string_view variant, const BackwardTensors& tensors,
                             const AttentionOptions& options = {},
                             const ExecutionOptions& execution = {});

}  // namespace flashlab::cpu
