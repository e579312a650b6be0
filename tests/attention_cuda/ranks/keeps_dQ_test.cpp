// The backward pass over several ranks whose kernels sum dQ over all calls.
#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "attention_cuda/ranks/peer_communicator.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "tests/attention_cuda/ranks/sharded_run.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

ShardedProblem ranks_of(std::int64_t head_dim, std::int64_t queries, std::int64_t keys,
                        int num_ranks, Mask mask = Mask::kNone, std::int64_t num_heads = 2) {
  ShardedProblem problem;
  problem.whole.batch = 1;
  problem.whole.num_heads = num_heads;
  problem.whole.num_kv_heads = 1;
  problem.whole.seqlen_q = queries;
  problem.whole.seqlen_k = keys;
  problem.whole.head_dim = head_dim;
  problem.whole.dtype = DataType::kBFloat16;
  problem.whole.mask = mask;
  problem.whole.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  problem.shards = {mask == Mask::kNone ? Sharding::kContiguous : Sharding::kZigzag, num_ranks};
  return problem;
}

struct Gradients {
  HostTensor dQ, dK, dV;
  std::size_t most_workspace = 0;
};

/// Both passes over the ranks, which share the GPU.
Gradients gradients_of(const ShardedProblem& problem, const std::string& variant,
                       const WholeInputs& inputs, bool keeps_dQ) {
  WholeResults results = empty_results(inputs, true);
  Gradients found;
  std::mutex mutex;
  cuda::PeerGroup group(std::vector<int>(static_cast<std::size_t>(problem.shards.num_ranks), 0));
  const auto errors = run_ranks(
      problem.shards.num_ranks, [&](int rank) { return group.join(rank); },
      [&](cuda::Communicator& communicator) {
        const int rank = communicator.rank();
        const auto shard = [&](const HostTensor& whole) {
          return shard_of(whole, problem.shards, rank);
        };
        const DeviceShard own(shard_problem(problem, rank), {shard(inputs.Q), shard(inputs.K),
                                                             shard(inputs.V), shard(inputs.dO)});
        cuda::ShardedCall forward("ring", problem, communicator);
        const test::DeviceMemory memory(forward.workspace_bytes());
        forward.forward(own.forward(), memory.get(), memory.bytes());
        communicator.finish(nullptr);
        cuda::ExecutionOptions execution;
        execution.deterministic = true;
        execution.keeps_dQ = keeps_dQ;
        cuda::ShardedCall backward(variant, problem, communicator, execution);
        const test::DeviceMemory workspace(backward.workspace_bytes());
        backward.backward(own.backward(), workspace.get(), workspace.bytes());
        communicator.finish(nullptr);
        const BackwardTensors all = own.backward();
        const std::lock_guard lock(mutex);
        put_shard(fetched(all.dQ), problem.shards, rank, results.dQ);
        put_shard(fetched(all.dK), problem.shards, rank, results.dK);
        put_shard(fetched(all.dV), problem.shards, rank, results.dV);
        found.most_workspace = std::max(found.most_workspace, backward.workspace_bytes());
      });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  found.dQ = results.dQ;
  found.dK = results.dK;
  found.dV = results.dV;
  return found;
}

double largest_difference(const HostTensor& a, const HostTensor& b) {
  const std::vector<double> x = a.values(), y = b.values();
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double difference = std::abs(x[k] - y[k]);
    if (!(difference <= largest)) largest = difference;  // NaN stays
  }
  return largest;
}

double largest(const HostTensor& tensor) {
  double result = 0;
  for (const double value : tensor.values()) result = std::max(result, std::abs(value));
  return result;
}

std::string keeping_error(const ShardedProblem& problem, const std::string& variant,
                          const std::string& kernel = {}) {
  cuda::PeerGroup group(std::vector<int>(static_cast<std::size_t>(problem.shards.num_ranks), 0));
  const auto errors = run_ranks(
      problem.shards.num_ranks, [&](int rank) { return group.join(rank); },
      [&](cuda::Communicator& communicator) {
        cuda::ExecutionOptions execution;
        execution.keeps_dQ = true;
        execution.kernel = kernel;
        const cuda::ShardedCall call(variant, problem, communicator, execution);
      });
  return text_of(errors.front());
}

}  // namespace

TEST_CASE("dQ that kernels sum over all calls is that of one GPU, rounded once", "[ranks]") {
  // Lengths that do not divide, one query tile and several, more ranks than keys, a cluster of two blocks;
  // in zigzag order, calls that leave out the first half of the queries.
  for (const auto& problem :
       {ranks_of(64, 150, 270, 3), ranks_of(128, 70, 200, 4), ranks_of(256, 130, 150, 2),
        ranks_of(64, 20, 2, 3), ranks_of(64, 512, 512, 2, Mask::kCausalTopLeft, 1),
        ranks_of(256, 512, 512, 2, Mask::kCausalBottomRight, 1)}) {
    for (const std::string variant : {"bwd-ring", "bwd-gather-kv"}) {
      CAPTURE(variant, problem.whole.head_dim, problem.shards.num_ranks);
      const WholeInputs inputs = drawn_inputs(problem.whole, 4);
      const Gradients parts = gradients_of(problem, variant, inputs, false),
                      kept = gradients_of(problem, variant, inputs, true);
      const HostTensor one_gpu = run_whole(problem.whole, inputs).dQ;
      // Each is rounded to bf16 once, by at most 2^-9 of a power of two above the largest number.
      CHECK(largest_difference(kept.dQ, one_gpu) <= std::ldexp(largest(one_gpu), -7));
      CHECK(kept.dK == parts.dK);
      CHECK(kept.dV == parts.dV);
      CHECK(kept.most_workspace < parts.most_workspace);
    }
  }
}

TEST_CASE("kernels sum dQ only over calls that begin with a query tile, and only some kernels do",
          "[ranks]") {
  const std::string expected = ": they begin with a multiple of 128 and end with the last one";
  CHECK(keeping_error(ranks_of(64, 64, 64, 2, Mask::kCausalTopLeft), "bwd-ring") ==
        "keeps_dQ: true: expected false for a call of queries 16 … 31 of 32" + expected);
  ShardedProblem window = ranks_of(64, 512, 512, 2, Mask::kCausalTopLeft);
  window.whole.window_left = 64;
  CHECK_THAT(keeping_error(window, "bwd-ring"), contains("of 256" + expected));
  CHECK(keeping_error(ranks_of(64, 64, 64, 2), "bwd-ring") == "");
  CHECK_THAT(keeping_error(ranks_of(64, 64, 64, 2), "ring"),
             contains("keeps_dQ: true: expected false for flash2_"));
  CHECK(keeping_error(ranks_of(64, 64, 64, 2), "bwd-ring", "bwd_onepass_mma_sm80") ==
        "keeps_dQ: true: expected false for bwd_onepass_mma_sm80");
}
