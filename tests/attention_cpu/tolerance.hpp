// How far a result may be from the oracle: at most twice as far as the plain implementation in the
// same precision is, by the norm of all elements and by the largest, plus a floor for small sizes,
// where the plain one may happen to be exact.
//
// The floor is a bound on rounding: epsilon times a magnitude. A score is known to within
// 2 |scale| |q| |k| epsilon: a variant that folds scale and log2(e) into Q rounds the constant, each
// product with it, the sum, half an epsilon each; and the sums on the way, an error that walks at random
// and deviates by a third of an epsilon. Its exponential and what is multiplied by it are known to
//   sensitivity_i = 2 + 2 |scale| |q_i| max |k_j| + |lse_i|
// epsilons. The magnitudes are those of the terms that are added up, cancellation apart:
//   O_i   sum_j P_ij |v_j|
//   dV_j  sum_i P_ij |dO_i|
//   dQ_i  |scale| sum_j P_ij |dO_i| (|v_j| + |O_i|) |k_j|
//   dK_j  |scale| sum_i P_ij |dO_i| (|v_j| + |O_i|) |q_i|
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/tensor.hpp"
#include "tests/attention_cpu/half_formats.hpp"
#include "tests/attention_cpu/textbook.hpp"

namespace flashlab::test {

/// How far finite differences of a double forward pass may be from its gradients, relative to the
/// largest gradient: steps of cbrt(epsilon) leave errors of that size squared.
inline const double kDifferenceStep = std::cbrt(std::numeric_limits<double>::epsilon());
inline const double kDifferenceTolerance = 100 * kDifferenceStep * kDifferenceStep;

/// Two double computations of a few dozen terms, relative to the largest element.
inline constexpr double kGoldenTolerance = 1000 * std::numeric_limits<double>::epsilon();

struct Deviation {
  double norm = 0, largest = 0;  // NaN where a result is NaN
};

/// Of a result from the oracle; infinities must agree and then count as no deviation.
template <class Result, class Real>
Deviation deviation(const std::vector<Result>& result, const std::vector<Real>& oracle) {
  Real squares = 0, largest = 0;
  if (result.size() != oracle.size()) squares = std::numeric_limits<Real>::quiet_NaN();
  for (std::size_t k = 0; k < oracle.size() && k < result.size(); ++k) {
    const Real value = static_cast<Real>(result[k]);
    const Real difference = value == oracle[k] ? 0 : std::fabs(value - oracle[k]);
    squares += difference * difference;
    if (!(difference <= largest) && largest == largest) largest = difference;
  }
  return {static_cast<double>(std::sqrt(squares)), static_cast<double>(largest)};
}

inline bool is_within(const Deviation& ours, const Deviation& plain, const Deviation& floor) {
  return ours.norm <= 2 * plain.norm + floor.norm &&
         ours.largest <= 2 * plain.largest + floor.largest;
}

/// Norms of the rows of a dense array.
template <class Real>
std::vector<Real> row_norms(const std::vector<Real>& array, std::int64_t head_dim) {
  std::vector<Real> norms;
  for (std::size_t first = 0; first < array.size(); first += static_cast<std::size_t>(head_dim)) {
    norms.push_back(std::sqrt(textbook::dot(&array[first], &array[first], head_dim)));
  }
  return norms;
}

/// The floors of O, lse and of the gradients, for an epsilon of 1.
class RoundingFloors {
 public:
  /// Row norms of the problem's tensors; P from the oracle. of_operands_only: what rounding P and
  /// dS before a product costs, scores being known: a sensitivity of 1.
  template <class Real>
  RoundingFloors(const textbook::Problem& problem, const std::vector<Real>& q,
                 const std::vector<Real>& k, const std::vector<Real>& v, const std::vector<Real>& P,
                 const std::vector<Real>& row_lse)
      : RoundingFloors(problem, q, k, v, P, row_lse, std::vector<Real>(q.size()),
                       std::vector<Real>(q.size())) {}

  template <class Real>
  RoundingFloors(const textbook::Problem& problem, const std::vector<Real>& q,
                 const std::vector<Real>& k, const std::vector<Real>& v, const std::vector<Real>& P,
                 const std::vector<Real>& row_lse, const std::vector<Real>& o,
                 const std::vector<Real>& dO, bool of_operands_only = false) {
    std::vector<Real> key_dK(k.size()), key_dV(k.size());
    const Real scale = static_cast<Real>(std::fabs(problem.softmax_scale));
    textbook::for_each_query(problem, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      const std::int64_t row = problem.query(b, h, i);
      if (std::isinf(row_lse[row])) return;
      Real largest_key = 0, row_O = 0, row_dQ = 0;
      for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
        if (problem.sees(b, i, j)) largest_key = std::max(largest_key, k[problem.key(b, h, j)]);
      }
      const Real sensitivity =
          of_operands_only ? 1 : 2 + 2 * scale * q[row] * largest_key + std::fabs(row_lse[row]);
      for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
        if (!problem.sees(b, i, j)) continue;
        const std::int64_t key = problem.key(b, h, j);
        const Real weight = sensitivity * P[row * problem.seqlen_k + j];
        const Real dS = scale * weight * dO[row] * (v[key] + o[row]);
        row_O += weight * v[key];
        row_dQ += dS * k[key];
        key_dK[key] += dS * q[row];
        key_dV[key] += weight * dO[row];
      }
      include(O, row_O);
      include(dQ, row_dQ);
      include(lse, sensitivity);
    });
    for (const Real value : key_dK) include(dK, value);
    for (const Real value : key_dV) include(dV, value);
    for (Deviation* floor : {&O, &lse, &dQ, &dK, &dV}) floor->norm = std::sqrt(floor->norm);
  }

  Deviation O, lse, dQ, dK, dV;

 private:
  template <class Real>
  static void include(Deviation& floor, Real value) {
    floor.norm += static_cast<double>(value * value);
    floor.largest = std::max(floor.largest, static_cast<double>(value));
  }
};

inline Deviation operator*(double factor, const Deviation& floor) {
  return {factor * floor.norm, factor * floor.largest};
}

inline Deviation operator+(const Deviation& a, const Deviation& b) {
  return {a.norm + b.norm, a.largest + b.largest};
}

/// Half a unit in the last place of results that are stored in 16 bits: what lies between two of
/// them may go either way.
template <class Real>
Deviation storing_floor(DataType stored, const std::vector<Real>& oracle) {
  if (size_in_bytes(stored) != 2) return {};
  const int fraction_bits =
      (stored == DataType::kBFloat16 ? kBFloat16Format : kFloat16Format).fraction_bits;
  return std::ldexp(1.0, -fraction_bits - 1) * deviation(std::vector<Real>(oracle.size()), oracle);
}

}  // namespace flashlab::test
