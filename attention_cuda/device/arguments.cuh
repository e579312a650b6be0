// The arguments of kernels, passed by value: tensors with strides, sizes, the mask.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
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

/// Query i of a batch entry sees key j < keys if i + first_diagonal <= j <= i + diagonal: a range of
/// keys, whose ends do not decrease with i. flashlab::VisibleKeys has the formula of the diagonals.
/// Ranges of packed sequences are in tables instead.
struct VisibleKeys {
  int keys;      // the number of keys of the batch entry
  int diagonal;  // without a limit: the last key of query 0
  int first_diagonal;
  int last_query;  // of the table; queries beyond count as this one, and negative ones as query 0
  VisibleRanges ranges;

  /// No query has a key before this diagonal: lengths are at most 2^30, and the last tile may go
  /// beyond.
  static constexpr int kNoFirstDiagonal = -(1 << 30) - (1 << 16);

  /// Returns the end of the keys that query i sees.
  __device__ int of_query(int i) const {
    if (ranges.of_queries != nullptr) return ranges.of_queries[in_table(i)].end;
    return max(0, min(i + 1 + diagonal, keys));
  }
  /// Returns the first key that query i sees; if it sees none, the end.
  __device__ int first_of_query(int i) const {
    if (ranges.of_queries != nullptr) return ranges.of_queries[in_table(i)].first;
    return max(0, min(i + first_diagonal, keys));
  }
  __device__ IndexRange range_of_query(int i) const { return {first_of_query(i), of_query(i)}; }
  /// Returns the first query that sees key j, and the end of these queries. Both may be beyond the
  /// last query; if no query sees the key, the end is not after the first.
  __device__ int first_query(int j) const {
    if (j >= keys) return INT32_MAX;
    return ranges.of_keys != nullptr ? ranges.of_keys[j].first : max(0, j - diagonal);
  }
  __device__ int end_query(int j) const {
    if (j < 0 || j >= keys) return 0;
    if (ranges.of_keys != nullptr) return ranges.of_keys[j].end;
    const std::int64_t end = std::int64_t{j} + 1 - first_diagonal;
    return end < 0 ? 0 : end < INT32_MAX ? static_cast<int>(end) : INT32_MAX;
  }

 private:
  __device__ int in_table(int i) const { return max(0, min(i, last_query)); }
};

struct MaskArguments {
  Mask mask;
  const std::int64_t* key_lengths;  // null: seqlen_k for all
  int window_left = kNoWindow, window_right = kNoWindow, query_offset = 0;
  VisibleRanges ranges = {};

  /// No limit. Windows and offsets are at most 2^30, and their sums fit.
  static constexpr int kNoWindow = INT32_MAX;

  __device__ VisibleKeys of_batch_entry(int b, const Sizes& sizes) const {
    int keys = sizes.seqlen_k;
    if (key_lengths != nullptr) {
      const std::int64_t length = key_lengths[b];
      keys = static_cast<int>(length < 0 ? 0 : length > keys ? keys : length);
    }
    VisibleKeys visible = of_sequence(sizes.seqlen_q, keys);
    visible.ranges = ranges;
    return visible;
  }
  /// For a sequence whose queries and keys count from 0.
  __device__ VisibleKeys of_sequence(int queries, int keys) const {
    const int shift = mask == Mask::kCausalBottomRight ? keys - queries : query_offset;
    const bool has_limit = mask != Mask::kNone || window_right != kNoWindow;
    const int right = mask != Mask::kNone ? 0 : window_right;
    return {keys,
            has_limit ? min(shift + right, keys - 1) : keys - 1,
            window_left == kNoWindow ? VisibleKeys::kNoFirstDiagonal
                                     : max(shift - window_left, VisibleKeys::kNoFirstDiagonal),
            queries - 1,
            {}};
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

/// Windows longer than any sequence become kNoWindow: indices fit 32 bits.
inline MaskArguments mask_arguments(const Call& call) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 30;
  const auto window = [](const std::optional<std::int64_t>& keys) {
    return keys && *keys < kLongest ? static_cast<int>(*keys) : MaskArguments::kNoWindow;
  };
  const AttentionProblem& problem = call.problem;
  return {problem.mask,
          call.key_lengths,
          window(problem.window_left),
          window(problem.window_right),
          static_cast<int>(problem.query_offset),
          call.ranges};
}

template <class Element>
ForwardArguments<Element> forward_arguments(const ForwardCall& call) {
  const ForwardTensors& tensors = call.tensors;
  return {device_tensor<const Element>(tensors.Q),
          device_tensor<const Element>(tensors.K),
          device_tensor<const Element>(tensors.V),
          device_tensor<Element>(tensors.O),
          device_tensor<float>(tensors.lse),
          sizes_of(call.problem),
          mask_arguments(call),
          static_cast<float>(call.problem.softmax_scale)};
}

template <class Element>
BackwardArguments<Element> backward_arguments(const BackwardCall& call) {
  const BackwardTensors& tensors = call.tensors;
  return {device_tensor<const Element>(tensors.Q),
          device_tensor<const Element>(tensors.K),
          device_tensor<const Element>(tensors.V),
          device_tensor<const Element>(tensors.O),
          device_tensor<const Element>(tensors.dO),
          device_tensor<const float>(tensors.lse),
          device_tensor<Element>(tensors.dQ),
          device_tensor<Element>(tensors.dK),
          device_tensor<Element>(tensors.dV),
          sizes_of(call.problem),
          mask_arguments(call),
          static_cast<float>(call.problem.softmax_scale)};
}

}  // namespace flashlab::cuda
