// The calls that sharded_speed.cpp measures: a pass on one GPU, and a rank's part of one on several.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/bench/rank_threads.hpp"
#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "attention_cuda/timed_call.hpp"

namespace flashlab::bench {

using cuda::Communicator;
using cuda::DeviceMemory;
using cuda::DeviceTensors;
using cuda::ExecutionOptions;
using cuda::ShardedCall;
using cuda::Stream;

inline constexpr std::int64_t kNumHeads = 16, kHeadDim = 128;

inline AttentionProblem problem_of(std::int64_t length, Mask mask) {
  AttentionProblem problem;
  problem.batch = 1;
  problem.num_heads = problem.num_kv_heads = kNumHeads;
  problem.seqlen_q = problem.seqlen_k = length;
  problem.head_dim = kHeadDim;
  problem.dtype = DataType::kBFloat16;
  problem.mask = mask;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDim));
  return problem;
}

/// A pass on one GPU.
class OneGpu {
 public:
  OneGpu(const AttentionProblem& problem, Pass pass, Stream stream)
      : problem_(problem), pass_(pass), stream_(stream), tensors_(problem, pass) {
    std::uint64_t seed = 1;
    for (const TensorView& input : tensors_.inputs()) cuda::draw_normal(input, seed++, stream);
    if (pass == Pass::kBackward)
      run("flash2", [&](const ExecutionOptions& execution) {
        cuda::attention_forward("flash2", tensors_.forward(), problem_.options(), execution);
      });
  }
  double time_ms() {
    EventPair events;
    if (pass_ == Pass::kForward) {
      run("flash2", [&](const ExecutionOptions& execution) {
        events.start(stream_);
        cuda::attention_forward("flash2", tensors_.forward(), problem_.options(), execution);
        events.end(stream_);
      });
    } else {
      run("bwd-onepass", [&](const ExecutionOptions& execution) {
        events.start(stream_);
        cuda::attention_backward("bwd-onepass", tensors_.backward(), problem_.options(), execution);
        events.end(stream_);
      });
    }
    return events.ms();
  }

 private:
  void run(std::string_view variant, const std::function<void(const ExecutionOptions&)>& call) {
    ExecutionOptions execution;
    execution.stream = stream_;
    const DeviceMemory workspace("the workspace",
                                 cuda::workspace_bytes(variant, problem_, execution));
    execution.workspace = workspace.data();
    execution.workspace_bytes = workspace.bytes();
    call(execution);
    check(cudaStreamSynchronize(stream_));
  }

  AttentionProblem problem_;
  Pass pass_;
  Stream stream_;
  DeviceTensors tensors_;
};

/// A rank's communicator that can leave out all messages.
class SilentCommunicator : public Communicator {
 public:
  explicit SilentCommunicator(Communicator& inner) : inner_(inner) {}
  void set_silent(bool is_silent) { is_silent_ = is_silent; }

  int rank() const override { return inner_.rank(); }
  int num_ranks() const override { return inner_.num_ranks(); }
  void start(int exchange, std::span<const cuda::Message> messages, Stream stream) override {
    if (!is_silent_) inner_.start(exchange, messages, stream);
  }
  void wait(int exchange, Stream stream) override {
    if (!is_silent_) inner_.wait(exchange, stream);
  }
  void finish(Stream stream) override { inner_.finish(stream); }
  std::vector<std::string> gather(const std::string& own) override { return inner_.gather(own); }
  const int* stop_flag() override { return inner_.stop_flag(); }
  void abort(const std::string& reason) noexcept override { inner_.abort(reason); }

 private:
  Communicator& inner_;
  bool is_silent_ = false;
};

/// A rank's part of a pass over all GPUs.
class OfRank {
 public:
  OfRank(const ShardedProblem& problem, const std::string& variant, Pass pass,
         Communicator& communicator, Stream stream)
      : pass_(pass), communicator_(communicator), stream_(stream) {
    AttentionProblem shard = problem.whole;
    shard.seqlen_q = problem.query_rows(communicator.rank());
    shard.seqlen_k = problem.key_rows(communicator.rank());
    tensors_.emplace(shard, pass);
    std::uint64_t seed = 1 + 4 * static_cast<std::uint64_t>(communicator.rank());
    for (const TensorView& input : tensors_->inputs()) cuda::draw_normal(input, seed++, stream);
    ExecutionOptions execution;
    execution.stream = stream;
    if (pass == Pass::kBackward) {  // O and lse
      ShardedCall forward(variant, problem, communicator, execution);
      const DeviceMemory workspace("the workspace", forward.workspace_bytes());
      forward.forward(tensors_->forward(), workspace.data(), workspace.bytes());
      communicator.finish(stream);
    }
    call_.emplace((pass == Pass::kBackward ? "bwd-" : "") + variant, problem, communicator,
                  execution);
    workspace_.emplace("the workspace", call_->workspace_bytes());
  }
  std::size_t workspace_bytes() const { return workspace_->bytes(); }

  double time_ms(Ranks& ranks) {
    return ranks.longest_ms(communicator_.rank(), own_time_ms(ranks));
  }
  /// Of this rank alone.
  double own_time_ms(Ranks& ranks) {
    EventPair events;
    communicator_.finish(stream_);
    ranks.meet();
    events.start(stream_);
    if (pass_ == Pass::kForward) {
      call_->forward(tensors_->forward(), workspace_->data(), workspace_->bytes());
    } else {
      call_->backward(tensors_->backward(), workspace_->data(), workspace_->bytes());
    }
    events.end(stream_);
    communicator_.finish(stream_);
    return events.ms();
  }
  /// Throws if an output has a NaN.
  void check_outputs() const {
    const DeviceMemory found("a flag", sizeof(int));
    found.fill(0, stream_);
    for (const TensorView& output : tensors_->outputs()) {
      cuda::look_for_nan(output, static_cast<int*>(found.data()), stream_);
    }
    check(cudaStreamSynchronize(stream_));
    int value = 0;
    cuda::copy_from_gpu(&value, found.data(), sizeof value);
    if (value != 0) throw std::runtime_error("NaN in a result");
  }

 private:
  Pass pass_;
  Communicator& communicator_;
  Stream stream_;
  std::optional<DeviceTensors> tensors_;
  std::optional<ShardedCall> call_;
  std::optional<DeviceMemory> workspace_;
};

}  // namespace flashlab::bench
