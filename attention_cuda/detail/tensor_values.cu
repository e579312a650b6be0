#include <cmath>
#include <functional>
#include <numeric>

#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/ptx/convert.cuh"

namespace flashlab::cuda {
namespace {

constexpr int kValueThreads = 256;

/// 64 pseudo-random bits (Steele, Lea and Flood 2014, SplitMix64).
__device__ std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// In (0, 1].
__device__ float uniform(std::uint32_t bits) {
  return (static_cast<float>(bits) + 0.5f) * 0x1p-32f;
}

/// Box and Muller 1958.
__device__ float normal(std::uint64_t bits) {
  constexpr float kTwoPi = 6.2831853f;
  const float radius = sqrtf(-2 * logf(uniform(static_cast<std::uint32_t>(bits >> 32))));
  return radius * cosf(kTwoPi * uniform(static_cast<std::uint32_t>(bits)));
}

__device__ std::int64_t thread_of_grid() {
  return static_cast<std::int64_t>(blockIdx.x) * kValueThreads + threadIdx.x;
}

template <class Element>
__global__ void draw_normal_kernel(Element* values, std::int64_t count, std::uint64_t seed) {
  const std::int64_t k = thread_of_grid();
  if (k < count) values[k] = ptx::from_float<Element>(normal(mixed(mixed(seed) + k)));
}

template <class Element>
__global__ void look_for_nan_kernel(const Element* values, std::int64_t count, int* found) {
  const std::int64_t k = thread_of_grid();
  if (k >= count) return;
  const float value = ptx::to_float(values[k]);
  if (value != value) *found = 1;  // concurrent writers store the same value
}

std::int64_t num_elements(const TensorView& tensor) {
  if (tensor.empty()) return 0;
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

/// Launches a kernel with one thread per element.
template <class... Parameters, class... Arguments>
void launch_for_each(Stream stream, std::string_view name, void (*kernel)(Parameters...),
                     std::int64_t count, const Arguments&... arguments) {
  const AttentionProblem none;
  ExecutionOptions options;
  options.stream = stream;
  launch({none, options, nullptr, nullptr}, name, kernel,
         {(count + kValueThreads - 1) / kValueThreads, kValueThreads}, arguments...);
}

/// Calls `work` with a typed pointer to the first element.
template <class Work>
void with_element_type(const TensorView& tensor, const Work& work) {
  switch (tensor.dtype) {
    case DataType::kFloat32:
      return work(static_cast<float*>(tensor.data));
    case DataType::kBFloat16:
      return work(static_cast<BFloat16*>(tensor.data));
    case DataType::kFloat16:
      return work(static_cast<Float16*>(tensor.data));
    case DataType::kFloat64:
      throw ProblemError("dtype", to_string(tensor.dtype), "float, bf16 or fp16 on a GPU");
  }
}

}  // namespace

void draw_normal(const TensorView& tensor, std::uint64_t seed, Stream stream) {
  const std::int64_t count = num_elements(tensor);
  with_element_type(tensor, [&]<class Element>(Element* values) {
    launch_for_each(stream, "draw_normal", draw_normal_kernel<Element>, count, values, count, seed);
  });
}

void look_for_nan(const TensorView& tensor, int* found, Stream stream) {
  const std::int64_t count = num_elements(tensor);
  with_element_type(tensor, [&]<class Element>(Element* values) {
    launch_for_each(stream, "look_for_nan", look_for_nan_kernel<Element>, count, values, count,
                    found);
  });
}

}  // namespace flashlab::cuda
