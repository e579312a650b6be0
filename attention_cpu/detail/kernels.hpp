// The functions of one instruction set's build.
#pragma once

#include <cstdint>

#include "attention/tensor.hpp"
#include "attention_cpu/detail/call.hpp"
#include "attention_cpu/detail/projection_call.hpp"

namespace flashlab::cpu::detail {

struct KernelTable {
  const KernelRow* rows;
  int num_rows;
  /// Converts `count` elements of `dtype`, `stride` apart, to contiguous floats.
  void (*load_floats)(const void* from, DataType dtype, std::int64_t stride, std::int64_t count,
                      float* to);
  /// Converts back, rounding to nearest even.
  void (*store_floats)(const float* from, std::int64_t count, void* to, DataType dtype,
                       std::int64_t stride);
  ProjectionKernels projections;
  /// C = A B, all n x n and row-major.
  void (*square_product)(std::int64_t n, int num_threads, const float* A, const float* B, float* C);
};

}  // namespace flashlab::cpu::detail
