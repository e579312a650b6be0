// From flash2_mma_sm80 to flash2_wgmma_sm90, one idea at a time, in turns in one process:
//
//   flash2_steps [FLAG VALUE]...    bf16, 16 384 tokens in all, heads x head_dim = 2048
//     --head-dim 64,128,256         --seqlen 1024,2048,4096,16384
//     --rounds 15                   each round runs every step once
//     --json FILE                   writes the samples
//     --stamps FILE                 writes when a block of one more call reached which point
//     --commit TEXT                 the commit to record in the files (git's)
//
// Each step's output is compared with that of the first one. Exit code 1 if one differs.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/bench/clock_marks.cuh"
#include "attention_cuda/bench/flash2_step_shapes.hpp"
#include "attention_cuda/bench/run_context.hpp"
#include "attention_cuda/bench/timed_candidates.cuh"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"
#include "attention_cuda/kernels/forward_wgmma/launch.cuh"

namespace {

using namespace flashlab;
using namespace flashlab::bench;
using namespace flashlab::cuda;

constexpr std::int64_t kTokens = 16384, kWidth = 2048;
constexpr int kWarmUps = 3;

// ---- Steps

template <int kHeadDim, int kStep, class Marks = NoMarks>
void launch_step(const ForwardCall& call) {
  if constexpr (kStep == 0) {
    launch_flash2_mma<Flash2ConfigOf<TensorCore16<BFloat16>, kHeadDim,
                                     kFlash2Shapes16[head_dim_index(kHeadDim)]>>(call,
                                                                                 "flash2_steps");
  } else {
    launch_wgmma<WgmmaConfig<BFloat16, shape_of_step(kHeadDim, kStep), Marks>>(call);
  }
}

template <int kHeadDim>
std::vector<Candidate> steps() {
  return []<int... kStep>(std::integer_sequence<int, kStep...>) {
    return std::vector<Candidate>{{kSteps[kStep], launch_step<kHeadDim, kStep>}...};
  }
  (std::make_integer_sequence<int, num_steps(kHeadDim)>());
}

std::vector<Candidate> steps_of(std::int64_t head_dim) {
  switch (head_dim) {
    case 64:
      return steps<64>();
    case 128:
      return steps<128>();
    case 256:
      return steps<256>();
    default:
      throw std::invalid_argument("--head-dim: " + std::to_string(head_dim) +
                                  ": expected 64, 128 or 256");
  }
}

// ---- Times

struct Settings {
  std::vector<std::int64_t> head_dims = {64, 128, 256}, seqlens = {1024, 2048, 4096, 16384};
  int rounds = 15;
  std::string json_file, stamps_file, commit;
};

JsonObject row_of(const CandidateShape& shape, bool is_causal, const std::string& step) {
  const std::vector<double> sizes = {
      static_cast<double>(shape.batch), static_cast<double>(shape.num_heads),
      static_cast<double>(shape.seqlen), static_cast<double>(shape.head_dim)};
  JsonObject row;
  row.add("step", step)
      .add("dtype", "bf16")
      .add("shape", json_array(sizes))
      .add("mask", is_causal ? "causal" : "none");
  return row;
}

/// Adds a row for each step. Returns whether all results are right.
bool time_steps(std::int64_t head_dim, std::int64_t seqlen, int rounds,
                std::vector<JsonText>& rows) {
  const CandidateShape shape = {kTokens / seqlen, kWidth / head_dim, seqlen, head_dim};
  const std::vector<Candidate> candidates = steps_of(head_dim);
  const CandidateTensors<BFloat16> tensors(shape);
  bool is_right = true;
  for (const bool is_causal : {false, true}) {
    const Mask mask = is_causal ? Mask::kCausalTopLeft : Mask::kNone;
    const AttentionProblem problem = check_forward(tensors.forward(), {mask, {}, {}});
    const ExecutionOptions options;
    const DeviceMemory workspace("the counter of query tiles",
                                 wgmma_workspace_bytes(problem, options));
    const ForwardCall call{{problem, options, nullptr, static_cast<std::byte*>(workspace.data())},
                           tensors.forward()};
    const auto flops = static_cast<double>(forward_flops(problem));
    std::printf("head_dim %lld, %lld keys, %s\n", static_cast<long long>(head_dim),
                static_cast<long long>(seqlen), is_causal ? "causal" : "full");
    const std::vector<BFloat16> first = tensors.result_of(candidates.front(), call);
    std::vector<double> differences;
    for (const Candidate& candidate : candidates) {
      differences.push_back(largest_difference(first, tensors.result_of(candidate, call)));
    }
    const std::vector<Samples> samples = time_in_turns(candidates, call, kWarmUps, rounds);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const double ms = samples[k].median();
      const bool is_same = differences[k] < kLargestDifference;
      is_right = is_right && is_same;
      std::printf("  %8.3f ms (%.3f to %.3f) %7.1f TFLOP/s  %s%s\n", ms, samples[k].least(),
                  samples[k].most(), flops / ms * 1e-9, candidates[k].name.c_str(),
                  is_same ? "" : "  WRONG");
      rows.push_back(row_of(shape, is_causal, candidates[k].name)
                         .add("median_ms", ms)
                         .add("samples_ms", json_array(samples[k].ms))
                         .add("flops", flops)
                         .add("flops_per_s", flops / (1e-3 * ms))
                         .add("largest_difference_to_first", differences[k])
                         .text());
    }
    std::fflush(stdout);
  }
  return is_right;
}

