// Times flash2's kernels with tiles other than their own, in turns in one run:
//   flash2_tiles bf16 [head_dim] [seqlen]   16 384 tokens in all, heads x head_dim = 2048
//   flash2_tiles fp32 [head_dim] [seqlen]   batch 4, one head; tf32, tf32x3 the same
// Each configuration's output is compared with that of the first one.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cuda/bench/timed_candidates.cuh"
#include "attention_cuda/kernels/flash2_fp32_choices.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"

namespace {

using namespace flashlab;
using namespace flashlab::bench;
using namespace flashlab::cuda;

constexpr int kWarmUps = 2, kSamples = 9;

template <class Unit, int kHeadDim, int kWarps, int kRowTiles, int kKeys, bool kKeepsQueries,
          int kBlocksAnSm>
Candidate candidate() {
  using Config = Flash2Config<Unit, kHeadDim, kWarps, kRowTiles, kKeys, kKeepsQueries, kBlocksAnSm>;
  const std::string name = std::to_string(kWarps) + " warps x " + std::to_string(16 * kRowTiles) +
                           " queries, " + std::to_string(kKeys) + " keys, " +
                           (kKeepsQueries ? "Q in registers, " : "Q in shared, ") +
                           std::to_string(kBlocksAnSm) + " blocks an SM";
  return {name, [](const ForwardCall& call) { launch_flash2_mma<Config>(call, "flash2_tiles"); }};
}

template <class Element, int kHeadDim>
std::vector<Candidate> candidates() {
  using Unit = TensorCore16<Element>;
  if constexpr (kHeadDim == 64) {
    return {candidate<Unit, 64, 4, 2, 64, true, 2>(),  candidate<Unit, 64, 4, 2, 64, false, 2>(),
            candidate<Unit, 64, 4, 2, 64, false, 3>(), candidate<Unit, 64, 4, 2, 32, true, 2>(),
            candidate<Unit, 64, 4, 2, 32, false, 3>(), candidate<Unit, 64, 4, 2, 128, false, 2>(),
            candidate<Unit, 64, 8, 2, 64, true, 1>(),  candidate<Unit, 64, 8, 1, 64, true, 2>(),
            candidate<Unit, 64, 4, 1, 64, true, 4>(),  candidate<Unit, 64, 4, 1, 128, true, 3>()};
  } else {
    return {candidate<Unit, 128, 4, 2, 64, false, 2>(), candidate<Unit, 128, 4, 2, 32, false, 2>(),
            candidate<Unit, 128, 8, 1, 64, false, 1>(), candidate<Unit, 128, 4, 1, 64, false, 2>(),
            candidate<Unit, 128, 4, 1, 64, false, 3>(), candidate<Unit, 128, 4, 1, 32, true, 2>()};
  }
}

/// Candidates for head_dim 64.
template <class Unit>
std::vector<Candidate> float_candidates() {
  return {candidate<Unit, 64, 4, 2, 32, false, 2>(), candidate<Unit, 64, 4, 2, 32, false, 3>(),
          candidate<Unit, 64, 4, 1, 64, false, 2>(), candidate<Unit, 64, 4, 1, 32, false, 3>(),
          candidate<Unit, 64, 4, 1, 32, true, 2>(),  candidate<Unit, 64, 8, 1, 32, false, 2>()};
}

template <class Element>
void time_candidates(const std::vector<Candidate>& candidates, const CandidateShape& shape) {
  const CandidateTensors<Element> tensors(shape);
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    const AttentionProblem problem = check_forward(tensors.forward(), {mask, {}, {}});
    const ExecutionOptions options;
    const ForwardCall call{{problem, options, nullptr, nullptr}, tensors.forward()};
    std::printf("head_dim %lld, %lld keys, %s\n", static_cast<long long>(shape.head_dim),
                static_cast<long long>(shape.seqlen), std::string(to_string(mask)).c_str());
    // The usual count: half of the pairs for a causal mask.
    const double flops = 4.0 * static_cast<double>(shape.num_elements() * shape.seqlen) /
                         (mask == Mask::kNone ? 1 : 2);
    const std::vector<Element> first = tensors.result_of(candidates.front(), call);
    const std::vector<Samples> samples = time_in_turns(candidates, call, kWarmUps, kSamples);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const double ms = samples[k].median();
      const double difference = largest_difference(first, tensors.result_of(candidates[k], call));
      std::printf("  %8.3f ms %7.1f TFLOP/s  %s%s\n", ms, flops / ms * 1e-9,
                  candidates[k].name.c_str(), difference < kLargestDifference ? "" : "  WRONG");
    }
  }
}

void time_all(const std::string& arithmetic, std::int64_t head_dim, std::int64_t seqlen) {
  const CandidateShape small = {4, 1, seqlen, head_dim};
  if (arithmetic == "bf16") {
    const CandidateShape shape = {16384 / seqlen, 2048 / head_dim, seqlen, head_dim};
    time_candidates<BFloat16>(
        head_dim == 64 ? candidates<BFloat16, 64>() : candidates<BFloat16, 128>(), shape);
  } else if (arithmetic == "tf32") {
    time_candidates<float>(float_candidates<TensorCoreTf32>(), small);
  } else if (arithmetic == "tf32x3") {
    time_candidates<float>(float_candidates<TensorCoreTf32x3>(), small);
  } else if (arithmetic == "fp32") {
    std::vector<Candidate> simt;
    for (const Flash2Fp32Choice& choice : flash2_fp32_choices()) {
      const Flash2Fp32Shape& shape = choice.shape;
      if (shape.head_dim != head_dim) continue;
      simt.push_back({std::to_string(shape.block_q()) + " x " + std::to_string(shape.block_kv) +
                          ", " + std::to_string(shape.num_warps) + " warps",
                      choice.launch});
    }
    time_candidates<float>(simt, small);
  } else {
    throw std::invalid_argument(arithmetic + ": expected bf16, fp32, tf32 or tf32x3");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    time_all(argc > 1 ? argv[1] : "bf16", argc > 2 ? std::atoll(argv[2]) : 64,
             argc > 3 ? std::atoll(argv[3]) : 4096);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash2_tiles: %s\n", error.what());
    return 1;
  }
  return 0;
}
