// Sums of gradients in fp32, to which parts are added that several calls give.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"
#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

/// Adds a part to rows of a sum.
///
/// part   [batch, heads, rows, head_dim] row-major, float, bf16 or fp16
/// sum    [batch, heads, sum_rows, head_dim] row-major, float; to the rows from first_row
void add_gradient(const Call& call, const TensorView& part, const TensorView& sum,
                  std::int64_t first_row);

/// Writes a sum [batch, heads, rows, head_dim] in the type and strides of `result`, of the same shape.
void store_gradient(const Call& call, const TensorView& sum, const TensorView& result);

}  // namespace flashlab::cuda
