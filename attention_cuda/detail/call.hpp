// The arguments of a kernel's launcher: a checked problem, and pointers to all data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// The indices first … end - 1.
struct IndexRange {
  int first, end;
};

/// What the queries and keys of packed sequences see, in device memory. Null: not packed.
struct VisibleRanges {
  const IndexRange* of_queries = nullptr;  // [seqlen_q]: the keys that each query sees
  const IndexRange* of_keys = nullptr;     // [seqlen_k]: the queries that see each key
};

struct Call {
  const AttentionProblem& problem;
  const ExecutionOptions& options;
  const std::int64_t* key_lengths;  // [batch] in device memory; null: seqlen_k for all
  std::byte* workspace;             // as many bytes as the row requests, 256-byte aligned; or null
  VisibleRanges ranges = {};
};

struct ForwardCall : Call {
  const ForwardTensors& tensors;
};

struct BackwardCall : Call {
  const BackwardTensors& tensors;
};

}  // namespace flashlab::cuda
