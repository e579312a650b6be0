// The kernels that are printed in docs/ compute what their pages say.
#include "tests/attention_cuda/pages/page_kernels.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab::test;

namespace {

/// Whole numbers, whose products and sums are exact in any order.
std::vector<float> whole_numbers(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 17) - 8;
  return values;
}

class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<float>& values)
      : size_(values.size()), memory_(values.size() * sizeof(float)) {
    check_call(cudaMemcpy(get(), values.data(), memory_.bytes(), cudaMemcpyHostToDevice));
  }
  explicit DeviceArray(int count)
      : size_(static_cast<std::size_t>(count)), memory_(size_ * sizeof(float)) {}
  float* get() const { return static_cast<float*>(memory_.get()); }
  std::vector<float> values() const {
    std::vector<float> result(size_);
    check_call(cudaMemcpy(result.data(), get(), memory_.bytes(), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  std::size_t size_;
  DeviceMemory memory_;
};

/// sum(p) left[i][p] right[p * along + j * across], times scale.
std::vector<float> whole_product(const std::vector<float>& left, const std::vector<float>& right,
                                 int n, int m, int k, int along, int across, float scale) {
  std::vector<float> result;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) {
        const int from_left = i * k + p, from_right = p * along + j * across;
        sum +=
            left[static_cast<std::size_t>(from_left)] * right[static_cast<std::size_t>(from_right)];
      }
      result.push_back(scale * sum);
    }
  }
  return result;
}

struct ProductSizes {
  int n, m, k;
};
constexpr ProductSizes kProductSizes[] = {{16, 16, 16}, {16, 48, 32}, {64, 16, 80}, {48, 64, 32}};

}  // namespace

TEST_CASE("the page's kernel multiplies matrices of whole tiles", "[page]") {
  FLASHLAB_NEEDS_GPU();
  for (const auto& [n, m, k] : kProductSizes) {
    INFO(n << " x " << m << ", " << k << " terms");
    const std::vector<float> A = whole_numbers(n * k, 1), B = whole_numbers(k * m, 2);
    const DeviceArray a(A), b(B), c(n * m);
    launch_tile_product(a.get(), b.get(), c.get(), n, m, k);
    check_call(cudaDeviceSynchronize());
    CHECK(c.values() == whole_product(A, B, n, m, k, m, 1, 1));
  }
}

TEST_CASE("the exercise's kernel computes scaled scores of whole tiles", "[page]") {
  FLASHLAB_NEEDS_GPU();
  for (const auto& [n, nk, d] : kProductSizes) {
    INFO(n << " queries, " << nk << " keys, d = " << d);
    const std::vector<float> Q = whole_numbers(n * d, 3), K = whole_numbers(nk * d, 4);
    const DeviceArray q(Q), k(K), s(n * nk);
    launch_tile_scores(q.get(), k.get(), s.get(), n, nk, d, 0.25f);
    check_call(cudaDeviceSynchronize());
    CHECK(s.values() == whole_product(Q, K, n, nk, d, 1, d, 0.25f));
  }
}
