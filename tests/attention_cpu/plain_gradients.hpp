// The gradients of a layer of self-attention by plain loops in double, everything stored.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/attention_cpu/projected_layer.hpp"

namespace flashlab::test {

class PlainMatrix {
 public:
  PlainMatrix(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}

  double& at(std::int64_t i, std::int64_t j) {
    return values_[static_cast<std::size_t>(i * columns_ + j)];
  }
  double at(std::int64_t i, std::int64_t j) const {
    return values_[static_cast<std::size_t>(i * columns_ + j)];
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

  PlainMatrix transposed() const {
    PlainMatrix result(columns_, rows_);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) result.at(j, i) = at(i, j);
    }
    return result;
  }
  friend PlainMatrix operator*(const PlainMatrix& a, const PlainMatrix& b) {
    PlainMatrix result(a.rows_, b.columns_);
    for (std::int64_t i = 0; i < a.rows_; ++i) {
      for (std::int64_t k = 0; k < a.columns_; ++k) {
        for (std::int64_t j = 0; j < b.columns_; ++j) result.at(i, j) += a.at(i, k) * b.at(k, j);
      }
    }
    return result;
  }
  friend PlainMatrix operator*(double factor, PlainMatrix a) {
    for (double& value : a.values_) value *= factor;
    return a;
  }

 private:
  std::int64_t rows_, columns_;
  std::vector<double> values_;
};

/// rows x columns of `values`, which has `stride` columns, from element `first`.
template <class Element>
PlainMatrix part(const std::vector<Element>& values, std::int64_t first, std::int64_t rows,
                 std::int64_t columns, std::int64_t stride) {
  PlainMatrix result(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      result.at(i, j) =
          static_cast<double>(values[static_cast<std::size_t>(first + i * stride + j)]);
    }
  }
  return result;
}

inline void add_part(std::vector<double>& values, std::int64_t first, std::int64_t stride,
                     const PlainMatrix& addend) {
  for (std::int64_t i = 0; i < addend.rows(); ++i) {
    for (std::int64_t j = 0; j < addend.columns(); ++j) {
      values[static_cast<std::size_t>(first + i * stride + j)] += addend.at(i, j);
    }
  }
}

/// P of one head, row by row; a row that sees no key is 0.
template <class Sees>
PlainMatrix plain_softmax(const PlainMatrix& S, const Sees& sees) {
  PlainMatrix P(S.rows(), S.columns());
  for (std::int64_t i = 0; i < S.rows(); ++i) {
    double largest = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < S.columns(); ++j) {
      if (sees(i, j)) largest = std::fmax(largest, S.at(i, j));
    }
    for (std::int64_t j = 0; j < S.columns(); ++j) {
      if (sees(i, j)) sum += std::exp(S.at(i, j) - largest);
    }
    for (std::int64_t j = 0; j < S.columns(); ++j) {
      if (sees(i, j)) P.at(i, j) = std::exp(S.at(i, j) - largest) / sum;
    }
  }
  return P;
}

/// dS = P o (dP - rowsum(P o dP)), the softmax's own Jacobian.
inline PlainMatrix plain_dS(const PlainMatrix& P, const PlainMatrix& dP) {
  PlainMatrix dS(P.rows(), P.columns());
  for (std::int64_t i = 0; i < P.rows(); ++i) {
    double mean = 0;
    for (std::int64_t j = 0; j < P.columns(); ++j) mean += P.at(i, j) * dP.at(i, j);
    for (std::int64_t j = 0; j < P.columns(); ++j) dS.at(i, j) = P.at(i, j) * (dP.at(i, j) - mean);
  }
  return dS;
}

/// What one head of one batch entry adds to the gradients.
template <class Element>
void add_head(const Layer<Element>& layer, std::int64_t b, std::int64_t h, Gradients& sum) {
  const auto& [batch, num_heads, num_kv_heads, n, d, d_model, mask, lengths, window] = layer.sizes;
  const std::int64_t kv = h / (num_heads / num_kv_heads);
  const std::int64_t q_width = num_heads * d, kv_width = num_kv_heads * d;
  const PlainMatrix X = part(layer.X, b * n * d_model, n, d_model, d_model);
  const PlainMatrix W_Q = part(layer.W_Q, h * d, d_model, d, q_width);
  const PlainMatrix W_K = part(layer.W_K, kv * d, d_model, d, kv_width);
  const PlainMatrix W_V = part(layer.W_V, kv * d, d_model, d, kv_width);
  const PlainMatrix dO = part(layer.dO, (b * num_heads + h) * n * d, n, d, d);
  const PlainMatrix Q = X * W_Q, K = X * W_K, V = X * W_V;

  const double scale = 1 / std::sqrt(static_cast<double>(d));
  const PlainMatrix S = scale * (Q * K.transposed());
  const PlainMatrix P =
      plain_softmax(S, [&](std::int64_t i, std::int64_t j) { return layer.sees(b, i, j); });
  const PlainMatrix dS = plain_dS(P, dO * V.transposed());
  const PlainMatrix dQ = scale * (dS * K), dK = scale * (dS.transposed() * Q),
                    dV = P.transposed() * dO;

  add_part(sum.dX, b * n * d_model, d_model, dQ * W_Q.transposed());
  add_part(sum.dX, b * n * d_model, d_model, dK * W_K.transposed());
  add_part(sum.dX, b * n * d_model, d_model, dV * W_V.transposed());
  add_part(sum.dW_Q, h * d, q_width, X.transposed() * dQ);
  add_part(sum.dW_K, kv * d, kv_width, X.transposed() * dK);
  add_part(sum.dW_V, kv * d, kv_width, X.transposed() * dV);
}

template <class Element>
Gradients plain_gradients(const Layer<Element>& layer) {
  Gradients sum;
  sum.dX.resize(layer.X.size());
  sum.dW_Q.resize(layer.W_Q.size());
  sum.dW_K.resize(layer.W_K.size());
  sum.dW_V.resize(layer.W_V.size());
  for (std::int64_t b = 0; b < layer.sizes.batch; ++b) {
    for (std::int64_t h = 0; h < layer.sizes.num_heads; ++h) add_head(layer, b, h, sum);
  }
  return sum;
}

}  // namespace flashlab::test
