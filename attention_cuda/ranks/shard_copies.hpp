// Shards of whole tensors.
#pragma once

#include "attention/problem.hpp"
#include "attention/ranks/shards.hpp"
#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// Copies a rank's rows of a whole tensor, [batch, heads, rows, …], or back. Both are row-major, in
/// memory of the current device or of the host. Enqueues the copies on the stream.
void copy_to_shard(const Shards& shards, int rank, const TensorView& whole, const TensorView& shard,
                   Stream stream);
void copy_from_shard(const Shards& shards, int rank, const TensorView& shard,
                     const TensorView& whole, Stream stream);

}  // namespace flashlab::cuda
