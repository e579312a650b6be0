// The arguments of a kernel's launcher: a checked problem, and pointers to all data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

struct Call {
  const AttentionProblem& problem;
  const ExecutionOptions& options;
  const std::int64_t* key_lengths;  // [batch] in device memory; null: seqlen_k for all
  std::byte* workspace;             // as many bytes as the row requests, 256-byte aligned; or null
};

struct ForwardCall : Call {
  const ForwardTensors& tensors;
};

struct BackwardCall : Call {
  const BackwardTensors& tensors;
};

}  // namespace flashlab::cuda
