#include "attention_cuda/ranks/rank_memory.hpp"

#include <algorithm>

#include "attention_cuda/detail/workspace.hpp"

namespace flashlab::cuda {
namespace {

bool has_states(const RankProgram& program) {
  return std::ranges::any_of(program, [](const RankOperation& operation) {
    return operation.has_state_in || operation.has_state_out;
  });
}

}  // namespace

RankMemory::RankMemory(const ShardedProblem& problem, int rank, Pass pass,
                       const RankProgram& program, std::size_t kernel_bytes, std::byte* memory,
                       bool keeps_dQ)
    : problem_(problem), rank_(rank), has_dQ_sum_(!keeps_dQ) {
  const AttentionProblem& whole = problem.whole;
  Workspace workspace(memory);
  const std::int64_t query_rows = whole.batch * whole.num_heads * problem.query_rows(rank),
                     queries = query_rows * whole.head_dim,
                     keys = whole.batch * whole.num_kv_heads * whole.head_dim *
                            problem.shards.most_rows(whole.seqlen_k),
                     element_bytes = size_in_bytes(whole.dtype);
  const auto take_pairs = [&](std::vector<Pair>& pairs, int count, std::int64_t bytes) {
    for (int k = 0; k < count; ++k) {
      std::byte* const first = workspace.take<std::byte>(bytes);
      pairs.push_back({first, workspace.take<std::byte>(bytes)});
    }
  };
  take_pairs(keys_, num_buffers(program, RankBuffer::Kind::kKeys), keys * element_bytes);
  take_pairs(sums_, num_buffers(program, RankBuffer::Kind::kSums), keys * 4);
  if (pass == Pass::kBackward) {
    if (has_dQ_sum_) {
      dQ_sum_ = workspace.take<float>(queries);
      dQ_part_ = workspace.take<std::byte>(queries * element_bytes);
    }
    key_parts_.first = workspace.take<std::byte>(keys * element_bytes);
    key_parts_.second = workspace.take<std::byte>(keys * element_bytes);
  } else if (has_states(program)) {
    m_ = workspace.take<float>(query_rows);
    l_ = workspace.take<float>(query_rows);
    O_ = workspace.take<float>(queries);
  }
  if (kernel_bytes > 0) {
    kernel_workspace_ = workspace.take<std::byte>(static_cast<std::int64_t>(kernel_bytes));
  }
  bytes_ = workspace.bytes();
}

TensorView RankMemory::like_Q(void* data, DataType dtype, std::int64_t rows) const {
  const AttentionProblem& whole = problem_.whole;
  const std::vector<std::int64_t> shape = {whole.batch, whole.num_heads, rows, whole.head_dim};
  return {data, dtype, shape, row_major(shape)};
}

TensorView RankMemory::like_K(void* data, DataType dtype, std::int64_t rows) const {
  const AttentionProblem& whole = problem_.whole;
  const std::vector<std::int64_t> shape = {whole.batch, whole.num_kv_heads, rows, whole.head_dim};
  return {data, dtype, shape, row_major(shape)};
}

KeyTensors RankMemory::tensors_of(const RankBuffer& buffer, int key_rank) const {
  const bool are_sums = buffer.kind == RankBuffer::Kind::kSums;
  const Pair& memory = (are_sums ? sums_ : keys_)[static_cast<std::size_t>(buffer.number)];
  const DataType dtype = are_sums ? DataType::kFloat32 : problem_.whole.dtype;
  const std::int64_t rows = problem_.key_rows(key_rank);
  return {like_K(memory.first, dtype, rows), like_K(memory.second, dtype, rows)};
}

ForwardState RankMemory::state(const KeyRange& queries) const {
  const AttentionProblem& whole = problem_.whole;
  const std::int64_t rows = problem_.query_rows(rank_);
  const std::vector<std::int64_t> shape = {whole.batch, whole.num_heads, rows};
  return {rows_of(view(m_, shape), queries), rows_of(view(l_, shape), queries),
          rows_of(like_Q(O_, DataType::kFloat32, rows), queries)};
}

TensorView RankMemory::dQ_sum() const {
  return like_Q(dQ_sum_, DataType::kFloat32, problem_.query_rows(rank_));
}

TensorView RankMemory::dQ_part(const ShardCall& call) const {
  return like_Q(dQ_part_, problem_.whole.dtype, call.queries.count());
}

KeyTensors RankMemory::key_parts(const ShardCall& call) const {
  const DataType dtype = problem_.whole.dtype;
  return {like_K(key_parts_.first, dtype, call.keys.count()),
          like_K(key_parts_.second, dtype, call.keys.count())};
}

TensorView rows_of(TensorView tensor, const KeyRange& rows) {
  if (tensor.empty()) return tensor;
  if (tensor.data != nullptr) {
    tensor.data = static_cast<std::byte*>(tensor.data) +
                  rows.first * tensor.strides[2] * size_in_bytes(tensor.dtype);
  }
  tensor.shape[2] = rows.count();
  return tensor;
}

}  // namespace flashlab::cuda
