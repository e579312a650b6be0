// C = A B in float by Eigen, all n x n and row-major, with a band of rows of C per thread. It is
// not attention; its speed is the reference for the variants.
#include "attention_cpu/detail/build.hpp"
//
#include <Eigen/Core>

#include "attention_cpu/detail/square_product.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

void square_product(std::int64_t n, int num_threads, const float* A, const float* B, float* C) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
#pragma omp parallel for num_threads(num_threads) schedule(static, 1)
  for (int band = 0; band < num_threads; ++band) {
    const std::int64_t first = n * band / num_threads, rows = n * (band + 1) / num_threads - first;
    Eigen::Map<Matrix>(C + first * n, rows, n).noalias() =
        Eigen::Map<const Matrix>(A + first * n, rows, n) * Eigen::Map<const Matrix>(B, n, n);
  }
}

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
