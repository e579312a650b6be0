// Attention over several GPUs of this computer beside one GPU, in one process: time, and efficiency
// T1 / (R T_R), where T1 is one GPU's time for the same problem in the same run. First, the links.
//
//   sharded_speed [--gpus 2] [--lengths 65536,262144] [--longest 1048576] [--longest-variants ring]
//                 [--seconds 190] [--causes 1]
//
// --causes 1 measures what an efficiency below 1 consists of, in place of every transport. All GPUs work at
// the same time: each for the whole problem, and then each for its part, with messages and without.
// Without them it computes with the keys that the last run left in its buffers. The first says how
// much the GPUs differ; parts and sums cost what the third adds; messages, and waiting for a slower GPU in
// each step, the rest. "…_at" has the begin and the end of each in seconds since 1970, for samples of clocks.
//
// 1 batch, 16 heads, head_dim 128, bf16. Full masks in contiguous, causal ones in zigzag order. A
// length up to --lengths' last has three runs after a warm-up (the median counts), --longest has one.
// Configurations that would exceed the seconds are left out, and named. One JSON object per line.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attention_cuda/bench/rank_threads.hpp"
#include "attention_cuda/bench/sharded_calls.hpp"
#include "attention_cuda/ranks/nccl_communicator.hpp"
#include "attention_cuda/ranks/peer_communicator.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::cuda;
using bench::check;
using bench::EventPair;
using bench::kHeadDim;
using bench::kNumHeads;
using bench::OfRank;
using bench::OneGpu;
using bench::problem_of;
using bench::Ranks;
using bench::SilentCommunicator;

struct Settings {
  int gpus = 2;
  std::vector<std::int64_t> lengths = {65536, 262144};
  std::int64_t longest = 1048576;
  std::vector<std::string> longest_variants = {"ring"};
  double seconds = 190;
  bool causes = false;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list) c == ',' ? words.emplace_back() : words.back() += c;
  return words;
}

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
    } else if (flag == "--longest-variants") {
      settings.longest_variants = words_of(value);
    } else if (flag == "--causes") {
      settings.causes = value == "1";
    } else if (flag == "--lengths") {
      settings.lengths.clear();
      for (const std::string& word : words_of(value)) settings.lengths.push_back(std::stoll(word));
    } else {
      throw std::runtime_error(flag + ": expected a flag of the first lines of the source");
    }
  }
  return settings;
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
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

struct Transport {
  const char* name;
  Communicator* communicator;
};

/// Runs one configuration on one GPU and on all.
class Measurement {
 public:
  Measurement(Ranks& ranks, int rank, Stream stream, std::vector<Transport> transports,
              std::vector<std::string> longest_variants)
      : ranks_(ranks),
        rank_(rank),
        stream_(stream),
        transports_(std::move(transports)),
        longest_variants_(std::move(longest_variants)) {}

