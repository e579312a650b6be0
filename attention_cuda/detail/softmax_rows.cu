// softmax over rows, three-pass and online: online saves one pass over the input.
//
//   three-pass   1  m = max x_j               online   1  m = -inf, l = 0, for each x_j:
//                2  l = sum exp(x_j - m)                    m' = max(m, x_j)
//                                                           l = l exp(m - m') + exp(x_j - m')
//                                                           m = m'
//                3  y_j = exp(x_j - m) / l             2  y_j = exp(x_j - m) / l
//
// Shapes   x, y [rows, n], fp32
// Grid     one block per row; a thread processes every kSoftmaxThreads-th element
// Traffic  three-pass reads x three times, online twice; y is written once
// Online   each thread has m and l of its own elements; they are merged at the end of the pass
// Source   Milakov and Gimelshein 2018, algorithms 2 and 3
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/reduce.cuh"
#include "attention_cuda/device/row_softmax.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/softmax_rows.hpp"

namespace flashlab::cuda {
namespace {

constexpr int kSoftmaxThreads = 512;
constexpr std::size_t kSoftmaxSharedBytes = kSoftmaxThreads / kWarpSize * sizeof(float);

/// The last pass of both: y_j = exp(x_j - m) / l.
__device__ __forceinline__ void write_softmax(const float* x, float* y, std::int64_t n, float shift,
                                              float row_sum) {
  for (std::int64_t j = threadIdx.x; j < n; j += kSoftmaxThreads) {
    y[j] = normalised(expf(x[j] - shift), row_sum);
  }
}

__global__ void __launch_bounds__(kSoftmaxThreads)
    softmax_three_pass_rows_kernel(const float* x, float* y, std::int64_t n) {
  float* const one_per_warp = reinterpret_cast<float*>(ptx::shared_memory());
  const float* const row = x + blockIdx.x * n;
  // 1. m.
  float row_max = -INFINITY;
  for (std::int64_t j = threadIdx.x; j < n; j += kSoftmaxThreads) row_max = fmaxf(row_max, row[j]);
  const float shift = shift_of(block_max<kSoftmaxThreads>(row_max, one_per_warp));

  // 2. l.
  float row_sum = 0;
  for (std::int64_t j = threadIdx.x; j < n; j += kSoftmaxThreads) row_sum += expf(row[j] - shift);
  row_sum = block_sum<kSoftmaxThreads>(row_sum, one_per_warp);

  // 3. y.
  write_softmax(row, y + blockIdx.x * n, n, shift, row_sum);
}

__global__ void __launch_bounds__(kSoftmaxThreads)
    softmax_online_rows_kernel(const float* x, float* y, std::int64_t n) {
  float* const one_per_warp = reinterpret_cast<float*>(ptx::shared_memory());
  const float* const row = x + blockIdx.x * n;
  // 1. m and l.
  RowState own;
  for (std::int64_t j = threadIdx.x; j < n; j += kSoftmaxThreads) {
    const float new_max = fmaxf(own.row_max, row[j]), shift = shift_of(new_max);
    own.row_sum = own.row_sum * expf(own.row_max - shift) + expf(row[j] - shift);
    own.row_max = new_max;
  }
  const float shift = shift_of(block_max<kSoftmaxThreads>(own.row_max, one_per_warp));
  const float row_sum =
      block_sum<kSoftmaxThreads>(own.row_sum * expf(own.row_max - shift), one_per_warp);

  // 2. y.
  write_softmax(row, y + blockIdx.x * n, n, shift, row_sum);
}

}  // namespace

// ------------------------------------------------------------------------------------- launcher

void softmax_rows(SoftmaxRows algorithm, const float* x, float* y, std::int64_t rows,
                  std::int64_t n, const ExecutionOptions& execution) {
  if (rows < 0) throw ProblemError("rows", std::to_string(rows), "0 or more");
  if (n < 0) throw ProblemError("n", std::to_string(n), "0 or more");
  const AttentionProblem no_problem;
  const Call call = {no_problem, execution, nullptr, nullptr};
  const LaunchShape shape = {n == 0 ? 0 : rows, kSoftmaxThreads, kSoftmaxSharedBytes};
  switch (algorithm) {
    case SoftmaxRows::kThreePass:
      return launch(call, "softmax_three_pass_rows", softmax_three_pass_rows_kernel, shape, x, y,
                    n);
    case SoftmaxRows::kOnline:
      return launch(call, "softmax_online_rows", softmax_online_rows_kernel, shape, x, y, n);
  }
}

}  // namespace flashlab::cuda
