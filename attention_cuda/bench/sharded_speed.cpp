// Attention over several GPUs of this computer beside one GPU, in one process: time, and efficiency
// T1 / (R T_R), where T1 is one GPU's time for the same problem in the same run. First, the links.
//
//   sharded_speed [--gpus 2] [--lengths 65536,262144] [--longest 1048576] [--seconds 190]
//
// 1 batch, 16 heads, head_dim 128, bf16. Full masks in contiguous, causal ones in zigzag order. A
// length up to --lengths' last has three runs after a warm-up (the median counts), --longest has one.
// Configurations that would exceed the seconds are left out, and named. One JSON object per line.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attention_cuda/bench/rank_threads.hpp"
#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/ranks/nccl_communicator.hpp"
#include "attention_cuda/ranks/peer_communicator.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "attention_cuda/timed_call.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::cuda;
using bench::check;
using bench::EventPair;
using bench::Ranks;

constexpr std::int64_t kNumHeads = 16, kHeadDim = 128;

struct Settings {
  int gpus = 2;
  std::vector<std::int64_t> lengths = {65536, 262144};
  std::int64_t longest = 1048576;
  double seconds = 190;
};

Settings settings_in(int argc, char** argv) {
  Settings settings;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string flag = argv[k], value = argv[k + 1];
    if (flag == "--gpus") {
      settings.gpus = std::stoi(value);
    } else if (flag == "--longest") {
      settings.longest = std::stoll(value);
    } else if (flag == "--seconds") {
      settings.seconds = std::stod(value);
    } else if (flag == "--lengths") {
      settings.lengths.clear();
      for (std::size_t first = 0; first < value.size();) {
        settings.lengths.push_back(std::stoll(value.substr(first)));
        const auto comma = value.find(',', first);
        first = comma == std::string::npos ? value.size() : comma + 1;
      }
    } else {
      throw std::runtime_error(flag + ": expected --gpus, --lengths, --longest or --seconds");
    }
  }
  return settings;
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

