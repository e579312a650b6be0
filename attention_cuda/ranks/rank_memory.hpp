// The memory of a rank besides its tensors: what arrives from other ranks, and what calls leave for the
// next one.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/ranks/rank_programs.hpp"
#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// Two tensors [batch, num_kv_heads, rows, head_dim]: K and V, or dK and dV.
struct KeyTensors {
  TensorView K, V;
};

/// Arrays in a workspace. Without memory, only their size is known.
class RankMemory {
 public:
  RankMemory(const ShardedProblem& problem, int rank, Pass pass, const RankProgram& program,
             std::size_t kernel_bytes, std::byte* memory = nullptr, bool keeps_dQ = false);

  std::size_t bytes() const { return bytes_; }
  /// Returns the tensors of a buffer for the keys of a rank; not of kOwnKeys.
  KeyTensors tensors_of(const RankBuffer& buffer, int key_rank) const;
  /// Returns those rows of the state of all queries of the rank.
  ForwardState state(const KeyRange& queries) const;
  /// Whether kernels do not sum dQ in their own workspace.
  bool has_dQ_sum() const { return has_dQ_sum_; }
  /// The sum of dQ [batch, num_heads, rows, head_dim], fp32.
  TensorView dQ_sum() const;
  /// The dQ, dK and dV of a call.
  TensorView dQ_part(const ShardCall& call) const;
  KeyTensors key_parts(const ShardCall& call) const;
  void* kernel_workspace() const { return kernel_workspace_; }

 private:
  TensorView like_Q(void* data, DataType dtype, std::int64_t rows) const;
  TensorView like_K(void* data, DataType dtype, std::int64_t rows) const;

  const ShardedProblem& problem_;
  int rank_;
  bool has_dQ_sum_;
  std::size_t bytes_ = 0;
  struct Pair {
    std::byte *first = nullptr, *second = nullptr;
  };
  std::vector<Pair> keys_, sums_;
  Pair key_parts_;
  float *m_ = nullptr, *l_ = nullptr, *O_ = nullptr, *dQ_sum_ = nullptr;
  std::byte *dQ_part_ = nullptr, *kernel_workspace_ = nullptr;
};

/// Returns rows of a tensor [batch, heads, rows, …].
TensorView rows_of(TensorView tensor, const KeyRange& rows);

}  // namespace flashlab::cuda
