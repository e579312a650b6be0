// Times flash2's tensor-core kernel with other tiles than those it is launched with, in one run:
//   flash2_tiles [head_dim] [seqlen]      16 384 tokens in all, heads x head_dim = 2048, bf16
// Each configuration's output is compared with that of the first one before it is timed.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "attention_cuda/kernels/flash2_mma_sm80.cuh"

namespace {

using namespace flashlab;
using namespace flashlab::cuda;

constexpr std::int64_t kTokens = 16384, kWidth = 2048;
constexpr int kWarmUps = 2, kSamples = 9;

struct Candidate {
  std::string name;
  std::function<void(const ForwardCall&)> launch;
};

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

template <int kHeadDim>
std::vector<Candidate> candidates() {
  using Unit = TensorCore16<BFloat16>;
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

/// Device memory filled with normal numbers.
BFloat16* random_array(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values(1 << 20);
  for (std::uint16_t& value : values) {
    const float number = normal(engine);
    std::uint32_t bits;
    std::copy_n(reinterpret_cast<const char*>(&number), 4, reinterpret_cast<char*>(&bits));
    value = static_cast<std::uint16_t>(bits >> 16);
  }
  BFloat16* array = nullptr;
  check_cuda(cudaMalloc(&array, static_cast<std::size_t>(count) * 2), "cudaMalloc");
  for (std::int64_t first = 0; first < count; first += 1 << 20) {
    const std::int64_t some = std::min<std::int64_t>(1 << 20, count - first);
    check_cuda(cudaMemcpy(array + first, values.data(), static_cast<std::size_t>(some) * 2,
                          cudaMemcpyHostToDevice),
               "cudaMemcpy");
  }
  return array;
}

std::vector<float> result_sample(const BFloat16* O) {
  std::vector<std::uint16_t> bits(1 << 20);
  check_cuda(cudaMemcpy(bits.data(), O, bits.size() * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<float> values;
  for (const std::uint16_t b : bits) {
    const std::uint32_t wide = static_cast<std::uint32_t>(b) << 16;
    float value;
    std::copy_n(reinterpret_cast<const char*>(&wide), 4, reinterpret_cast<char*>(&value));
    values.push_back(value);
  }
  return values;
}

double median_ms(const std::function<void()>& work) {
  cudaEvent_t start, end;
  check_cuda(cudaEventCreate(&start), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> samples;
  for (int k = 0; k < kWarmUps + kSamples; ++k) {
    check_cuda(cudaEventRecord(start), "cudaEventRecord");
    work();
    check_cuda(cudaEventRecord(end), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    if (k >= kWarmUps) samples.push_back(ms);
  }
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

template <int kHeadDim>
void time_candidates(std::int64_t seqlen) {
  const std::int64_t batch = kTokens / seqlen, heads = kWidth / kHeadDim, count = kTokens * kWidth;
  const std::vector<std::int64_t> shape = {batch, heads, seqlen, kHeadDim};
  BFloat16 *const Q = random_array(count, 1), *const K = random_array(count, 2),
                  *const V = random_array(count, 3), *const O = random_array(count, 4);
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    const ForwardTensors tensors = {
        view(Q, shape), view(K, shape), view(V, shape), view(O, shape), {}};
    const AttentionProblem problem = check_forward(tensors, {mask, {}, {}});
    const ExecutionOptions options;
    const ForwardCall call{{problem, options, nullptr, nullptr}, tensors};
    std::printf("head_dim %d, %lld keys, %s\n", kHeadDim, static_cast<long long>(seqlen),
                std::string(to_string(mask)).c_str());
    // The usual count: half of the pairs where the mask is causal.
    const double flops =
        4.0 * static_cast<double>(kTokens * kWidth * seqlen) / (mask == Mask::kNone ? 1 : 2);
    std::vector<float> first;
    for (const Candidate& candidate : candidates<kHeadDim>()) {
      check_cuda(cudaMemset(O, 0xff, static_cast<std::size_t>(count) * 2), "cudaMemset");
      const double ms = median_ms([&] { candidate.launch(call); });
      const std::vector<float> result = result_sample(O);
      if (first.empty()) first = result;
      double difference = 0;
      for (std::size_t k = 0; k < first.size(); ++k) {
        difference = std::max(difference, std::fabs(static_cast<double>(result[k] - first[k])));
        if (result[k] != result[k]) difference = INFINITY;
      }
      std::printf("  %8.3f ms %7.1f TFLOP/s  %s%s\n", ms, flops / ms * 1e-9, candidate.name.c_str(),
                  difference < 0.02 ? "" : "  WRONG");
    }
  }
  for (BFloat16* const array : {Q, K, V, O}) cudaFree(array);
}

}  // namespace

int main(int argc, char** argv) {
  const int head_dim = argc > 1 ? std::atoi(argv[1]) : 64;
  const std::int64_t seqlen = argc > 2 ? std::atoll(argv[2]) : 4096;
  try {
    head_dim == 64 ? time_candidates<64>(seqlen) : time_candidates<128>(seqlen);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash2_tiles: %s\n", error.what());
    return 1;
  }
  return 0;
}
