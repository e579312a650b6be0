// What a kernel's launcher gets: a checked problem, and where everything lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

struct Call {
  const AttentionProblem& problem;
  const ExecutionOptions& options;
  const std::int64_t* key_lengths;  // [batch] in device memory; null: seqlen_k everywhere
  std::byte* workspace;  // the bytes that the row asked for, 256-byte aligned; null: none asked for
};

struct ForwardCall : Call {
  const ForwardTensors& tensors;
};

struct BackwardCall : Call {
  const BackwardTensors& tensors;
};

}  // namespace flashlab::cuda
