// Converts 16-bit floats to float and back, as every call on such tensors does.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"

namespace flashlab::cpu {

/// Converts `count` contiguous elements of `dtype` (bf16, fp16 or float) to floats.
/// Errors  ProblemError: double
void load_floats(const void* from, DataType dtype, std::int64_t count, float* to);

/// Converts back, rounding to nearest even; too large values become infinity, NaN stays NaN.
void store_floats(const float* from, std::int64_t count, void* to, DataType dtype);

}  // namespace flashlab::cpu