// ---- Stamps

constexpr const char* kMarkNames[] = {
    "waits for K",    "waits for V",  "waits for Q", "loads K",     "loads V", "loads Q",
    "waits for turn", "issues Q K^T", "issues P V",  "waits for S", "has S",   "has P",
    "waits for O",    "has O",        "stores O",    "ends"};
static_assert(std::size(kMarkNames) == kNumWgmmaMarks);

/// All heads of one sequence: block 0 takes several query tiles.
template <int kHeadDim, int kStep>
JsonText stamps_of_step() {
  constexpr std::int64_t kSeqlen = 2048;
  constexpr WgmmaShape kShape = shape_of_step(kHeadDim, kStep);
  const CandidateShape shape = {1, kWidth / kHeadDim, kSeqlen, kHeadDim};
  const CandidateTensors<BFloat16> tensors(shape);
  const AttentionProblem problem = check_forward(tensors.forward(), {});
  const ExecutionOptions options;
  const DeviceMemory workspace("the counter of query tiles",
                               wgmma_workspace_bytes(problem, options));
  const ForwardCall call{{problem, options, nullptr, static_cast<std::byte*>(workspace.data())},
                         tensors.forward()};
  const std::vector<Candidate> both = {{"as it is", launch_step<kHeadDim, kStep>},
                                       {"marked", launch_step<kHeadDim, kStep, ClockMarks>}};
  const std::vector<Samples> samples = time_in_turns(both, call, kWarmUps, 9);
  forget_stamps();
  both[1].launch(call);
  return row_of(shape, false, kSteps[kStep])
      .add("block_q", double(kShape.block_q()))
      .add("block_kv", double(kShape.block_kv))
      .add("median_ms", samples[0].median())
      .add("median_ms_with_marks", samples[1].median())
      .add("stamps", json_of(recorded_stamps(), kMarkNames))
      .text();
}

template <int kHeadDim>
void add_stamps(std::vector<JsonText>& runs) {
  [&]<int... kStep>(std::integer_sequence<int, kStep...>) {
    (runs.push_back(stamps_of_step<kHeadDim, kStep + 1>()), ...);
  }
  (std::make_integer_sequence<int, num_steps(kHeadDim) - 1>());
}

// ---- Flags

std::vector<std::int64_t> numbers(const std::string& flag, const std::string& text) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    const std::int64_t number = std::atoll(word.c_str());
    if (number < 1 || std::to_string(number) != word || number > kTokens) {
      throw std::invalid_argument(flag + ": " + text +
                                  ": expected numbers from 1 to 16384, as 64,128");
    }
    found.push_back(number);
    at = comma + 1;
  }
  return found;
}

Settings parse(const std::vector<std::string>& words) {
  Settings settings;
  for (std::size_t k = 0; k < words.size(); k += 2) {
    const std::string& flag = words[k];
    if (k + 1 == words.size()) throw std::invalid_argument(flag + ": expected a value");
    const std::string& value = words[k + 1];
    if (flag == "--head-dim") {
      settings.head_dims = numbers(flag, value);
    } else if (flag == "--seqlen") {
      settings.seqlens = numbers(flag, value);
    } else if (flag == "--rounds") {
      settings.rounds = static_cast<int>(numbers(flag, value).front());
    } else if (flag == "--json") {
      settings.json_file = value;
    } else if (flag == "--stamps") {
      settings.stamps_file = value;
    } else if (flag == "--commit") {
      settings.commit = value;
    } else {
      throw std::invalid_argument(flag +
                                  ": expected a flag that the first lines of flash2_steps.cu list");
    }
  }
  for (const std::int64_t head_dim : settings.head_dims) steps_of(head_dim);  // or throws
  return settings;
}

int measure_and_write(const Settings& settings, const std::string& command) {
  const GpuInfo gpu = gpu_here();
  JsonObject times = run_context(command, settings.commit, gpu);
  std::vector<JsonText> rows;
  bool is_right = true;
  for (const std::int64_t head_dim : settings.head_dims) {
    for (const std::int64_t seqlen : settings.seqlens) {
      is_right = time_steps(head_dim, seqlen, settings.rounds, rows) && is_right;
    }
  }
  times.add("gpu_after", gpu_state()).add("rows", json_array(rows, true));
  if (!settings.json_file.empty()) write_json(settings.json_file, times);
  if (!settings.stamps_file.empty()) {
    JsonObject stamps = run_context(command, settings.commit, gpu);
    std::vector<JsonText> runs;
    add_stamps<64>(runs);
    add_stamps<128>(runs);
    stamps.add("gpu_after", gpu_state())
        .add("unit", "cycles of the multiprocessor's clock, from the first stamp on")
        .add("columns",
             json_array(std::vector<std::string>{"cycle", "warpgroup", "turn", "tile", "mark"}))
        .add("runs", json_array(runs, true));
    write_json(settings.stamps_file, stamps);
  }
  return is_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string command = "flash2_steps";
  for (const std::string& word : words) command += " " + word;
  try {
    return measure_and_write(parse(words), command);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "flash2_steps: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash2_steps: %s\n", error.what());
    return 1;
  }
}
