#include "attention_cpu/product_rate.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cpu/detail/dispatch.hpp"
#include "attention_cpu/detail/prepare.hpp"

namespace flashlab::cpu {
namespace {

constexpr std::int64_t kLargest = 32768;

/// Numbers from -0.5 to 0.5 whose products are never subnormal.
void fill(float* values, std::int64_t count) {
  std::uint32_t state = 1;
  for (std::int64_t k = 0; k < count; ++k) {
    state = state * 1664525U + 1013904223U;
    values[k] = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
  }
}

/// Returns whether C = A B, as far as row sums show: C 1 = A (B 1), in double.
bool is_product(std::int64_t n, const float* A, const float* B, const float* C) {
  const double size = static_cast<double>(n);
  std::vector<double> row_sums_of_B(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    row_sums_of_B[static_cast<std::size_t>(i)] = std::accumulate(B + i * n, B + (i + 1) * n, 0.0);
  }
  // A float sum of n terms of up to 1/4 has an error below n^2 / 4 of its units in the worst case.
  const double most = size * std::numeric_limits<float>::epsilon() * size * size / 4;
  for (std::int64_t i = 0; i < n; ++i) {
    const double expected =
        std::inner_product(A + i * n, A + (i + 1) * n, row_sums_of_B.begin(), 0.0);
    const double found = std::accumulate(C + i * n, C + (i + 1) * n, 0.0);
    if (!(std::abs(found - expected) <= most)) return false;
  }
  return true;
}

}  // namespace

double product_flops_per_s(std::int64_t n, const ExecutionOptions& execution) {
  if (n < 1 || n > kLargest) {
    throw ProblemError("n", std::to_string(n), "1 to " + std::to_string(kLargest));
  }
  const detail::KernelTable& kernels = detail::kernels_for(execution.instruction_set);
  const int num_threads = detail::threads_of(execution);
  detail::Workspace workspace;
  float* const A = workspace.allocate<float>(n * n);
  float* const B = workspace.allocate<float>(n * n);
  float* const C = workspace.allocate<float>(n * n);
  fill(A, n * n);
  fill(B, n * n);
  std::fill(C, C + n * n, std::numeric_limits<float>::quiet_NaN());

  std::array<double, 3> seconds{};
  for (int run = -1; run < std::ssize(seconds); ++run) {  // run -1 warms up threads and memory
    if (execution.cancelled != nullptr && *execution.cancelled) throw Cancelled();
    const auto start = std::chrono::steady_clock::now();
    kernels.square_product(n, num_threads, A, B, C);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (run >= 0) seconds[static_cast<std::size_t>(run)] = taken.count();
  }
  if (!is_product(n, A, B, C)) throw std::logic_error("the product that was timed is wrong");
  std::sort(seconds.begin(), seconds.end());
  const double size = static_cast<double>(n);
  return 2 * size * size * size / seconds[1];
}

}  // namespace flashlab::cpu
