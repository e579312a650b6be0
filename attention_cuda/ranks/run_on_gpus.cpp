#include "attention_cuda/ranks/run_on_gpus.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ranks/peer_communicator.hpp"
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
  std::size_t workspace_bytes() const { return workspace_.bytes(); }
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

/// Calls `work` in a thread for each GPU. Rethrows the error of the rank that failed first by itself.
void on_each_gpu(int num_gpus, const std::function<void(Communicator&)>& work) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (num_gpus < 1 || num_gpus > count) {
    throw ProblemError("gpus", std::to_string(num_gpus),
                       "1 … " + std::to_string(count) + ", the GPUs of this computer");
  }
  std::vector<int> devices(static_cast<std::size_t>(num_gpus));
  std::iota(devices.begin(), devices.end(), 0);
  PeerGroup group(devices);
  std::vector<std::exception_ptr> own(devices.size()), of_others(devices.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_gpus; ++rank) {
    threads.emplace_back([&, rank] {
      const auto k = static_cast<std::size_t>(rank);
      try {
        work(*group.join(rank));
      } catch (const RankFailure&) {
        of_others[k] = std::current_exception();
      } catch (...) {
        own[k] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto* errors : {&own, &of_others}) {
    for (const std::exception_ptr& error : *errors) {
      if (error) std::rethrow_exception(error);
    }
  }
}

/// What all ranks have found; each writes its own element.
class Findings {
 public:
  explicit Findings(int num_ranks) : runs_(static_cast<std::size_t>(num_ranks)) {}
  GpusRun& of(int rank) { return runs_[static_cast<std::size_t>(rank)]; }
  GpusRun together() const {
    GpusRun result = runs_.front();
    for (const GpusRun& run : runs_) {
      result.workspace_bytes = std::max(result.workspace_bytes, run.workspace_bytes);
    }
    return result;
  }

 private:
  std::vector<GpusRun> runs_;
};

struct TensorPair {
  TensorView host, shard;
};

template <class Inputs, class Outputs>
GpusRun run_once(std::string_view variant, const ShardedProblem& problem,
                 const ExecutionOptions& execution, const Inputs& inputs, const Outputs& outputs) {
  Findings findings(problem.shards.num_ranks);
  on_each_gpu(problem.shards.num_ranks, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    RankRun run(variant, problem, communicator, execution);
    for (const TensorPair& pair : inputs(run.tensors())) {
      copy_to_shard(problem.shards, rank, pair.host, pair.shard, execution.stream);
    }
    findings.of(rank) = {{{run.time_ms()}}, run.workspace_bytes(), run.kernels(variant)};
    for (const TensorPair& pair : outputs(run.tensors())) {
      copy_from_shard(problem.shards, rank, pair.shard, pair.host, execution.stream);
    }
    communicator.finish(execution.stream);
  });
  return findings.together();
}

using Pairs = std::vector<TensorPair>;

}  // namespace

GpusRun run_on_gpus(std::string_view variant, const ShardedProblem& problem,
                    const ExecutionOptions& execution, const ForwardTensors& host) {
  return run_once(
      variant, problem, execution,
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
                    const ExecutionOptions& execution, const BackwardTensors& host) {
  return run_once(
      variant, problem, execution,
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
                       const ExecutionOptions& execution, int repeat, std::uint64_t seed) {
  Findings findings(problem.shards.num_ranks);
  const bool is_backward = find_rank_variant(variant).pass == Pass::kBackward;
  on_each_gpu(problem.shards.num_ranks, [&](Communicator& communicator) {
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
      communicator.finish(execution.stream);
    }
    GpusRun& found = findings.of(rank);
    found = {{}, run.workspace_bytes(), run.kernels(variant)};
    run.time_ms();
    for (int k = 0; k < repeat; ++k) found.samples.ms.push_back(run.time_ms());
    run.check_outputs();
  });
  return findings.together();
}

}  // namespace flashlab::cuda
