// Fills tensors for measurements and checks them, on the GPU.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"
#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

/// Fills the tensor with normally distributed numbers in its type; the same seed gives
/// the same numbers.
/// tensor  row-major, float, bf16 or fp16
void draw_normal(const TensorView& tensor, std::uint64_t seed, Stream stream);

/// Sets `*found`, in device memory, to 1 if an element of the tensor is NaN.
void look_for_nan(const TensorView& tensor, int* found, Stream stream);

}  // namespace flashlab::cuda
