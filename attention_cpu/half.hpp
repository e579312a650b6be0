// 16-bit floats to float and back, as every call on such tensors converts them.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"

namespace flashlab::cpu {

/// `count` elements, stored side by side as `dtype` (bf16, fp16 or float), to floats.
/// Errors  ProblemError: double
void load_floats(const void* from, DataType dtype, std::int64_t count, float* to);

/// The way back, rounded to nearest even; what is too large becomes an infinity, NaN stays NaN.
void store_floats(const float* from, std::int64_t count, void* to, DataType dtype);

}  // namespace flashlab::cpu
