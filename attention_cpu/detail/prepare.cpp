#include "attention_cpu/detail/prepare.hpp"

#include <omp.h>

#include <string>

namespace flashlab::cpu::detail {

Sizes sizes_of(const AttentionProblem& problem, int num_threads) {
  Sizes sizes;
  sizes.batch = problem.batch;
  sizes.num_heads = problem.num_heads;
  sizes.num_kv_heads = problem.num_kv_heads;
  sizes.seqlen_q = problem.seqlen_q;
  sizes.seqlen_k = problem.seqlen_k;
  sizes.head_dim = problem.head_dim;
  sizes.mask = problem.mask_rule();
  if (problem.is_packed()) sizes.sequences = problem.sequences();
  sizes.key_lengths = problem.key_lengths.empty() ? nullptr : problem.key_lengths.data();
  sizes.softmax_scale = problem.softmax_scale;
  sizes.num_threads = num_threads;
  return sizes;
}

int threads_of(const ExecutionOptions& options) {
  if (options.num_threads < 0) {
    throw ProblemError("num_threads", std::to_string(options.num_threads), "0 or more");
  }
  return options.num_threads > 0 ? options.num_threads : omp_get_max_threads();
}

Execution finish(const Workspace& workspace, const ExecutionOptions& options, int num_threads) {
  if (options.cancelled != nullptr && *options.cancelled) throw Cancelled();
  return {num_threads, options.instruction_set, workspace.bytes()};
}

}  // namespace flashlab::cpu::detail
