// Shared parts of the variants that store S: the two library products, their operands, and O.
//
//   S = Q K^T, then the variant computes P from S, then O = P V
//
// Shapes   S [batch, num_heads, seqlen_q, seqlen_k] fp32; P the same shape as Element, in the
//          memory of S if that is fp32; row_max, row_sum [batch, num_heads, seqlen_q] fp32. The
//          query heads of a kv head are contiguous, so a product has heads_per_kv_head seqlen_q
//          rows, batch x num_kv_heads times.
// Copies   Q, K, V, O are copied through the workspace if their rows are not contiguous. V is also
//          copied if no query sees some of its rows; the copy has zeros there
// NaN      a NaN or infinity in a row of V that some query sees affects its column in all rows: the
//          library also multiplies it by hidden weights, which are 0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "attention_cuda/detail/library_product.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/ptx/convert.cuh"

namespace flashlab::cuda {

/// S or P, row-major, with a row for each query of each head.
template <class Element>
struct ScoreMatrix {
  Element* data;
  int num_keys;

  __device__ Element* row(std::int64_t index) const { return data + index * num_keys; }
};

/// Copies one row of head_dim elements per block. If requested, keys that no query sees become 0.
template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    copy_rows_kernel(DeviceTensor<const Element> from, Element* to, MaskArguments mask, Sizes sizes,
                     int num_heads, int num_rows, bool only_seen) {
  const std::int64_t row = blockIdx.x, head = row / num_rows;
  const int i = static_cast<int>(row % num_rows), b = static_cast<int>(head / num_heads);
  const VisibleKeys visible = mask.of_batch_entry(b, sizes);
  const bool is_there =
      !only_seen || visible.first_query(i) < min(visible.end_query(i), sizes.seqlen_q);
  const Element* const source = from.row(b, static_cast<int>(head % num_heads), i);
  for (int c = static_cast<int>(threadIdx.x); c < sizes.head_dim; c += kRowThreads) {
    to[row * sizes.head_dim + c] =
        is_there ? source[c * from.column_stride] : ptx::from_float<Element>(0.f);
  }
}

/// Writes O from the product's result, and lse. Sets O = 0 for rows without weights, which the
/// product cannot know. One row per block.
template <class Element>
__global__ void __launch_bounds__(kRowThreads)
    finish_rows_kernel(ForwardArguments<Element> arguments, const Element* product_O,
                       const float* row_max, const float* row_sum) {
  const Sizes& sizes = arguments.sizes;
  const std::int64_t row = blockIdx.x;
  const Place place = place_of(row, sizes.seqlen_q, sizes);
  const int thread = static_cast<int>(threadIdx.x);
  Element* const o = arguments.O.row(place.b, place.h, place.part);
  const Element* const from = product_O + row * sizes.head_dim;
  const bool is_empty = row_sum[row] == 0;
  if (is_empty || o != from) {
    for (int c = thread; c < sizes.head_dim; c += kRowThreads) {
      o[c * arguments.O.column_stride] = is_empty ? ptx::from_float<Element>(0.f) : from[c];
    }
  }
  if (thread == 0 && arguments.lse.data != nullptr) {
    *arguments.lse.row(place.b, place.h, place.part) = logsumexp(row_max[row], row_sum[row]);
  }
}

/// Returns whether a tensor's elements are contiguous and row-major.
inline bool is_row_major(const TensorView& tensor) {
  std::int64_t expected = 1;
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

template <class Element>
class StoredScores {
 public:
  /// With an empty workspace, computes only the size.
  StoredScores(const AttentionProblem& problem, Workspace& workspace)
      : num_rows(problem.batch * problem.num_heads * problem.seqlen_q),
        S{workspace.take<float>(num_rows * problem.seqlen_k), static_cast<int>(problem.seqlen_k)},
        P(weights_in(workspace)),
        row_max(workspace.take<float>(num_rows)),
        row_sum(workspace.take<float>(num_rows)),
        problem_(problem),
        Q_copy_(workspace.take<Element>(num_rows * problem.head_dim)),
        K_copy_(workspace.take<Element>(num_keys() * problem.head_dim)),
        V_copy_(workspace.take<Element>(num_keys() * problem.head_dim)),
        O_copy_(workspace.take<Element>(num_rows * problem.head_dim)),
        library_scratch_(workspace.take<std::byte>(kLibraryScratchBytes)) {}

  /// S = Q K^T
  void multiply_queries_by_keys(const ForwardCall& call) const {
    const auto arguments = forward_arguments<Element>(call);
    const Element* const Q = rows_of(call, call.tensors.Q, arguments.Q, Q_copy_, false);
    const Element* const K = rows_of(call, call.tensors.K, arguments.K, K_copy_, false);
    const std::int64_t head_dim = problem_.head_dim, seqlen_k = problem_.seqlen_k;
    library_product(
        call, "S = Q K^T", arithmetic(call),
        {.rows = rows_of_product(),
         .columns = seqlen_k,
         .depth = head_dim,
         .batch = num_products()},
        {Q, head_dim, rows_of_product() * head_dim}, {K, head_dim, seqlen_k * head_dim, true},
        {S.data, seqlen_k, rows_of_product() * seqlen_k, DataType::kFloat32}, library_scratch_);
  }

  /// O = P V, and lse from row_max and row_sum.
  void multiply_weights_by_values(const ForwardCall& call) const {
    const auto arguments = forward_arguments<Element>(call);
    const Element* const V =
        rows_of(call, call.tensors.V, arguments.V, V_copy_, has_unseen_keys(call));
    Element* const O = is_row_major(call.tensors.O) ? arguments.O.data : O_copy_;
    const std::int64_t head_dim = problem_.head_dim, seqlen_k = problem_.seqlen_k;
    if (seqlen_k > 0) {
      library_product(
          call, "O = P V", arithmetic(call),
          {.rows = rows_of_product(),
           .columns = head_dim,
           .depth = seqlen_k,
           .batch = num_products()},
          {P.data, seqlen_k, rows_of_product() * seqlen_k}, {V, head_dim, seqlen_k * head_dim},
          {O, head_dim, rows_of_product() * head_dim, problem_.dtype}, library_scratch_);
    }
    launch(call, "finish_rows", finish_rows_kernel<Element>, {num_rows, kRowThreads}, arguments, O,
           row_max, row_sum);
  }

  const std::int64_t num_rows;  // batch x num_heads x seqlen_q
  const ScoreMatrix<float> S;
  const ScoreMatrix<Element> P;
  float* const row_max;
  float* const row_sum;

 private:
  std::int64_t num_products() const { return problem_.batch * problem_.num_kv_heads; }
  std::int64_t num_keys() const { return num_products() * problem_.seqlen_k; }
  std::int64_t rows_of_product() const { return problem_.heads_per_kv_head() * problem_.seqlen_q; }
  ScoreMatrix<Element> weights_in(Workspace& workspace) const {
    if constexpr (sizeof(Element) == sizeof(float)) {
      return S;
    } else {
      return {workspace.take<Element>(num_rows * S.num_keys), S.num_keys};
    }
  }
  bool has_unseen_keys(const ForwardCall& call) const {
    return call.key_lengths != nullptr || call.ranges.of_queries != nullptr ||
           problem_.has_unseen_keys();
  }
  static Arithmetic arithmetic(const ForwardCall& call) {
    return {call.problem.dtype, call.options.products};
  }

  /// Returns the tensor's memory, or that of its copy.
  const Element* rows_of(const ForwardCall& call, const TensorView& tensor,
                         const DeviceTensor<const Element>& from, Element* copy,
                         bool only_seen) const {
    if (!only_seen && is_row_major(tensor)) return from.data;
    const std::int64_t num_heads = tensor.shape[1], rows = tensor.shape[2];
    launch(call, "copy_rows", copy_rows_kernel<Element>,
           {problem_.batch * num_heads * rows, kRowThreads}, from, copy, mask_arguments(call),
           sizes_of(problem_), static_cast<int>(num_heads), static_cast<int>(rows), only_seen);
    return copy;
  }

  const AttentionProblem& problem_;
  Element* const Q_copy_;
  Element* const K_copy_;
  Element* const V_copy_;
  Element* const O_copy_;
  std::byte* const library_scratch_;
};

/// KernelRow::workspace_bytes of variants that need no other memory.
inline std::size_t stored_scores_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  Workspace workspace;
  if (size_in_bytes(problem.dtype) == 2) {
    StoredScores<BFloat16>(problem, workspace);
  } else {
    StoredScores<float>(problem, workspace);
  }
  return workspace.bytes();
}

}  // namespace flashlab::cuda
