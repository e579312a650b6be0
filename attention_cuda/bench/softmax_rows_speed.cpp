// Times softmax over rows that are longer than any cache: three passes against two. Prints what
// the algorithms read and write, and the time. Under Nsight Compute the kernels' counters show
// the actual reads:
//   ncu --clock-control none --metrics dram__bytes_read.sum,dram__bytes_write.sum
//   softmax_rows_speed
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include "attention_cuda/softmax_rows.hpp"

namespace {

using namespace flashlab::cuda;

// One row per multiprocessor at a time is 132 x 2 MiB on an H200, five times its L2.
constexpr std::int64_t kRows = 1056, kColumns = 1 << 19;
constexpr int kSamples = 5;

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

double median_ms(SoftmaxRows algorithm, const float* x, float* y) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  std::vector<double> samples;
  for (int k = 0; k <= kSamples; ++k) {
    check(cudaEventRecord(start));
    softmax_rows(algorithm, x, y, kRows, kColumns);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, end));
    if (k > 0) samples.push_back(ms);
  }
  std::sort(samples.begin(), samples.end());
  return samples[kSamples / 2];
}

void run() {
  float *x = nullptr, *y = nullptr;
  constexpr std::size_t kBytes = kRows * kColumns * sizeof(float);
  check(cudaMalloc(&x, kBytes));
  check(cudaMalloc(&y, kBytes));
  std::vector<float> row(kColumns);
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < kColumns; ++c) {
      row[static_cast<std::size_t>(c)] = static_cast<float>((c * 7919 + r) % 1021) / 100.f;
    }
    check(cudaMemcpy(x + r * kColumns, row.data(), kBytes / kRows, cudaMemcpyHostToDevice));
  }
  const struct {
    SoftmaxRows algorithm;
    const char* name;
    int reads;
  } kinds[] = {{SoftmaxRows::kThreePass, "three-pass", 3}, {SoftmaxRows::kOnline, "online", 2}};
  std::printf("%lld rows of %lld floats, %.2f GB\n", static_cast<long long>(kRows),
              static_cast<long long>(kColumns), static_cast<double>(kBytes) * 1e-9);
  for (const auto& kind : kinds) {
    const double ms = median_ms(kind.algorithm, x, y);
    const double moved = static_cast<double>(kBytes) * (kind.reads + 1);
    std::printf("%-10s reads %d n, writes n: %7.3f ms, %5.2f TB/s\n", kind.name, kind.reads, ms,
                moved / ms * 1e-9);
  }
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "softmax_rows_speed: %s\n", error.what());
    return 1;
  }
  return 0;
}