  void run(std::int64_t length, Mask mask, Pass pass, bool is_longest) {
    const AttentionProblem problem = problem_of(length, mask);
    const double flops = flops_of(length, mask, pass);
    if (leaves_out(length, mask, pass, is_longest ? 1.7 : 4)) return;
    const double one_ms =
        ranks_.agreed(rank_, rank_ == 0 ? time_one(problem, pass, is_longest) : 0);
    rate_ = std::min(rate_ * 1.5, flops / (1e-3 * one_ms));
    for (const std::string& variant : variants_of(is_longest)) {
      for (const Transport& transport : transports_) {
        if (is_longest && transport.communicator != transports_.front().communicator) continue;
        if (ranks_.agreed(rank_, ranks_.seconds_left()) < 2e-3 * one_ms) continue;
        OfRank call({problem, shards_of(mask)}, variant, pass, *transport.communicator, stream_);
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
            static_cast<long long>(length), name(mask), name(pass), variant.c_str(), transport.name,
            ranks_.num_ranks(), one_ms, ms, *std::min_element(samples.begin(), samples.end()),
            one_ms / (ranks_.num_ranks() * ms), flops / ms / 1e9 / ranks_.num_ranks(),
            1e-9 * static_cast<double>(call.workspace_bytes()));
        std::fflush(stdout);
      }
    }
  }

  /// --causes.
  void run_causes(std::int64_t length, Mask mask, Pass pass, bool is_longest) {
    const AttentionProblem problem = problem_of(length, mask);
    if (leaves_out(length, mask, pass, is_longest ? 2 : 8)) return;
    ranks_.meet();
    const double whole_from = now_s();
    const std::vector<double> whole = ranks_.all_ms(rank_, time_one(problem, pass, is_longest));
    const std::vector<double> whole_at = {whole_from, now_s()};
    rate_ = std::min(rate_ * 1.5, flops_of(length, mask, pass) / (1e-3 * whole[0]));
    for (const std::string& variant : variants_of(is_longest)) {
      SilentCommunicator communicator(*transports_.front().communicator);
      OfRank call({problem, shards_of(mask)}, variant, pass, communicator, stream_);
      const auto times = [&] {
        std::vector<double> samples;
        for (int k = 0; k < (is_longest ? 1 : 3); ++k) samples.push_back(call.own_time_ms(ranks_));
        return ranks_.all_ms(rank_, median(samples));
      };
      if (!is_longest) call.time_ms(ranks_);
      const double with_from = now_s();
      const std::vector<double> with_messages = times();
      const double without_from = now_s();
      communicator.set_silent(true);
      const std::vector<double> without = times();
      const std::vector<double> with_at = {with_from, without_from},
                                without_at = {without_from, now_s()};
      if (rank_ != 0) continue;
      std::printf(
          "{\"length\": %lld, \"mask\": \"%s\", \"pass\": \"%s\", \"variant\": \"%s\", \"gpus\": "
          "%d, "
          "\"whole_problem_ms\": %s, \"with_messages_ms\": %s, \"without_messages_ms\": %s, "
          "\"whole_problem_at\": %s, \"with_messages_at\": %s, \"without_messages_at\": %s}\n",
          static_cast<long long>(length), name(mask), name(pass), variant.c_str(),
          ranks_.num_ranks(), list_text(whole).c_str(), list_text(with_messages).c_str(),
          list_text(without).c_str(), list_text(whole_at).c_str(), list_text(with_at).c_str(),
          list_text(without_at).c_str());
      std::fflush(stdout);
    }
  }

 private:
  static double flops_of(std::int64_t length, Mask mask, Pass pass) {
    return static_cast<double>(length) * static_cast<double>(length) * 4 * kNumHeads * kHeadDim *
           (mask == Mask::kNone ? 1 : 0.5) * (pass == Pass::kForward ? 1 : 2.5);
  }
  std::vector<std::string> variants_of(bool is_longest) const {
    return is_longest ? longest_variants_ : std::vector<std::string>{"ring", "gather-kv"};
  }
  Shards shards_of(Mask mask) const {
    return {mask == Mask::kNone ? Sharding::kContiguous : Sharding::kZigzag, ranks_.num_ranks()};
  }
  /// Whether this number of runs on one GPU would exceed the seconds: at first by a slow guess, then by the
  /// rate seen.
  bool leaves_out(std::int64_t length, Mask mask, Pass pass, double runs) {
    const double left = ranks_.agreed(rank_, ranks_.seconds_left());
    if (runs * flops_of(length, mask, pass) / rate_ <= left) return false;
    if (rank_ == 0) {
      std::printf("{\"left_out\": \"%lld %s %s\", \"seconds_left\": %.0f}\n",
                  static_cast<long long>(length), name(mask), name(pass), left);
    }
    return true;
  }
  static double now_s() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  /// "[12.346, 12.400]".
  static std::string list_text(const std::vector<double>& values) {
    std::string text;
    for (const double value : values) {
      std::array<char, 32> digits = {};
      std::snprintf(digits.data(), digits.size(), "%.3f", value);
      text += (text.empty() ? "[" : ", ") + std::string(digits.data());
    }
    return text + "]";
  }
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
  std::vector<std::string> longest_variants_;
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
  Measurement measurement(ranks, rank, stream, transports, settings.longest_variants);
  const auto measure = [&](std::int64_t length, Mask mask, Pass pass, bool is_longest) {
    settings.causes ? measurement.run_causes(length, mask, pass, is_longest)
                    : measurement.run(length, mask, pass, is_longest);
  };
  for (const std::int64_t length : settings.lengths) {
    for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
      for (const Pass pass : {Pass::kForward, Pass::kBackward}) measure(length, mask, pass, false);
    }
  }
  if (settings.longest == 0) return;
  for (const Mask mask : {Mask::kCausalTopLeft, Mask::kNone}) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      measure(settings.longest, mask, pass, true);
    }
  }
}

int run(const Settings& settings) {
  const GpuInfo gpu = current_gpu();
  std::printf("{\"gpu\": \"%s\", \"gpus\": %d, \"nccl\": \"%s\"}\n", gpu.name.c_str(),
              settings.gpus, why_no_nccl().empty() ? "found" : why_no_nccl().c_str());
  std::vector<int> devices;
  for (int rank = 0; rank < settings.gpus; ++rank) devices.push_back(rank);
  PeerGroup group(devices);
  const std::optional<NcclId> nccl_id =
      !settings.causes && why_no_nccl().empty() ? std::optional(make_nccl_id()) : std::nullopt;
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
