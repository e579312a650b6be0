// Times the main kernel of bwd-onepass on tensor cores with tiles other than its own, in one run:
//   bwd_tiles [head_dim] [seqlen]      16 384 tokens in all, heads x head_dim = 2048, bf16
//   bwd_tiles tf32x3 [seqlen]          batch 4, one head, head_dim 64, fp32
// Each configuration's gradients are compared with those of the first one before timing. O and lse
// contain random values: P is not a softmax, but the work is the same.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "attention_cuda/kernels/bwd_onepass_mma_sm80.cuh"

namespace {

using namespace flashlab;
using namespace flashlab::cuda;

constexpr int kWarmUps = 2, kSamples = 7;

struct Candidate {
  std::string name;
  std::function<void(const BackwardCall&)> launch;
};

template <class TensorCore, int kHeadDim, KeyTileShape kShape>
Candidate candidate() {
  using Config = KeyTileConfig<TensorCore, kHeadDim, kShape, true>;
  const std::string name =
      std::to_string(kShape.block_q) + " queries x " + std::to_string(kShape.block_kv) + " keys, " +
      std::to_string(kShape.warps) + " warps x " + std::to_string(kShape.warp_keys) + " keys, " +
      std::to_string(Config::kWarpChunk) + " at a time, " + std::to_string(kShape.stages) +
      " stages, " + std::to_string(kShape.min_blocks) + " blocks an SM, " +
      std::to_string(Config::kSharedBytes) + " bytes";
  return {name,
          [](const BackwardCall& call) { launch_bwd_onepass_mma<Config>(call, "bwd_tiles"); }};
}

template <class TensorCore, int kHeadDim>
std::vector<Candidate> candidates() {
  if constexpr (sizeof(typename TensorCore::Element) == 4) {
    return {candidate<TensorCore, 64, KeyTileShape{16, 128, 4, 32, 16, 2, 1, 2}>(),
            candidate<TensorCore, 64, KeyTileShape{32, 64, 4, 16, 32, 2, 2, 2}>(),
            candidate<TensorCore, 64, KeyTileShape{32, 128, 8, 16, 32, 2, 2, 1}>()};
  } else if constexpr (kHeadDim == 64) {
    return {candidate<TensorCore, 64, KeyTileShape{64, 128, 4, 32, 32, 2, 2, 2}>(),
            candidate<TensorCore, 64, KeyTileShape{32, 128, 4, 32, 32, 2, 2, 2}>(),
            candidate<TensorCore, 64, KeyTileShape{64, 128, 8, 16, 64, 2, 2, 1}>(),
            candidate<TensorCore, 64, KeyTileShape{64, 128, 8, 32, 64, 2, 2, 1}>()};
  } else {
    return {candidate<TensorCore, 128, KeyTileShape{64, 64, 4, 32, 64, 2, 2, 2}>(),
            candidate<TensorCore, 128, KeyTileShape{64, 128, 8, 32, 64, 2, 2, 1}>(),
            candidate<TensorCore, 128, KeyTileShape{64, 128, 8, 16, 64, 2, 2, 1}>(),
            candidate<TensorCore, 128, KeyTileShape{32, 64, 4, 16, 32, 2, 1, 2}>()};
  }
}

template <class Element>
float value_of(Element element) {
  if constexpr (sizeof(Element) == 4) {
    return element;
  } else {
    const std::uint32_t wide = static_cast<std::uint32_t>(element.bits) << 16;
    float value;
    std::copy_n(reinterpret_cast<const char*>(&wide), 4, reinterpret_cast<char*>(&value));
    return value;
  }
}
template <class Element>
Element element_of(float value) {
  if constexpr (sizeof(Element) == 4) {
    return value;
  } else {
    std::uint32_t bits;
    std::copy_n(reinterpret_cast<const char*>(&value), 4, reinterpret_cast<char*>(&bits));
    return {static_cast<std::uint16_t>(bits >> 16)};
  }
}

template <class Element>
Element* device_array(std::int64_t count) {
  Element* array = nullptr;
  check_cuda(cudaMalloc(&array, static_cast<std::size_t>(count) * sizeof(Element)), "cudaMalloc");
  return array;
}

/// Returns device memory filled with normally distributed numbers of mean `mean`.
template <class Element>
Element* random_array(std::int64_t count, unsigned seed, float mean = 0) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(mean);
  std::vector<Element> values(1 << 20);
  for (Element& value : values) value = element_of<Element>(normal(engine));
  Element* const array = device_array<Element>(count);
  for (std::int64_t first = 0; first < count; first += 1 << 20) {
    const auto some = static_cast<std::size_t>(std::min<std::int64_t>(1 << 20, count - first));
    check_cuda(
        cudaMemcpy(array + first, values.data(), some * sizeof(Element), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  }
  return array;
}

template <class Element>
void append_sample(std::vector<float>& to, const Element* from, std::int64_t count) {
  std::vector<Element> values(static_cast<std::size_t>(std::min<std::int64_t>(1 << 19, count)));
  check_cuda(
      cudaMemcpy(values.data(), from, values.size() * sizeof(Element), cudaMemcpyDeviceToHost),
      "cudaMemcpy");
  for (const Element value : values) to.push_back(value_of(value));
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

/// Returns the root mean square of the difference divided by that of the values.
double relative_difference(const std::vector<float>& values, const std::vector<float>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    difference += std::pow(static_cast<double>(values[k]) - expected[k], 2);
    norm += std::pow(static_cast<double>(expected[k]), 2);
  }
  return std::sqrt(difference / norm);
}

template <class TensorCore, int kHeadDim>
void time_candidates(std::int64_t batch, std::int64_t heads, std::int64_t seqlen) {
  using Element = typename TensorCore::Element;
  const std::int64_t count = batch * heads * seqlen * kHeadDim;
  const std::vector<std::int64_t> shape = {batch, heads, seqlen, kHeadDim};
  std::vector<Element*> arrays;
  for (unsigned k = 0; k < 5; ++k) arrays.push_back(random_array<Element>(count, k));
  for (unsigned k = 0; k < 3; ++k) arrays.push_back(device_array<Element>(count));
  float* const lse = random_array<float>(count / kHeadDim, 5, std::log(static_cast<float>(seqlen)));
  const auto tensor = [&](std::size_t k) { return view(arrays[k], shape); };
  const BackwardTensors tensors = {
      tensor(0), tensor(1), tensor(2), tensor(3), view(lse, {batch, heads, seqlen}),
      tensor(4), tensor(5), tensor(6), tensor(7)};
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    const AttentionProblem problem = check_backward(tensors, {mask, {}, {}});
    const ExecutionOptions options;
    const std::size_t bytes = bwd_onepass_mma_workspace_bytes(problem, options);
    std::byte* const workspace = device_array<std::byte>(static_cast<std::int64_t>(bytes));
    const BackwardCall call{{problem, options, nullptr, workspace}, tensors};
    std::printf("head_dim %d, %lld keys, %s\n", kHeadDim, static_cast<long long>(seqlen),
                std::string(to_string(mask)).c_str());
    // The usual count: half of the pairs for a causal mask.
    const double flops = 10.0 * static_cast<double>(count * seqlen) / (mask == Mask::kNone ? 1 : 2);
    std::vector<float> first;
    for (const Candidate& candidate : candidates<TensorCore, kHeadDim>()) {
      const double ms = median_ms([&] { candidate.launch(call); });
      std::vector<float> result;
      for (std::size_t k = 5; k < 8; ++k) append_sample(result, arrays[k], count);
      if (first.empty()) first = result;
      const bool is_right = relative_difference(result, first) < 0.01;  // false for NaN as well
      std::printf("  %8.3f ms %7.1f TFLOP/s  %s%s\n", ms, flops / ms * 1e-9, candidate.name.c_str(),
                  is_right ? "" : "  WRONG");
    }
    cudaFree(workspace);
  }
  for (Element* const array : arrays) cudaFree(array);
  cudaFree(lse);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "64";
  const std::int64_t seqlen = argc > 2 ? std::atoll(argv[2]) : what == "tf32x3" ? 8192 : 4096;
  constexpr std::int64_t kTokens = 16384, kWidth = 2048;
  try {
    if (what == "tf32x3") {
      time_candidates<TensorCoreTf32x3, 64>(4, 1, seqlen);
    } else if (what == "64") {
      time_candidates<TensorCore16<BFloat16>, 64>(kTokens / seqlen, kWidth / 64, seqlen);
    } else {
      time_candidates<TensorCore16<BFloat16>, 128>(kTokens / seqlen, kWidth / 128, seqlen);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bwd_tiles: %s\n", error.what());
    return 1;
  }
  return 0;
}
