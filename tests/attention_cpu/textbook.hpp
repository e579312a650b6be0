// Attention as a textbook has it, forward and backward: dense row-major arrays, one loop an index,
// S and P stored, nothing of the library. Real is the precision: a wider one than the library's is
// the oracle, the same one is the plain implementation that the library's error is held against.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace flashlab::test::textbook {

enum class Causal { kNo, kTopLeft, kBottomRight };

struct Problem {
  std::int64_t batch = 1, num_heads = 1, num_kv_heads = 1;
  std::int64_t seqlen_q = 1, seqlen_k = 1, head_dim = 1;
  Causal causal = Causal::kNo;
  std::vector<std::int64_t> key_lengths;  // empty: seqlen_k everywhere
  double softmax_scale = 1;
  std::optional<std::int64_t> window_left = {}, window_right = {};

  std::vector<std::int64_t> cu_seqlens_q = {}, cu_seqlens_k = {};  // empty: not packed
  std::int64_t query_offset = 0;                                   // the position of query 0

  bool sees(std::int64_t b, std::int64_t i, std::int64_t j) const {
    std::int64_t queries = seqlen_q;
    std::int64_t keys = key_lengths.empty() ? seqlen_k : key_lengths[static_cast<std::size_t>(b)];
    for (std::size_t s = 0; s + 1 < cu_seqlens_q.size(); ++s) {
      if (i < cu_seqlens_q[s] || i >= cu_seqlens_q[s + 1]) continue;
      if (j < cu_seqlens_k[s]) return false;
      queries = cu_seqlens_q[s + 1] - cu_seqlens_q[s];
      keys = cu_seqlens_k[s + 1] - cu_seqlens_k[s];
      i -= cu_seqlens_q[s];
      j -= cu_seqlens_k[s];
      break;
    }
    if (j >= keys) return false;
    // On the diagonal 0, key and query are at the same position.
    const std::int64_t diagonal =
        j - i - (causal == Causal::kBottomRight ? keys - queries : query_offset);
    if (causal != Causal::kNo && diagonal > 0) return false;
    if (window_left && -diagonal > *window_left) return false;
    return !window_right || diagonal <= *window_right;
  }
  std::int64_t kv_head(std::int64_t h) const { return h / (num_heads / num_kv_heads); }

  // Where a row of Q (lse), of K, of S begins in the dense arrays.
  std::int64_t query(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return (b * num_heads + h) * seqlen_q + i;
  }
  std::int64_t key(std::int64_t b, std::int64_t h, std::int64_t j) const {
    return (b * num_kv_heads + kv_head(h)) * seqlen_k + j;
  }
};

template <class Real>
using Array = std::vector<Real>;

template <class Real>
struct Forward {
  Array<Real> O, lse, P;
};

template <class Real>
struct Backward {
  Array<Real> dQ, dK, dV, P;
};

template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t count) {
  Real sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += a[c] * b[c];
  return sum;
}

/// to += factor * row
template <class Real>
void add(Real* to, Real factor, const Real* row, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) to[c] += factor * row[c];
}

/// body(b, h, i) for every query.
template <class Body>
void for_each_query(const Problem& problem, const Body& body) {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t h = 0; h < problem.num_heads; ++h) {
      for (std::int64_t i = 0; i < problem.seqlen_q; ++i) body(b, h, i);
    }
  }
}

/// Row i of S where the query sees the key, in a row of P's place; the maximum comes back, NaN if
/// one is, -infinity if nothing is seen.
template <class Real>
Real score_row(const Problem& problem, const Array<Real>& Q, const Array<Real>& K, std::int64_t b,
               std::int64_t h, std::int64_t i, Real* S) {
  const std::int64_t d = problem.head_dim;
  Real row_max = -std::numeric_limits<Real>::infinity();
  for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
    if (!problem.sees(b, i, j)) continue;
    const Real product =
        dot(Q.data() + problem.query(b, h, i) * d, K.data() + problem.key(b, h, j) * d, d);
    S[j] = static_cast<Real>(problem.softmax_scale) * product;
    if (S[j] > row_max || S[j] != S[j]) row_max = S[j];
  }
  return row_max;
}

/// What P and dS go through before they are multiplied: nothing, or the rounding of 16-bit
/// operands.
struct AsTheyAre {
  template <class Real>
  Real operator()(Real value) const {
    return value;
  }
};

template <class Real, class Rounding = AsTheyAre>
Forward<Real> forward(const Problem& problem, const Array<Real>& Q, const Array<Real>& K,
                      const Array<Real>& V, const Rounding& operand = {}) {
  const std::int64_t d = problem.head_dim, rows = problem.query(problem.batch, 0, 0);
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Forward<Real> result{Array<Real>(rows * d), Array<Real>(rows, -kInfinity),
                       Array<Real>(rows * problem.seqlen_k)};
  for_each_query(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const std::int64_t row = problem.query(b, h, i);
    Real* const P = result.P.data() + row * problem.seqlen_k;
    const Real row_max = score_row(problem, Q, K, b, h, i, P);
    Real row_sum = 0;
    for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
      if (!problem.sees(b, i, j)) continue;
      P[j] = row_max == -kInfinity ? 0 : std::exp(P[j] - row_max);
      row_sum += P[j];
    }
    if (row_max == -kInfinity) return;
    for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
      if (!problem.sees(b, i, j)) continue;
      P[j] /= row_sum;
      add(result.O.data() + row * d, operand(P[j]), V.data() + problem.key(b, h, j) * d, d);
    }
    result.lse[row] = row_max + std::log(row_sum);
  });
  return result;
}

/// From O and lse as the forward pass left them: P = exp(S - lse), D = rowsum(dO o O),
/// dS = P o (dO V^T - D), dQ = scale dS K, dK = scale dS^T Q, dV = P^T dO.
template <class Real, class Rounding = AsTheyAre>
Backward<Real> backward(const Problem& problem, const Array<Real>& Q, const Array<Real>& K,
                        const Array<Real>& V, const Array<Real>& O, const Array<Real>& lse,
                        const Array<Real>& dO, const Rounding& operand = {}) {
  const std::int64_t d = problem.head_dim, rows = problem.query(problem.batch, 0, 0);
  const Real scale = static_cast<Real>(problem.softmax_scale);
  Backward<Real> result{Array<Real>(Q.size()), Array<Real>(K.size()), Array<Real>(V.size()),
                        Array<Real>(rows * problem.seqlen_k)};
  for_each_query(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const std::int64_t row = problem.query(b, h, i);
    if (lse[row] == -std::numeric_limits<Real>::infinity()) return;
    Real* const P = result.P.data() + row * problem.seqlen_k;
    const Real* const dO_row = dO.data() + row * d;
    score_row(problem, Q, K, b, h, i, P);
    const Real D = dot(dO_row, O.data() + row * d, d);
    for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
      if (!problem.sees(b, i, j)) continue;
      const std::int64_t key = problem.key(b, h, j) * d;
      P[j] = std::exp(P[j] - lse[row]);
      const Real dS = operand(P[j] * (dot(dO_row, V.data() + key, d) - D));
      add(result.dV.data() + key, operand(P[j]), dO_row, d);
      add(result.dQ.data() + row * d, scale * dS, K.data() + key, d);
      add(result.dK.data() + key, scale * dS, Q.data() + row * d, d);
    }
  });
  return result;
}

}  // namespace flashlab::test::textbook
