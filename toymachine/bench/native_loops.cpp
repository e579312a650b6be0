#include "toymachine/bench/native_loops.hpp"

#include <algorithm>
#include <cmath>

namespace flashlab::bench {
namespace {

void normalize(const float* x, float* out, std::size_t n, float m, float s) {
  for (std::size_t i = 0; i < n; ++i) out[i] = std::exp(x[i] - m) / s;
}

}  // namespace

void softmax_safe(const float* x, float* out, std::size_t n) {
  float m = x[0];
  for (std::size_t i = 1; i < n; ++i) m = std::max(m, x[i]);
  float s = std::exp(x[0] - m);
  for (std::size_t i = 1; i < n; ++i) s += std::exp(x[i] - m);
  normalize(x, out, n, m, s);
}

void softmax_online(const float* x, float* out, std::size_t n) {
  float m = x[0];
  float s = 1;
  for (std::size_t i = 1; i < n; ++i) {
    const float larger = std::max(m, x[i]);
    s = s * std::exp(m - larger) + std::exp(x[i] - larger);
    m = larger;
  }
  normalize(x, out, n, m, s);
}

void matmul_naive(const float* a, const float* b, float* c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float sum = a[i * n] * b[j];
      for (std::size_t p = 1; p < n; ++p) sum += a[i * n + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

}  // namespace flashlab::bench
