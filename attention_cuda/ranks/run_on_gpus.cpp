#include "attention_cuda/ranks/run_on_gpus.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/rank_group.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "attention_cuda/timed_call.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kBackwardPrefix = "bwd-";

/// A rank's tensors and call on its GPU.
class RankRun {
 public:
  RankRun(std::string_view variant, const ShardedProblem& problem, Communicator& communicator,
          const ExecutionOptions& execution)
      : pass_(find_rank_variant(variant).pass),
        communicator_(communicator),
        stream_(execution.stream),
        call_(variant, problem, communicator, execution),
        tensors_(shard_of(problem, communicator.rank()), pass_),
        workspace_("the workspace", call_.workspace_bytes()) {}

  const DeviceTensors& tensors() const { return tensors_; }
  /// Both return the bytes of the rank that needs most. Collective.
  std::size_t most_workspace_bytes() const { return most_of_ranks(workspace_.bytes()); }
  std::size_t most_tensor_bytes() const { return most_of_ranks(tensors_.bytes()); }
  std::string kernels(std::string_view variant) const {
    return std::string(variant) + " of " + std::string(call_.local_variant());
  }

  /// Returns the milliseconds of the slowest rank.
  double time_ms() {
    cudaEvent_t start = nullptr, end = nullptr;
    check_cuda(cudaEventCreate(&start), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end), "cudaEventCreate");
    communicator_.finish(stream_);
    communicator_.gather("");  // all begin together
    check_cuda(cudaEventRecord(start, stream_), "cudaEventRecord");
    if (pass_ == Pass::kForward) {
      call_.forward(tensors_.forward(), workspace_.data(), workspace_.bytes());
    } else {
      call_.backward(tensors_.backward(), workspace_.data(), workspace_.bytes());
    }
    check_cuda(cudaEventRecord(end, stream_), "cudaEventRecord");
    communicator_.finish(stream_);
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    double longest = 0;
    for (const std::string& text : communicator_.gather(std::to_string(ms))) {
      longest = std::max(longest, std::stod(text));
    }
    return longest;
  }

  void check_outputs() const {
    const DeviceMemory found("a flag", sizeof(int));
    found.fill(0, stream_);
    for (const TensorView& output : tensors_.outputs()) {
      look_for_nan(output, static_cast<int*>(found.data()), stream_);
    }
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    int value = 0;
    copy_from_gpu(&value, found.data(), sizeof value);
    if (value != 0) {
      throw std::runtime_error("rank " + std::to_string(communicator_.rank()) +
                               " produced NaN in a result");
    }
  }

 private:
  std::size_t most_of_ranks(std::size_t own) const {
    std::size_t most = 0;
    for (const std::string& text : communicator_.gather(std::to_string(own))) {
      most = std::max<std::size_t>(most, std::stoull(text));
    }
    return most;
  }
  static AttentionProblem shard_of(const ShardedProblem& problem, int rank) {
    AttentionProblem shard = problem.whole;
    shard.seqlen_q = problem.query_rows(rank);
    shard.seqlen_k = problem.key_rows(rank);
    return shard;
  }

  Pass pass_;
  Communicator& communicator_;
  Stream stream_;
  ShardedCall call_;
  DeviceTensors tensors_;
  DeviceMemory workspace_;
};

struct TensorPair {
  TensorView host, shard;
};

/// Rank 0 gets the shards of all other processes into its host's tensor, one after the other.
void collect(Communicator& communicator, const Shards& shards, const TensorPair& pair,
             Stream stream) {
  const int own = communicator.rank();
  for (int rank = 1; rank < shards.num_ranks; ++rank) {
    if (own != 0 && own != rank) continue;
    TensorView shard = pair.shard;
    shard.shape[2] = shards.num_rows(rank, pair.host.shape[2]);
    shard.strides = row_major(shard.shape);
    const std::size_t bytes = bytes_of(shard);
    if (bytes == 0) continue;
    const DeviceMemory arriving("the shard of a rank", own == 0 ? bytes : 0);
    if (own == 0) shard.data = arriving.data();
    const Message message = {own == 0 ? rank : 0, own != 0, shard.data, bytes};
    communicator.start(rank, {&message, 1}, stream);
    communicator.wait(rank, stream);
    if (own == 0) copy_from_shard(shards, rank, shard, pair.host, stream);
    communicator.finish(stream);
  }
}

