// Packed sequences on the device: their bounds, and the tables of what each query and each key sees.
// So kernels treat them as one sequence whose ranges are read instead of computed.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/call.hpp"
#include "attention_cuda/detail/workspace.hpp"

namespace flashlab::cuda {

inline bool is_packed(const AttentionProblem& problem, const ExecutionOptions& execution) {
  return problem.is_packed() || execution.device_cu_seqlens_q != nullptr;
}

/// Arrays in the workspace. Bounds are null if the caller has them in device memory.
struct PackedArrays {
  std::int64_t *cu_seqlens_q = nullptr, *cu_seqlens_k = nullptr;  // [num_sequences + 1]
  IndexRange *of_queries = nullptr, *of_keys = nullptr;           // [seqlen_q], [seqlen_k]
};

PackedArrays take_packed_arrays(Workspace& workspace, const AttentionProblem& problem,
                                const ExecutionOptions& execution);

/// Stores the bounds, unless the caller has them on the device, and fills the tables.
VisibleRanges store_visible_ranges(const Call& call, const PackedArrays& arrays);

}  // namespace flashlab::cuda
