// Attention on the CPU: every variant under the name it has elsewhere, on all cores.
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

/// Which builds of the kernels there are; the best that the processor has is taken.
enum class InstructionSet : std::uint8_t { kBaseline, kAvx2, kAvx512 };

std::string_view to_string(InstructionSet set);

/// Those that this library was built with and this processor runs, the best last. Throws
/// std::runtime_error: none, as it was built for another processor alone.
const std::vector<InstructionSet>& instruction_sets();

/// The best of them; the environment's FLASHLAB_CPU=baseline|avx2|avx512 takes another.
InstructionSet best_instruction_set();

struct ExecutionOptions {
  int num_threads = 0;                           // 0: as many as OpenMP would take
  std::function<void(double)> progress;          // told the share done, 0 … 1; must not throw
  const std::atomic<bool>* cancelled = nullptr;  // looked at between tiles: Cancelled is thrown
  InstructionSet instruction_set = best_instruction_set();  // a lower one, for comparisons
};

/// What a call took.
struct Execution {
  int num_threads = 0;
  InstructionSet instruction_set = InstructionSet::kBaseline;
  std::int64_t workspace_bytes = 0;  // most memory held at once beside the caller's tensors
};

struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

/// O = softmax(softmax_scale Q K^T + mask) V and, if wanted, lse.
///
/// Tensors  as attention/problem.hpp has them; float, double, or bf16 and fp16 computed in float
/// Errors   ProblemError (also: an unknown variant, a backward one); std::bad_alloc says how much
/// Bits     the same every time for an instruction set and a num_threads, which matters to split-kv
/// Cost     forward_flops(problem), more for three-pass; workspace as the variant's file says
Execution attention_forward(std::string_view variant, const ForwardTensors& tensors,
                            const AttentionOptions& options = {},
                            const ExecutionOptions& execution = {});

/// dQ, dK, dV from what the forward pass left: P = exp(S - lse), D = rowsum(dO o O).
///
/// Bits  the same every time for an instruction set, whatever num_threads is
Execution attention_backward(std::string_view variant, const BackwardTensors& tensors,
                             const AttentionOptions& options = {},
                             const ExecutionOptions& execution = {});

}  // namespace flashlab::cpu