template <class Inputs, class Outputs>
GpusRun run_once(std::string_view variant, const ShardedProblem& problem,
                 const ExecutionOptions& execution, const RankOptions& ranks, const Inputs& inputs,
                 const Outputs& outputs) {
  GpusRun result;
  on_each_rank(problem.shards.num_ranks, ranks, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    RankRun run(variant, problem, communicator, execution);
    for (const TensorPair& pair : inputs(run.tensors())) {
      copy_to_shard(problem.shards, rank, pair.host, pair.shard, execution.stream);
    }
    const GpusRun found = {{{run.time_ms()}}, run.most_workspace_bytes(), run.kernels(variant)};
    if (rank == 0 || ranks.process) result = found;
    for (const TensorPair& pair : outputs(run.tensors())) {
      copy_from_shard(problem.shards, rank, pair.shard, pair.host, execution.stream);
      if (ranks.process) collect(communicator, problem.shards, pair, execution.stream);
    }
    communicator.release_memory(execution.stream);
  });
  return result;
}

using Pairs = std::vector<TensorPair>;

}  // namespace

GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const ForwardTensors& host,
                    const RankOptions& ranks) {
  return run_once(
      variant, problem, execution, ranks,
      [&](const DeviceTensors& tensors) {
        const ForwardTensors shard = tensors.forward();
        return Pairs{{host.Q, shard.Q}, {host.K, shard.K}, {host.V, shard.V}};
      },
      [&](const DeviceTensors& tensors) {
        const ForwardTensors shard = tensors.forward();
        return Pairs{{host.O, shard.O}, {host.lse, shard.lse}};
      });
}

GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const BackwardTensors& host,
                    const RankOptions& ranks) {
  return run_once(
      variant, problem, execution, ranks,
      [&](const DeviceTensors& tensors) {
        const BackwardTensors shard = tensors.backward();
        return Pairs{{host.Q, shard.Q}, {host.K, shard.K},     {host.V, shard.V},
                     {host.O, shard.O}, {host.lse, shard.lse}, {host.dO, shard.dO}};
      },
      [&](const DeviceTensors& tensors) {
        const BackwardTensors shard = tensors.backward();
        return Pairs{{host.dQ, shard.dQ}, {host.dK, shard.dK}, {host.dV, shard.dV}};
      });
}

GpusRun sample_on_gpus(std::string_view variant, const ShardedProblem& problem,
                       const ExecutionOptions& execution, int repeat, std::uint64_t seed,
                       const RankOptions& ranks, const OnGpusProgress& on_progress) {
  GpusRun result;
  const bool is_backward = find_rank_variant(variant).pass == Pass::kBackward;
  on_each_rank(problem.shards.num_ranks, ranks, [&](Communicator& communicator) {
    constexpr std::uint64_t kMostInputs = 4;
    const int rank = communicator.rank();
    RankRun run(variant, problem, communicator, execution);
    std::uint64_t number = kMostInputs * (seed + static_cast<std::uint64_t>(rank));
    for (const TensorView& input : run.tensors().inputs()) {
      draw_normal(input, number++, execution.stream);
    }
    if (is_backward) {  // O and lse
      ExecutionOptions forward;
      forward.stream = execution.stream;
      forward.products = execution.products;
      ShardedCall call(variant.substr(kBackwardPrefix.size()), problem, communicator, forward);
      const DeviceMemory workspace("the forward workspace", call.workspace_bytes());
      call.forward(run.tensors().forward(), workspace.data(), workspace.bytes());
      communicator.release_memory(execution.stream);
    }
    GpusRun found = {{}, run.most_workspace_bytes(), run.kernels(variant)};
    GpusProgress progress = {found.kernels, run.most_tensor_bytes(), found.workspace_bytes, 0,
                             1 + repeat};
    const auto report = [&] {
      if (rank == 0 && on_progress) on_progress(progress);
    };
    report();
    for (; progress.num_done < progress.num_runs; report()) {
      const double ms = run.time_ms();
      if (progress.num_done++ > 0) found.samples.ms.push_back(ms);
    }
    run.check_outputs();
    communicator.release_memory(execution.stream);
    if (rank == 0 || ranks.process) result = found;
  });
  return result;
}

}  // namespace flashlab::cuda
