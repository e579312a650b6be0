// The backward pass over several ranks whose kernels sum dQ over all calls.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "attention_cuda/ranks/peer_communicator.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
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

/// The same numbers, with an element between two tokens.
TensorView copied_with_gaps(TensorView tensor, void* memory) {
  const auto element = static_cast<std::size_t>(size_in_bytes(tensor.dtype)),
             columns = static_cast<std::size_t>(tensor.shape[3]),
             rows = static_cast<std::size_t>(tensor.shape[0] * tensor.shape[1] * tensor.shape[2]);
  check_call(cudaMemcpy2DAsync(memory, element * (columns + 1), tensor.data, element * columns,
                               element * columns, rows, cudaMemcpyDeviceToDevice, nullptr));
  tensor.data = memory;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    tensor.strides[axis] += tensor.strides[axis] / tensor.shape[3];
  }
  return tensor;
}

struct Gradients {
  HostTensor dQ, dK, dV;
  std::size_t most_workspace = 0;
};

/// How a test departs from a usual call.
struct Departures {
  std::string kernel = {};     // of the backward pass
  bool is_ordered = true;      // deterministic
  bool has_gaps_in_Q = false;  // an element between tokens, so that bulk copies cannot address Q
  std::size_t more_bytes = 0;  // of workspace than asked for
};

/// The backward pass over the ranks, which share the GPU, after a forward pass of one GPU.
Gradients gradients_of(const ShardedProblem& problem, const std::string& variant,
                       const WholeInputs& inputs, const WholeResults& forward,
                       const Departures& departures = {}) {
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
        store_on_device(shard(forward.O), own.backward().O);
        store_on_device(shard(forward.lse), own.backward().lse);
        cuda::ExecutionOptions execution;
        execution.deterministic = departures.is_ordered;
        execution.kernel = departures.kernel;
        cuda::ShardedCall backward(variant, problem, communicator, execution);
        BackwardTensors tensors = own.backward();
        const test::DeviceMemory with_gaps(2 * cuda::bytes_of(tensors.Q));
        if (departures.has_gaps_in_Q) tensors.Q = copied_with_gaps(tensors.Q, with_gaps.get());
        const test::DeviceMemory workspace(backward.workspace_bytes() + departures.more_bytes);
        backward.backward(tensors, workspace.get(), workspace.bytes());
        communicator.finish(nullptr);
        const std::lock_guard lock(mutex);
        put_shard(fetched(tensors.dQ), problem.shards, rank, results.dQ);
        put_shard(fetched(tensors.dK), problem.shards, rank, results.dK);
        put_shard(fetched(tensors.dV), problem.shards, rank, results.dV);
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

}  // namespace

TEST_CASE("dQ that kernels sum over all calls is that of one GPU, rounded once", "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  // Lengths that do not divide, one query tile and several, more ranks than keys, a cluster of two blocks;
  // in zigzag order, calls that leave out the first half of the queries.
  for (const auto& problem :
       {ranks_of(64, 150, 270, 3), ranks_of(128, 70, 200, 4), ranks_of(256, 130, 150, 2),
        ranks_of(64, 20, 2, 3), ranks_of(64, 512, 512, 2, Mask::kCausalTopLeft, 1),
        ranks_of(256, 512, 512, 2, Mask::kCausalBottomRight, 1)}) {
    for (const std::string variant : {"bwd-ring", "bwd-gather-kv"}) {
      CAPTURE(variant, problem.whole.head_dim, problem.shards.num_ranks);
      const WholeInputs inputs = drawn_inputs(problem.whole, 4);
      const WholeResults whole = run_whole(problem.whole, inputs);
      const HostTensor& one_gpu = whole.dQ;
      const Gradients kept = gradients_of(problem, variant, inputs, whole);
      // Each is rounded to bf16 once, by at most 2^-9 of a power of two above the largest number.
      CHECK(largest_difference(kept.dQ, one_gpu) <= std::ldexp(largest(one_gpu), -7));
      const Gradients rounded = gradients_of(
          problem, variant, inputs, whole, {.kernel = "bwd_onepass_mma_sm80", .is_ordered = false});
      CHECK(largest_difference(rounded.dQ, one_gpu) <= std::ldexp(largest(one_gpu), -6));
      CHECK(kept.most_workspace < rounded.most_workspace);
    }
  }
}

TEST_CASE("tensors that the kernel which sums dQ cannot address need the memory of another one",
          "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  const ShardedProblem problem = ranks_of(64, 150, 270, 3);
  const WholeInputs inputs = drawn_inputs(problem.whole, 4);
  const WholeResults whole = run_whole(problem.whole, inputs);
  const Gradients usual = gradients_of(problem, "bwd-ring", inputs, whole, {.is_ordered = false});
  try {
    gradients_of(problem, "bwd-ring", inputs, whole, {.is_ordered = false, .has_gaps_in_Q = true});
    FAIL("it ran");
  } catch (const ProblemError& error) {
    CAPTURE(error.what());
    CHECK(error.field == "workspace_bytes");
    CHECK(error.value == std::to_string(usual.most_workspace));
    CHECK_THAT(error.expected, contains(", because of Q: "));
    const std::size_t needed = std::stoull(error.expected);
    const Gradients found = gradients_of(
        problem, "bwd-ring", inputs, whole,
        {.is_ordered = false, .has_gaps_in_Q = true, .more_bytes = needed - usual.most_workspace});
    CHECK(largest_difference(found.dQ, usual.dQ) <= std::ldexp(largest(usual.dQ), -6));
    CHECK(largest_difference(found.dK, usual.dK) <= std::ldexp(largest(usual.dK), -6));
  }
}
