// The reference itself: its gradients against finite differences, and the notations of the sources
// against each other.
#include "tests/toymachine/programs/attention_reference.hpp"

#include <cmath>
#include <functional>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/programs/attention_program.hpp"

namespace {

using namespace flashlab::test;  // NOLINT: a test of that namespace

constexpr double kDifferenceTolerance = 1e-8;  // central differences with a step of 1e-5

/// sum of O o dO: a loss whose gradient with respect to O is dO.
double loss(const Matrix& O, const Matrix& dO) {
  double total = 0;
  for (std::size_t i = 0; i < O.values.size(); ++i) total += O.values[i] * dO.values[i];
  return total;
}

void require_gradient(const std::function<double(const Matrix&)>& L, const Matrix& at,
                      const Matrix& gradient) {
  const double error = relative_error(gradient.values, finite_difference(L, at).values);
  INFO("off by " << error);
  REQUIRE(error < kDifferenceTolerance);
}

Matrix softmax_of_rows(const Matrix& S) {
  Matrix P = S;
  for (std::size_t i = 0; i < S.rows; ++i) {
    double total = 0;
    for (std::size_t j = 0; j < S.cols; ++j) total += P(i, j) = std::exp(S(i, j));
    for (std::size_t j = 0; j < S.cols; ++j) P(i, j) /= total;
  }
  return P;
}

}  // namespace

TEST_CASE("dQ, dK and dV are the finite differences of attention") {
  const bool is_causal = GENERATE(false, true);
  const AttentionProblem p({5, 4, 3}, is_causal);
  const auto L = [&](const Matrix& Q, const Matrix& K, const Matrix& V) {
    return loss(attention(Q, K, V, p.scale, is_causal).O, p.dO);
  };
  require_gradient([&](const Matrix& Q) { return L(Q, p.K, p.V); }, p.Q, p.backward.dQ);
  require_gradient([&](const Matrix& K) { return L(p.Q, K, p.V); }, p.K, p.backward.dK);
  require_gradient([&](const Matrix& V) { return L(p.Q, p.K, V); }, p.V, p.backward.dV);
}

TEST_CASE("each step of the backward pass is the finite difference of its forward step") {
  const AttentionProblem p({5, 4, 3}, false);
  const Matrix &P = p.forward.P, &S = p.forward.S;
  const Matrix dP = product(p.dO, transposed(p.V));
  const Matrix& dS = p.backward.dS;
  const auto L_of_S = [&](const Matrix& s) { return loss(product(softmax_of_rows(s), p.V), p.dO); };
  const auto S_of = [&](const Matrix& Q, const Matrix& K) {
    return scaled(product(Q, transposed(K)), p.scale);
  };
  require_gradient([&](const Matrix& m) { return loss(product(m, p.V), p.dO); }, P, dP);
  require_gradient([&](const Matrix& m) { return loss(product(P, m), p.dO); }, p.V, p.backward.dV);
  require_gradient(L_of_S, S, dS);
  require_gradient([&](const Matrix& m) { return loss(S_of(m, p.K), dS); }, p.Q, p.backward.dQ);
  require_gradient([&](const Matrix& m) { return loss(S_of(p.Q, m), dS); }, p.K, p.backward.dK);
}

TEST_CASE("dX and the gradients of the weights are the finite differences of the projections") {
  const ProjectedProblem p(4, 3, 5);
  const auto L = [&](const Matrix& X, const Matrix& Wq, const Matrix& Wk, const Matrix& Wv) {
    const double scale = 1 / std::sqrt(3.0);
    return loss(attention(product(X, Wq), product(X, Wk), product(X, Wv), scale, false).O, p.dO);
  };
  const ProjectionGradients& d = p.backward;
  require_gradient([&](const Matrix& X) { return L(X, p.Wq, p.Wk, p.Wv); }, p.X, d.dX);
  require_gradient([&](const Matrix& W) { return L(p.X, W, p.Wk, p.Wv); }, p.Wq, d.dWq);
  require_gradient([&](const Matrix& W) { return L(p.X, p.Wq, W, p.Wv); }, p.Wk, d.dWk);
  require_gradient([&](const Matrix& W) { return L(p.X, p.Wq, p.Wk, W); }, p.Wv, d.dWv);
}

TEST_CASE("P is e to the S minus lse, and 2 to the same in base 2") {
  const AttentionProblem p({5, 4, 3}, false);
  const double log2_e = 1 / std::log(2.0);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const double S = p.forward.S(i, j), lse = p.forward.lse(i, 0);
      CHECK(std::abs(std::exp(S - lse) - p.forward.P(i, j)) < 1e-14);
      CHECK(std::abs(std::exp2(S * log2_e - lse * log2_e) - p.forward.P(i, j)) < 1e-14);
    }
  }
}

TEST_CASE("in base 2, dQ comes out of the scaled K by log2 e too large, and dK of the plain Q") {
  const AttentionProblem p({5, 4, 3}, false);
  const double ln_2 = std::log(2.0);
  // The Triton notebook: K is scaled by s log2 e before the kernel, dS is the usual one.
  const Matrix K_scaled = scaled(p.K, p.scale / ln_2);
  const Matrix dQ = product(p.backward.dS, K_scaled);
  CHECK(relative_error(scaled(dQ, ln_2).values, p.backward.dQ.values) < 1e-14);
  CHECK(relative_error(dQ.values, p.backward.dQ.values) > 0.1);
  const Matrix dK = product(transposed(p.backward.dS), p.Q);
  CHECK(relative_error(scaled(dK, p.scale).values, p.backward.dK.values) < 1e-14);
}

TEST_CASE("the scale may be folded into Q, into dS or into the results, dQ and dK stay the same") {
  const AttentionProblem p({5, 4, 3}, false);
  const Matrix& dS = p.backward.dS;
  // Into Q before the pass: dQ is then that of the scaled Q, and takes the factor once more.
  const Matrix Q_folded = scaled(p.Q, p.scale);
  const AttentionGradients folded = attention_gradients(Q_folded, p.K, p.V, p.dO, 1, false);
  CHECK(relative_error(scaled(folded.dQ, p.scale).values, p.backward.dQ.values) < 1e-14);
  CHECK(relative_error(folded.dQ.values, p.backward.dQ.values) > 0.1);
  CHECK(relative_error(folded.dK.values, p.backward.dK.values) < 1e-14);
  // Into dS.
  const Matrix dS_scaled = scaled(dS, p.scale);
  CHECK(relative_error(product(dS_scaled, p.K).values, p.backward.dQ.values) < 1e-14);
  CHECK(relative_error(product(transposed(dS_scaled), p.Q).values, p.backward.dK.values) < 1e-14);
  // Into K, as the programs that keep a K tile do: dQ needs no more, dK once more.
  const Matrix K_folded = scaled(p.K, p.scale);
  CHECK(relative_error(product(dS, K_folded).values, p.backward.dQ.values) < 1e-14);
  const AttentionGradients with_K = attention_gradients(p.Q, K_folded, p.V, p.dO, 1, false);
  CHECK(relative_error(scaled(with_K.dK, p.scale).values, p.backward.dK.values) < 1e-14);
}

TEST_CASE("the row sums of dO and O are those of P and dP") {
  const AttentionProblem p({5, 4, 3}, false);
  const Matrix dP = product(p.dO, transposed(p.V));
  const Matrix delta = row_sums(elementwise(p.dO, p.forward.O, std::multiplies<>()));
  const Matrix from_P = row_sums(elementwise(p.forward.P, dP, std::multiplies<>()));
  CHECK(relative_error(delta.values, from_P.values) < 1e-14);
}
