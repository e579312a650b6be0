// Times flash2's kernels with tiles other than their own, in one run:
//   flash2_tiles bf16 [head_dim] [seqlen]   16 384 tokens in all, heads x head_dim = 2048
//   flash2_tiles fp32 [head_dim] [seqlen]   batch 4, one head; tf32, tf32x3 the same
// Each configuration's output is compared with that of the first one.
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cuda/kernels/flash2_fp32_choices.hpp"
#include "attention_cuda/kernels/flash2_mma_sm80.cuh"

namespace {

using namespace flashlab;
using namespace flashlab::cuda;

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
struct Bits;
template <>
struct Bits<float> {
  static float from(float value) { return value; }
  static float to(float value) { return value; }
};
template <>
struct Bits<BFloat16> {
  static BFloat16 from(float value) {
    return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)};
  }
  static float to(BFloat16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
  }
};

constexpr std::int64_t kSome = 1 << 20;  // drawn or compared at a time

/// Returns device memory filled with normally distributed numbers.
template <class Element>
Element* random_array(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<Element> values(kSome);
  for (Element& value : values) value = Bits<Element>::from(normal(engine));
  Element* array = nullptr;
  check_cuda(cudaMalloc(&array, static_cast<std::size_t>(count) * sizeof(Element)), "cudaMalloc");
  for (std::int64_t first = 0; first < count; first += kSome) {
    const auto some = static_cast<std::size_t>(std::min(kSome, count - first));
    check_cuda(
        cudaMemcpy(array + first, values.data(), some * sizeof(Element), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  }
  return array;
}

template <class Element>
std::vector<float> result_sample(const Element* O, std::int64_t count) {
  std::vector<Element> stored(static_cast<std::size_t>(std::min(kSome, count)));
  check_cuda(cudaMemcpy(stored.data(), O, stored.size() * sizeof(Element), cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  std::vector<float> values;
  for (const Element& value : stored) values.push_back(Bits<Element>::to(value));
  return values;
}

/// Returns the largest difference; infinity if a result is NaN.
double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double difference = std::fabs(static_cast<double>(a[k]) - static_cast<double>(b[k]));
    if (!(difference <= largest)) largest = difference == difference ? difference : INFINITY;
  }
  return largest;
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

struct Shape {
  std::int64_t batch, num_heads, seqlen, head_dim;
};

template <class Element>
void time_candidates(const std::vector<Candidate>& candidates, const Shape& shape) {
  const std::vector<std::int64_t> sizes = {shape.batch, shape.num_heads, shape.seqlen,
                                           shape.head_dim};
  const std::int64_t count = shape.batch * shape.num_heads * shape.seqlen * shape.head_dim;
  Element* arrays[4] = {};
  for (unsigned k = 0; k < 4; ++k) arrays[k] = random_array<Element>(count, k);
  const auto [Q, K, V, O] = arrays;
  const ForwardTensors tensors = {
      view(Q, sizes), view(K, sizes), view(V, sizes), view(O, sizes), {}};
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    const AttentionProblem problem = check_forward(tensors, {mask, {}, {}});
    const ExecutionOptions options;
    const ForwardCall call{{problem, options, nullptr, nullptr}, tensors};
    std::printf("head_dim %lld, %lld keys, %s\n", static_cast<long long>(shape.head_dim),
                static_cast<long long>(shape.seqlen), std::string(to_string(mask)).c_str());
    // The usual count: half of the pairs for a causal mask.
    const double flops =
        4.0 * static_cast<double>(count * shape.seqlen) / (mask == Mask::kNone ? 1 : 2);
    std::vector<float> first;
    for (const Candidate& candidate : candidates) {
      check_cuda(cudaMemset(O, 0xff, static_cast<std::size_t>(count) * sizeof(Element)),
                 "cudaMemset");
      const double ms = median_ms([&] { candidate.launch(call); });
      const std::vector<float> result = result_sample(O, count);
      if (first.empty()) first = result;
      std::printf("  %8.3f ms %7.1f TFLOP/s  %s%s\n", ms, flops / ms * 1e-9, candidate.name.c_str(),
                  largest_difference(first, result) < 0.02 ? "" : "  WRONG");
    }
  }
  for (Element* const array : arrays) cudaFree(array);
}

void time_all(const std::string& arithmetic, std::int64_t head_dim, std::int64_t seqlen) {
  const Shape small = {4, 1, seqlen, head_dim};
  if (arithmetic == "bf16") {
    const Shape shape = {16384 / seqlen, 2048 / head_dim, seqlen, head_dim};
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
