#include "attention_cuda/ranks/kept_dQ.hpp"

namespace flashlab::cuda {
namespace {

/// The shard of a rank in row-major tensors, without memory.
BackwardTensors any_shard(const ShardedProblem& problem, int rank) {
  const AttentionProblem& whole = problem.whole;
  const auto tensor = [&](std::int64_t heads, std::int64_t rows) {
    const std::vector<std::int64_t> shape = {whole.batch, heads, rows, whole.head_dim};
    return TensorView{nullptr, whole.dtype, shape, row_major(shape)};
  };
  const TensorView like_Q = tensor(whole.num_heads, problem.query_rows(rank)),
                   like_K = tensor(whole.num_kv_heads, problem.key_rows(rank));
  return {like_Q, like_K, like_K, like_Q, {}, like_Q, like_Q, like_K, like_K};
}

}  // namespace

const KernelRow* kernel_that_keeps_dQ(std::string_view variant, const ShardedProblem& problem,
                                      int rank, const RankProgram& program,
                                      const ExecutionOptions& execution) {
  if (!calls_reach_last_query(program, problem.query_rows(rank), kQueriesOfSums)) return nullptr;
  const KernelRow* found = nullptr;
  for (const RankOperation& operation : program) {
    if (operation.kind != RankOperation::Kind::kAttend) continue;
    const AttentionProblem part = problem.problem_of(operation.call, operation.key_rank);
    const KernelRow& row = find_kernel(variant, part, execution, compute_capability());
    if (!row.keeps_dQ || (found != nullptr && found != &row)) return nullptr;
    found = &row;
  }
  const bool can_run = found != nullptr && !found->refusal(any_shard(problem, rank));
  return can_run ? found : nullptr;
}

ShardCall from_first_query(ShardCall call) {
  call.query_offset -= call.queries.first;
  call.queries.first = 0;
  return call;
}

}  // namespace flashlab::cuda
