#include "attention_cuda/ranks/run_on_gpus.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/rank_group.hpp"
#include "attention_cuda/ranks/shard_copies.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "attention_cuda/timed_call.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kBackwardPrefix = "bwd-";

/// With the flag that stops the rank's kernels, if the options ask for one.
ExecutionOptions with_stop_of(ExecutionOptions execution, const RankOptions& ranks,
                              Communicator& communicator) {
  if (ranks.stops_kernels) execution.stop_flag = communicator.stop_flag();
  return execution;
}

std::size_t tensor_bytes(const AttentionProblem& p, Pass pass) {
  const std::int64_t rows = p.batch * p.num_heads * p.seqlen_q, like_Q = rows * p.head_dim,
                     like_K = p.batch * p.num_kv_heads * p.seqlen_k * p.head_dim;
  const std::int64_t times = pass == Pass::kForward ? 2 : 4;  // Q, O, dO, dQ; K, V, dK, dV
  return static_cast<std::size_t>(times * (like_Q + like_K) * size_in_bytes(p.dtype) + rows * 4);
}

/// A rank's tensors and calls on its GPU. The calls of both passes use one workspace.
class RankRun {
 public:
  /// makes_outputs: a forward pass comes before the backward one. Takes no memory of the device.
  RankRun(std::string_view variant, const ShardedProblem& problem, Communicator& communicator,
          const ExecutionOptions& execution, bool makes_outputs)
      : variant_(variant),
        pass_(find_rank_variant(variant).pass),
        communicator_(communicator),
        stream_(execution.stream),
        shard_(shard_of(problem, communicator.rank())),
        call_(variant, problem, communicator, execution) {
    if (makes_outputs && pass_ == Pass::kBackward) {
      ExecutionOptions forward;
      forward.stream = execution.stream;
      forward.products = execution.products;
      forward.stop_flag = execution.stop_flag;
      forward_.emplace(variant.substr(kBackwardPrefix.size()), problem, communicator, forward);
    }
    workspace_bytes_ = call_.workspace_bytes();
    if (forward_) workspace_bytes_ = std::max(workspace_bytes_, forward_->workspace_bytes());
  }

  /// What the rank that needs most needs. Collective.
  GpusProgress memory() const {
    GpusProgress most;
    most.kernels = kernels();
    most.tensor_bytes = most_of_ranks(tensor_bytes(shard_, pass_));
    most.workspace_bytes = most_of_ranks(workspace_bytes_);
    return most;
  }
  /// Throws NoDeviceMemory, the same on all ranks, if one of them needs more than its GPU has. Collective.
  void check_memory() const {
    std::size_t free_bytes = 0, all_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    const std::size_t needed = tensor_bytes(shard_, pass_) + workspace_bytes_;
    const std::string own = needed <= free_bytes
                                ? ""
                                : why_too_much(kernels(), communicator_.rank(), needed, free_bytes);
    for (const std::string& text : communicator_.gather(own)) {
      if (!text.empty()) throw NoDeviceMemory(text);
    }
  }
  /// Takes the memory. Throws NoDeviceMemory, CudaError.
  void prepare() {
    tensors_.emplace(shard_, pass_);
    workspace_.emplace("the workspace", workspace_bytes_);
  }

  const DeviceTensors& tensors() const { return *tensors_; }
  std::string kernels() const {
    return std::string(variant_) + " of " + std::string(call_.local_variant());
  }

  /// O and lse for the backward pass. Collective.
  void make_outputs() {
    if (!forward_) return;
    forward_->forward(tensors_->forward(), workspace_->data(), workspace_->bytes());
    communicator_.release_memory(stream_);
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
      call_.forward(tensors_->forward(), workspace_->data(), workspace_->bytes());
    } else {
      call_.backward(tensors_->backward(), workspace_->data(), workspace_->bytes());
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
    for (const TensorView& output : tensors_->outputs()) {
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

  static std::string why_too_much(const std::string& kernels, int rank, std::size_t needed,
                                  std::size_t free_bytes) {
    const auto text = [](std::size_t bytes) {
      std::array<char, 32> digits = {};
      std::snprintf(digits.data(), digits.size(), "%.2f GiB",
                    static_cast<double>(bytes) / (1 << 30));
      return std::string(digits.data());
    };
    return kernels + " needs " + text(needed) + " on the GPU of rank " + std::to_string(rank) +
           ", where " + text(free_bytes) + " are free: expected fewer tokens, or more GPUs";
  }

  const std::string variant_;
  Pass pass_;
  Communicator& communicator_;
  Stream stream_;
  const AttentionProblem shard_;
  ShardedCall call_;
  std::optional<ShardedCall> forward_;  // for O and lse of a backward pass
  std::size_t workspace_bytes_ = 0;
  std::optional<DeviceTensors> tensors_;
  std::optional<DeviceMemory> workspace_;
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
    RankRun run(variant, problem, communicator, with_stop_of(execution, ranks, communicator),
                false);
    run.check_memory();
    run.prepare();
    const std::size_t workspace_bytes = run.memory().workspace_bytes;
    for (const TensorPair& pair : inputs(run.tensors())) {
      copy_to_shard(problem.shards, rank, pair.host, pair.shard, execution.stream);
    }
    const GpusRun found = {{{run.time_ms()}}, workspace_bytes, run.kernels()};
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
  on_each_rank(problem.shards.num_ranks, ranks, [&](Communicator& communicator) {
    constexpr std::uint64_t kMostInputs = 4;
    const int rank = communicator.rank();
    RankRun run(variant, problem, communicator, with_stop_of(execution, ranks, communicator), true);
    GpusProgress progress = run.memory();
    progress.num_runs = repeat > 0 ? 1 + repeat : 0;
    const auto report = [&] {
      if (rank == 0 && on_progress) on_progress(progress);
    };
    report();
    run.check_memory();
    GpusRun found = {{}, progress.workspace_bytes, run.kernels()};
    if (repeat > 0) {
      run.prepare();
      std::uint64_t number = kMostInputs * (seed + static_cast<std::uint64_t>(rank));
      for (const TensorView& input : run.tensors().inputs()) {
        draw_normal(input, number++, execution.stream);
      }
      run.make_outputs();
      while (progress.num_done < progress.num_runs) {
        const double ms = run.time_ms();
        if (progress.num_done++ > 0) found.samples.ms.push_back(ms);
        report();
      }
      run.check_outputs();
      communicator.release_memory(execution.stream);
    }
    if (rank == 0 || ranks.process) result = found;
  });
  return result;
}

}  // namespace flashlab::cuda
