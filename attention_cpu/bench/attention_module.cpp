// attention_cpu with C functions for other languages: the benchmark beside PyTorch loads it with
// ctypes. One shared library that contains everything it needs.
//
// Shapes   attention/problem.hpp, all float, all contiguous
// Result   0, or 1 with the reason in flashlab_attention_error() (of the calling thread)
#include <array>
#include <exception>
#include <string>

#include "attention_cpu/attention.hpp"

/// The problem and the options of a call. attention_library.py has the same fields in
/// the same order.
struct FlashlabAttentionProblem {
  std::int64_t batch, num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim;
  std::int32_t is_causal;  // top left
  std::int32_t num_threads;
  const char* variant;
  const char* instruction_set;   // "best" or a name
  std::int64_t workspace_bytes;  // output: maximum memory besides the tensors
};

namespace {

using namespace flashlab;

thread_local std::string last_error;

/// Calls `work` and catches all exceptions.
template <class Work>
int guarded(const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

cpu::InstructionSet instruction_set_named(std::string_view name) {
  if (name == "best") return cpu::best_instruction_set();
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    if (to_string(set) == name) return set;
  }
  throw ProblemError("instruction_set", name,
                     "best, or one that is available: baseline, avx2, avx512");
}

using Shape = std::vector<std::int64_t>;

Shape query_shape(const FlashlabAttentionProblem& p) {
  return {p.batch, p.num_heads, p.seqlen_q, p.head_dim};
}
Shape key_shape(const FlashlabAttentionProblem& p) {
  return {p.batch, p.num_kv_heads, p.seqlen_k, p.head_dim};
}
Shape lse_shape(const FlashlabAttentionProblem& p) { return {p.batch, p.num_heads, p.seqlen_q}; }

AttentionOptions options_of(const FlashlabAttentionProblem& p) {
  AttentionOptions options;
  options.mask = p.is_causal != 0 ? Mask::kCausalTopLeft : Mask::kNone;
  return options;
}

cpu::ExecutionOptions execution_of(const FlashlabAttentionProblem& p) {
  cpu::ExecutionOptions execution;
  execution.num_threads = p.num_threads;
  execution.instruction_set = instruction_set_named(p.instruction_set);
  return execution;
}

}  // namespace

#define FLASHLAB_EXPORT __attribute__((visibility("default")))

extern "C" {

FLASHLAB_EXPORT int flashlab_attention_forward(FlashlabAttentionProblem* problem, const float* Q,
                                               const float* K, const float* V, float* O,
                                               float* lse) {
  return guarded([&] {
    const FlashlabAttentionProblem& p = *problem;
    const ForwardTensors tensors = {view(Q, query_shape(p)), view(K, key_shape(p)),
                                    view(V, key_shape(p)), view(O, query_shape(p)),
                                    view(lse, lse_shape(p))};
    problem->workspace_bytes =
        cpu::attention_forward(p.variant, tensors, options_of(p), execution_of(p)).workspace_bytes;
  });
}

FLASHLAB_EXPORT int flashlab_attention_backward(FlashlabAttentionProblem* problem, const float* Q,
                                                const float* K, const float* V, const float* O,
                                                const float* lse, const float* dO, float* dQ,
                                                float* dK, float* dV) {
  return guarded([&] {
    const FlashlabAttentionProblem& p = *problem;
    const BackwardTensors tensors = {
        view(Q, query_shape(p)),  view(K, key_shape(p)),   view(V, key_shape(p)),
        view(O, query_shape(p)),  view(lse, lse_shape(p)), view(dO, query_shape(p)),
        view(dQ, query_shape(p)), view(dK, key_shape(p)),  view(dV, key_shape(p))};
    problem->workspace_bytes =
        cpu::attention_backward(p.variant, tensors, options_of(p), execution_of(p)).workspace_bytes;
  });
}

FLASHLAB_EXPORT const char* flashlab_attention_best_instruction_set() {
  thread_local std::string name;
  if (guarded([] { name = to_string(cpu::best_instruction_set()); }) != 0) return nullptr;
  return name.c_str();
}

FLASHLAB_EXPORT const char* flashlab_attention_error() { return last_error.c_str(); }

}  // extern "C"
