// Softmax of the rows of a matrix, by two algorithms with different memory reads.
#pragma once

#include <cstdint>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

enum class SoftmaxRows : std::uint8_t {
  kThreePass,  // maximum, sum, output: each reads x
  kOnline      // maximum and sum together, then output: x is read twice
};

/// Computes y = softmax x, row by row.
///
/// x, y    [rows, n] fp32 in device memory, row-major; y may be x
/// Rows    with a NaN or +inf: all NaN; with only -inf: all 0
/// Stream  execution.stream; no workspace is needed
/// Errors  ProblemError: rows or n negative, more than 2^31 - 1 rows. CudaError
/// Cost    reads 3 or 2 times rows n elements, writes rows n; from DRAM if a few hundred rows are
///         larger than the GPU's L2 cache
void softmax_rows(SoftmaxRows algorithm, const float* x, float* y, std::int64_t rows,
                  std::int64_t n, const ExecutionOptions& execution = {});

}  // namespace flashlab::cuda