AttentionProblem problem_of(std::int64_t length, Mask mask) {
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

/// Round the ring: each rank sends to the next one and receives from the previous one. GB/s each way.
void measure_link(Ranks& ranks, Communicator& communicator, const char* transport, Stream stream) {
  const int rank = communicator.rank(), num_ranks = ranks.num_ranks();
  for (const std::size_t megabytes : {1, 8, 64, 512}) {
    const std::size_t bytes = megabytes << 20;
    const DeviceMemory sent("sent", bytes), received("received", bytes);
    const std::vector<Message> messages = {
        {(rank + 1) % num_ranks, true, sent.data(), bytes},
        {(rank + num_ranks - 1) % num_ranks, false, received.data(), bytes}};
    constexpr int kAtOnce = 10;
    std::vector<double> samples;
    for (int k = 0; k < 4; ++k) {
      EventPair events;
      communicator.finish(stream);
      ranks.meet();
      events.start(stream);
      for (int each = 0; each < kAtOnce; ++each) {
        communicator.start(each, messages, stream);
        communicator.wait(each, stream);
      }
      events.end(stream);
      samples.push_back(ranks.longest_ms(rank, events.ms()) / kAtOnce);
    }
    samples.erase(samples.begin());
    if (rank == 0) {
      std::printf("{\"link\": \"%s\", \"megabytes\": %zu, \"gb_per_s_each_way\": %.1f}\n",
                  transport, megabytes, 1e-6 * static_cast<double>(bytes) / median(samples));
      std::fflush(stdout);
    }
  }
}

/// A pass on one GPU.
class OneGpu {
 public:
  OneGpu(const AttentionProblem& problem, Pass pass, Stream stream)
      : problem_(problem), pass_(pass), stream_(stream), tensors_(problem, pass) {
    std::uint64_t seed = 1;
    for (const TensorView& input : tensors_.inputs()) draw_normal(input, seed++, stream);
    if (pass == Pass::kBackward)
      run("flash2", [&](const ExecutionOptions& execution) {
        attention_forward("flash2", tensors_.forward(), problem_.options(), execution);
      });
  }
  double time_ms() {
    EventPair events;
    if (pass_ == Pass::kForward) {
      run("flash2", [&](const ExecutionOptions& execution) {
        events.start(stream_);
        attention_forward("flash2", tensors_.forward(), problem_.options(), execution);
        events.end(stream_);
      });
    } else {
      run("bwd-onepass", [&](const ExecutionOptions& execution) {
        events.start(stream_);
        attention_backward("bwd-onepass", tensors_.backward(), problem_.options(), execution);
        events.end(stream_);
      });
    }
    return events.ms();
  }

 private:
  void run(std::string_view variant, const std::function<void(const ExecutionOptions&)>& call) {
    ExecutionOptions execution;
    execution.stream = stream_;
    const DeviceMemory workspace("the workspace", workspace_bytes(variant, problem_, execution));
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
    for (const TensorView& input : tensors_->inputs()) draw_normal(input, seed++, stream);
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
    return ranks.longest_ms(communicator_.rank(), events.ms());
  }
  /// Throws if an output has a NaN.
  void check_outputs() const {
    const DeviceMemory found("a flag", sizeof(int));
    found.fill(0, stream_);
    for (const TensorView& output : tensors_->outputs()) {
      look_for_nan(output, static_cast<int*>(found.data()), stream_);
    }
    check(cudaStreamSynchronize(stream_));
    int value = 0;
    copy_from_gpu(&value, found.data(), sizeof value);
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

struct Transport {
  const char* name;
  Communicator* communicator;
};

/// Runs one configuration on one GPU and on all.
class Measurement {
 public:
  Measurement(Ranks& ranks, int rank, Stream stream, std::vector<Transport> transports)
      : ranks_(ranks), rank_(rank), stream_(stream), transports_(std::move(transports)) {}

  void run(std::int64_t length, Mask mask, Pass pass, bool is_longest) {
    const AttentionProblem problem = problem_of(length, mask);
    const double flops = static_cast<double>(length) * static_cast<double>(length) * 4 * kNumHeads *
                         kHeadDim * (mask == Mask::kNone ? 1 : 0.5) *
                         (pass == Pass::kForward ? 1 : 2.5);
    // At first a slow guess, then the rate seen.
    const double one_run = flops / rate_, runs = is_longest ? 1.7 : 4;
    const double left = ranks_.agreed(rank_, ranks_.seconds_left());
    if (runs * one_run > left) {
      if (rank_ == 0) {
        std::printf("{\"left_out\": \"%lld %s %s\", \"seconds_left\": %.0f}\n",
                    static_cast<long long>(length), name(mask), name(pass), left);
      }
      return;
    }
    const double one_ms =
        ranks_.agreed(rank_, rank_ == 0 ? time_one(problem, pass, is_longest) : 0);
    rate_ = std::min(rate_ * 1.5, flops / (1e-3 * one_ms));
    for (const char* const variant : {"ring", "gather-kv"}) {
      for (const Transport& transport : transports_) {
        if (is_longest && transport.communicator != transports_.front().communicator) continue;
        if (is_longest && std::string(variant) != "ring") continue;
        if (ranks_.agreed(rank_, ranks_.seconds_left()) < 2e-3 * one_ms) continue;
        const ShardedProblem sharded = {
            problem,
            {mask == Mask::kNone ? Sharding::kContiguous : Sharding::kZigzag, ranks_.num_ranks()}};
        OfRank call(sharded, variant, pass, *transport.communicator, stream_);
        std::vector<double> samples;
        if (!is_longest) call.time_ms(ranks_);
        for (int k = 0; k < (is_longest ? 1 : 3); ++k) samples.push_back(call.time_ms(ranks_));
        call.check_outputs();
        const double ms = median(samples);
        if (rank_ != 0) continue;
        std::printf(
            "{\"length\": %lld, \"mask\": \"%s\", \"pass\": \"%s\", \"variant\": \"%s\", "
            "\"transport\": \"%s\", \"gpus\": %d, \"one_gpu_ms\": %.3f, \"ms\": %.3f, "
            "\"least_ms\": %.3f, \"efficiency\": %.3f, \"tflops_per_gpu\": %.0f, "
            "\"workspace_gb\": %.1f}\n",
            static_cast<long long>(length), name(mask), name(pass), variant, transport.name,
            ranks_.num_ranks(), one_ms, ms, *std::min_element(samples.begin(), samples.end()),
            one_ms / (ranks_.num_ranks() * ms), flops / ms / 1e9 / ranks_.num_ranks(),
            1e-9 * static_cast<double>(call.workspace_bytes()));
        std::fflush(stdout);
      }
    }
  }

 private:
  static const char* name(Mask mask) { return mask == Mask::kNone ? "full" : "causal"; }
  static const char* name(Pass pass) { return pass == Pass::kForward ? "forward" : "backward"; }

  double time_one(const AttentionProblem& problem, Pass pass, bool is_longest) {
    OneGpu call(problem, pass, stream_);
    if (is_longest) return call.time_ms();
    call.time_ms();
    return median({call.time_ms(), call.time_ms(), call.time_ms()});
  }

  Ranks& ranks_;
  int rank_;
  Stream stream_;
  std::vector<Transport> transports_;
  double rate_ = 150e12;  // FLOP/s
};

void run_rank(Ranks& ranks, int rank, const Settings& settings, PeerGroup& group,
              const std::optional<NcclId>& nccl_id) {
  check(cudaSetDevice(rank));
  const std::unique_ptr<Communicator> peers = group.join(rank);
  Stream stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::unique_ptr<Communicator> nccl_ranks;
  std::vector<Transport> transports = {{"copy engines", peers.get()}};
  if (nccl_id) {
    nccl_ranks = join_nccl(*nccl_id, settings.gpus, rank, std::chrono::seconds(30));
    transports.push_back({"nccl", nccl_ranks.get()});
  }
  for (const Transport& transport : transports) {
    measure_link(ranks, *transport.communicator, transport.name, stream);
  }
  Measurement measurement(ranks, rank, stream, transports);
  for (const std::int64_t length : settings.lengths) {
    for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
      for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
        measurement.run(length, mask, pass, false);
      }
    }
  }
  if (settings.longest == 0) return;
  measurement.run(settings.longest, Mask::kCausalTopLeft, Pass::kForward, true);
  measurement.run(settings.longest, Mask::kCausalTopLeft, Pass::kBackward, true);
  measurement.run(settings.longest, Mask::kNone, Pass::kForward, true);
  measurement.run(settings.longest, Mask::kNone, Pass::kBackward, true);
}

int run(const Settings& settings) {
  const GpuInfo gpu = current_gpu();
  std::printf("{\"gpu\": \"%s\", \"gpus\": %d, \"nccl\": \"%s\"}\n", gpu.name.c_str(),
              settings.gpus, why_no_nccl().empty() ? "found" : why_no_nccl().c_str());
  std::vector<int> devices;
  for (int rank = 0; rank < settings.gpus; ++rank) devices.push_back(rank);
  PeerGroup group(devices);
  const std::optional<NcclId> nccl_id =
      why_no_nccl().empty() ? std::optional(make_nccl_id()) : std::nullopt;
  Ranks ranks(settings.gpus, settings.seconds);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < settings.gpus; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        run_rank(ranks, rank, settings, group, nccl_id);
      } catch (const std::exception& error) {
        std::printf("{\"rank\": %d, \"error\": \"%s\"}\n", rank, error.what());
        std::fflush(stdout);
        std::_Exit(1);  // the other ranks may be waiting for this one
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(settings_in(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sharded_speed: %s\n", error.what());
    return 1;
  }
}
