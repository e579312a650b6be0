// Attention and its gradients as a textbook writes them, in double precision: what the programs'
// results are held against. Nothing here comes from the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace flashlab::test {

/// Row by row.
struct Matrix {
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::size_t num_rows, std::size_t num_cols, std::vector<double> row_by_row = {})
      : rows(num_rows), cols(num_cols), values(std::move(row_by_row)) {
    values.resize(rows * cols);
  }
  double& operator()(std::size_t i, std::size_t j) { return values[i * cols + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

inline Matrix transposed(const Matrix& a) {
  Matrix result(a.cols, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) result(j, i) = a(i, j);
  }
  return result;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows, b.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.cols; ++j) {
      for (std::size_t p = 0; p < a.cols; ++p) result(i, j) += a(i, p) * b(p, j);
    }
  }
  return result;
}

/// result(i, j) = f(a(i, j), b(i, j)).
inline Matrix elementwise(const Matrix& a, const Matrix& b,
                          const std::function<double(double, double)>& f) {
  Matrix result(a.rows, a.cols);
  std::transform(a.values.begin(), a.values.end(), b.values.begin(), result.values.begin(), f);
  return result;
}

inline Matrix scaled(Matrix a, double factor) {
  for (double& value : a.values) value *= factor;
  return a;
}

inline Matrix sum(const Matrix& a, const Matrix& b) { return elementwise(a, b, std::plus<>()); }

inline Matrix row_sums(const Matrix& a) {
  Matrix result(a.rows, 1);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) result(i, 0) += a(i, j);
  }
  return result;
}

struct AttentionResult {
  Matrix S, P, O, lse;  // S is scaled, and -inf where the mask hides
};

/// softmax(scale Q K^T) V. Causal: key j is hidden from query i when j > i (top left). The window
/// hides key j when j < i - window.
inline AttentionResult attention(const Matrix& Q, const Matrix& K, const Matrix& V, double scale,
                                 bool is_causal, std::size_t window = SIZE_MAX) {
  AttentionResult result;
  result.S = scaled(product(Q, transposed(K)), scale);
  result.P = Matrix(Q.rows, K.rows);
  result.lse = Matrix(Q.rows, 1);
  for (std::size_t i = 0; i < Q.rows; ++i) {
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (std::size_t j = 0; j < K.rows; ++j) {
      const bool is_hidden = (is_causal && j > i) || (j < i && i - j > window);
      if (is_hidden) result.S(i, j) = -std::numeric_limits<double>::infinity();
      largest = std::max(largest, result.S(i, j));
    }
    for (std::size_t j = 0; j < K.rows; ++j) {
      total += result.P(i, j) = std::exp(result.S(i, j) - largest);
    }
    for (std::size_t j = 0; j < K.rows; ++j) result.P(i, j) /= total;
    result.lse(i, 0) = largest + std::log(total);
  }
  result.O = product(result.P, V);
  return result;
}

struct AttentionGradients {
  Matrix dQ, dK, dV, dS, P;
};

/// The gradients of L(O), given dO = dL/dO, with softmax's Jacobian in its row form:
/// dS_ij = P_ij (dP_ij - sum over l of P_il dP_il).
inline AttentionGradients attention_gradients(const Matrix& Q, const Matrix& K, const Matrix& V,
                                              const Matrix& dO, double scale, bool is_causal) {
  AttentionGradients result;
  result.P = attention(Q, K, V, scale, is_causal).P;
  const Matrix& P = result.P;
  const Matrix dP = product(dO, transposed(V));
  const Matrix weighted = row_sums(elementwise(P, dP, std::multiplies<>()));
  result.dS = Matrix(P.rows, P.cols);
  for (std::size_t i = 0; i < P.rows; ++i) {
    for (std::size_t j = 0; j < P.cols; ++j) {
      result.dS(i, j) = P(i, j) * (dP(i, j) - weighted(i, 0));
    }
  }
  result.dQ = scaled(product(result.dS, K), scale);
  result.dK = scaled(product(transposed(result.dS), Q), scale);
  result.dV = product(transposed(P), dO);
  return result;
}

struct ProjectionGradients {
  Matrix dX, dWq, dWk, dWv;
};

/// Those of Q = X Wq, K = X Wk, V = X Wv, given dQ, dK, dV.
inline ProjectionGradients projection_gradients(const Matrix& X, const Matrix& Wq, const Matrix& Wk,
                                                const Matrix& Wv, const AttentionGradients& d) {
  const Matrix Xt = transposed(X);
  return {sum(product(d.dQ, transposed(Wq)),
              sum(product(d.dK, transposed(Wk)), product(d.dV, transposed(Wv)))),
          product(Xt, d.dQ), product(Xt, d.dK), product(Xt, d.dV)};
}

/// ||got - expected|| / ||expected||; the norm of the difference where nothing is expected.
inline double relative_error(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(size > 0 ? difference / size : difference);
}

/// dL/dM by central differences, where L is a function of the matrix.
inline Matrix finite_difference(const std::function<double(const Matrix&)>& L, const Matrix& M) {
  const double step = 1e-5;
  Matrix result(M.rows, M.cols);
  for (std::size_t at = 0; at < M.values.size(); ++at) {
    Matrix above = M, below = M;
    above.values[at] += step;
    below.values[at] -= step;
    result.values[at] = (L(above) - L(below)) / (2 * step);
  }
  return result;
}

}  // namespace flashlab::test
