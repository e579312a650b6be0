// The arguments of kernels, passed by value: tensors with strides, sizes, the mask.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

/// [batch, heads, rows, columns], or [batch, heads, rows] for lse. Strides count elements.
template <class Element>
struct DeviceTensor {
  Element* data;
  std::int64_t batch_stride, head_stride, row_stride, column_stride;

  __device__ Element* head(int b, int h) const { return data + b * batch_stride + h * head_stride; }
  __device__ Element* row(int b, int h, std::int64_t i) const {
    return head(b, h) + i * row_stride;
  }
  /// Returns whether rows can be read and written 16 bytes at a time.
  __host__ __device__ bool has_aligned_rows(int head_dim) const {
    constexpr int kElements = 16 / static_cast<int>(sizeof(Element));
    const auto odd = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % 16) |
                     (batch_stride | head_stride | row_stride | head_dim) % kElements;
    return odd == 0 && column_stride == 1;
  }
};

struct Sizes {
  int batch, num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim;
  int heads_per_kv_head;
};

/// Query i of a batch entry sees the first visible_keys(i) keys. The queries from first_query(j) on
/// see key j.
struct VisibleKeys {
  int keys;  // the number of keys of the batch entry
  bool is_causal;
  int diagonal;  // causal: query i sees key j if j <= i + diagonal

  __device__ int of_query(int i) const {
    return is_causal ? max(0, min(i + 1 + diagonal, keys)) : keys;
  }
  /// May be beyond the last query: then no query sees the key.
  __device__ int first_query(int j) const {
    if (j >= keys) return INT32_MAX;
    return is_causal ? max(0, j - diagonal) : 0;
  }
};

struct MaskArguments {
  Mask mask;
  const std::int64_t* key_lengths;  // null: seqlen_k for all

  __device__ VisibleKeys of_batch_entry(int b, const Sizes& sizes) const {
    int keys = sizes.seqlen_k;
    if (key_lengths != nullptr) {
      const std::int64_t length = key_lengths[b];
      keys = static_cast<int>(length < 0 ? 0 : length > keys ? keys : length);
    }
    return {keys, mask != Mask::kNone,
            mask == Mask::kCausalBottomRight ? keys - sizes.seqlen_q : 0};
  }
};

template <class Element>
struct ForwardArguments {
  DeviceTensor<const Element> Q, K, V;  // Q, O [batch, num_heads, seqlen_q, head_dim]
  DeviceTensor<Element> O;              // K, V [batch, num_kv_heads, seqlen_k, head_dim]
  DeviceTensor<float> lse;              // [batch, num_heads, seqlen_q]; data null: not requested
  Sizes sizes;
  MaskArguments mask;
  float softmax_scale;
};

template <class Element>
struct BackwardArguments {
  DeviceTensor<const Element> Q, K, V, O, dO;
  DeviceTensor<const float> lse;
  DeviceTensor<Element> dQ, dK, dV;
  Sizes sizes;
  MaskArguments mask;
  float softmax_scale;
};

template <class Element>
DeviceTensor<Element> device_tensor(const TensorView& tensor) {
  if (tensor.empty()) return {};
  return {static_cast<Element*>(tensor.data), tensor.strides[0], tensor.strides[1],
          tensor.strides[2], tensor.strides.size() > 3 ? tensor.strides[3] : 1};
}

inline Sizes sizes_of(const AttentionProblem& problem) {
  const auto number = [](std::int64_t size) { return static_cast<int>(size); };
  return {number(problem.batch),
          number(problem.num_heads),
          number(problem.num_kv_heads),
          number(problem.seqlen_q),
          number(problem.seqlen_k),
          number(problem.head_dim),
          number(problem.heads_per_kv_head())};
}

template <class Element>
ForwardArguments<Element> forward_arguments(const ForwardCall& call) {
  const ForwardTensors& tensors = call.tensors;
  return {device_tensor<const Element>(tensors.Q), device_tensor<const Element>(tensors.K),
          device_tensor<const Element>(tensors.V), device_tensor<Element>(tensors.O),
          device_tensor<float>(tensors.lse),       sizes_of(call.problem),
          {call.problem.mask, call.key_lengths},   static_cast<float>(call.problem.softmax_scale)};
}

template <class Element>
BackwardArguments<Element> backward_arguments(const BackwardCall& call) {
  const BackwardTensors& tensors = call.tensors;
  return {device_tensor<const Element>(tensors.Q),  device_tensor<const Element>(tensors.K),
          device_tensor<const Element>(tensors.V),  device_tensor<const Element>(tensors.O),
          device_tensor<const Element>(tensors.dO), device_tensor<const float>(tensors.lse),
          device_tensor<Element>(tensors.dQ),       device_tensor<Element>(tensors.dK),
          device_tensor<Element>(tensors.dV),       sizes_of(call.problem),
          {call.problem.mask, call.key_lengths},    static_cast<float>(call.problem.softmax_scale)};
}

}  // namespace flashlab::cuda
