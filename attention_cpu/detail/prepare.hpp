// Converts the caller's tensors for the variants: to the type of the computation, with unit stride
// along head_dim. Tensors that already fit are used in place; others are copied, rows in parallel.
#pragma once

#include <type_traits>

#include "attention/problem.hpp"
#include "attention_cpu/attention.hpp"
#include "attention_cpu/detail/kernels.hpp"

namespace flashlab::cpu::detail {

Sizes sizes_of(const AttentionProblem& problem, int num_threads);
/// Returns the number of threads. Throws ProblemError if it is negative.
int threads_of(const ExecutionOptions& options);
/// Returns the resources of the call. Throws Cancelled if it was not completed.
Execution finish(const Workspace& workspace, const ExecutionOptions& options, int num_threads);

struct Preparation {
  Workspace& workspace;
  const KernelTable& kernels;
  int num_threads;

  template <class Element>
  Heads<const Element> input(const TensorView& tensor) const {
    if (fits<Element>(tensor)) {
      return {static_cast<const Element*>(tensor.data), tensor.strides[0], tensor.strides[1],
              tensor.strides[2]};
    }
    const Heads<Element> copy = allocate<Element>(tensor);
    each_row(tensor, copy, [&](char* row, Element* to) {
      const std::int64_t head_dim = tensor.shape[3], stride = tensor.strides[3];
      if constexpr (std::is_same_v<Element, float>) {
        kernels.load_floats(row, tensor.dtype, stride, head_dim, to);
      } else {
        const double* const from = reinterpret_cast<const double*>(row);
        for (std::int64_t c = 0; c < head_dim; ++c) to[c] = from[c * stride];
      }
    });
    return {copy.data, copy.batch_stride, copy.head_stride, copy.row_stride};
  }

  template <class Element>
  Heads<Element> output(const TensorView& tensor) const {
    if (!fits<Element>(tensor)) return allocate<Element>(tensor);
    return {static_cast<Element*>(tensor.data), tensor.strides[0], tensor.strides[1],
            tensor.strides[2]};
  }

  /// Copies the result to the caller's tensor after the variant ran, unless it was
  /// written in place.
  template <class Element>
  void write_back(const Heads<Element>& result, const TensorView& tensor) const {
    if (fits<Element>(tensor)) return;
    each_row(tensor, result, [&](char* row, const Element* from) {
      const std::int64_t head_dim = tensor.shape[3], stride = tensor.strides[3];
      if constexpr (std::is_same_v<Element, float>) {
        kernels.store_floats(from, head_dim, row, tensor.dtype, stride);
      } else {
        double* const to = reinterpret_cast<double*>(row);
        for (std::int64_t c = 0; c < head_dim; ++c) to[c * stride] = from[c];
      }
    });
  }

  template <class Element>
  Statistics<Element> statistics(const TensorView& tensor, const AttentionProblem& problem) const {
    if (!tensor.empty()) {
      return {static_cast<Element*>(tensor.data), tensor.strides[0], tensor.strides[1],
              tensor.strides[2]};
    }
    const std::int64_t per_batch = problem.num_heads * problem.seqlen_q;
    return {workspace.allocate<Element>(problem.batch * per_batch), per_batch, problem.seqlen_q, 1};
  }

  template <class Element>
  Statistics<const Element> const_statistics(const TensorView& tensor) const {
    return {static_cast<const Element*>(tensor.data), tensor.strides[0], tensor.strides[1],
            tensor.strides[2]};
  }

 private:
  template <class Element>
  static bool fits(const TensorView& tensor) {
    return tensor.dtype == DataTypeOf<Element>::kValue && tensor.strides[3] == 1;
  }

  template <class Element>
  Heads<Element> allocate(const TensorView& tensor) const {
    const std::int64_t row = tensor.shape[3], head = row * tensor.shape[2],
                       batch = head * tensor.shape[1];
    return {workspace.allocate<Element>(batch * tensor.shape[0]), batch, head, row};
  }

  template <class Element, class Copy>
  void each_row(const TensorView& tensor, const Heads<Element>& heads, const Copy& copy) const {
    const std::int64_t num_batches = tensor.shape[0], num_heads = tensor.shape[1],
                       num_rows = tensor.shape[2], size = size_in_bytes(tensor.dtype);
#pragma omp parallel for collapse(3) num_threads(num_threads) schedule(static)
    for (std::int64_t b = 0; b < num_batches; ++b) {
      for (std::int64_t h = 0; h < num_heads; ++h) {
        for (std::int64_t i = 0; i < num_rows; ++i) {
          char* const row =
              static_cast<char*>(tensor.data) +
              size * (b * tensor.strides[0] + h * tensor.strides[1] + i * tensor.strides[2]);
          copy(row, heads.head(b, h) + i * heads.row_stride);
        }
      }
    }
  }
};

}  // namespace flashlab::cpu::detail
