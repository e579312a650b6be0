// What the programs that compare configurations of a forward kernel share: tensors, a check of the
// results, and times in turns.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "attention_cuda/detail/call.hpp"
#include "attention_cuda/detail/tensor_values.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/samples.hpp"

namespace flashlab::bench {

struct Candidate {
  std::string name;
  std::function<void(const cuda::ForwardCall&)> launch;
};

/// All heads have as many queries as keys.
struct CandidateShape {
  std::int64_t batch, num_heads, seqlen, head_dim;
  std::int64_t num_elements() const { return batch * num_heads * seqlen * head_dim; }
};

template <class Element>
DataType data_type() {
  if constexpr (sizeof(Element) == sizeof(float)) {
    return DataType::kFloat32;
  } else {
    return DataType::kBFloat16;
  }
}

inline float value_of(float element) { return element; }
inline float value_of(BFloat16 element) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(element.bits) << 16);
}

/// Q, K and V with normally distributed numbers, and O.
template <class Element>
class CandidateTensors {
 public:
  explicit CandidateTensors(const CandidateShape& shape)
      : num_elements_(shape.num_elements()),
        Q_("Q", bytes()),
        K_("K", bytes()),
        V_("V", bytes()),
        O_("O", bytes()) {
    const std::vector<std::int64_t> sizes = {shape.batch, shape.num_heads, shape.seqlen,
                                             shape.head_dim};
    const auto view_of = [&](const cuda::DeviceMemory& memory) {
      return view(static_cast<Element*>(memory.data()), sizes);
    };
    tensors_ = {view_of(Q_), view_of(K_), view_of(V_), view_of(O_), {}};
    std::uint64_t seed = 1;
    for (const TensorView& input : {tensors_.Q, tensors_.K, tensors_.V}) {
      cuda::draw_normal(input, seed++, nullptr);
    }
  }

  const ForwardTensors& forward() const { return tensors_; }

  /// Fills O with NaN, runs the candidate and returns O.
  std::vector<Element> result_of(const Candidate& candidate, const cuda::ForwardCall& call) const {
    O_.fill(0xff);
    candidate.launch(call);
    std::vector<Element> result(static_cast<std::size_t>(num_elements_));
    cuda::copy_from_gpu(result.data(), O_.data(), O_.bytes());
    return result;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(num_elements_) * sizeof(Element); }

  std::int64_t num_elements_;
  cuda::DeviceMemory Q_, K_, V_, O_;
  ForwardTensors tensors_;
};

/// The largest difference of two results in 16 bits or tf32: P is rounded with another maximum.
inline constexpr double kLargestDifference = 0.02;

/// Returns the largest difference, relative to elements above 1; infinity if one is NaN.
template <class Element>
double largest_difference(const std::vector<Element>& a, const std::vector<Element>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = value_of(a[k]), y = value_of(b[k]);
    const double difference = std::fabs(x - y) / std::max(1.0, std::fabs(x));
    if (difference != difference) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

/// Times each candidate once in each round, after `warm_ups` rounds that do not count. So a change of
/// the GPU's clock reaches all of them.
inline std::vector<cuda::Samples> time_in_turns(const std::vector<Candidate>& candidates,
                                                const cuda::ForwardCall& call, int warm_ups,
                                                int rounds) {
  std::vector<cudaEvent_t> events(candidates.size() + 1);
  for (cudaEvent_t& event : events) cuda::check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  std::vector<cuda::Samples> samples(candidates.size());
  for (int round = 0; round < warm_ups + rounds; ++round) {
    // The first launch waits for nothing and would be timed with the launch itself.
    candidates.back().launch(call);
    cuda::check_cuda(cudaEventRecord(events[0]), "cudaEventRecord");
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      candidates[k].launch(call);
      cuda::check_cuda(cudaEventRecord(events[k + 1]), "cudaEventRecord");
    }
    cuda::check_cuda(cudaEventSynchronize(events.back()), "cudaEventSynchronize");
    for (std::size_t k = 0; round >= warm_ups && k < candidates.size(); ++k) {
      float ms = 0;
      cuda::check_cuda(cudaEventElapsedTime(&ms, events[k], events[k + 1]), "cudaEventElapsedTime");
      samples[k].ms.push_back(ms);
    }
  }
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  return samples;
}

}  // namespace flashlab::bench
