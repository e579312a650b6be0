// Five ways to write what softmax does to a gradient, from the full Jacobian of the whole matrix to
// the one that needs only O and dO.
#include <cstddef>
#include <functional>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/programs/attention_program.hpp"
#include "tests/toymachine/programs/attention_reference.hpp"

namespace {

using namespace flashlab::test;  // NOLINT

double kronecker(std::size_t a, std::size_t b) { return a == b ? 1 : 0; }

/// dS_ab = sum over i, j of dP_ij dP_ij/dS_ab, the Jacobian having four indices.
Matrix with_four_indices(const Matrix& P, const Matrix& dP) {
  Matrix dS(P.rows, P.cols);
  for (std::size_t a = 0; a < P.rows; ++a) {
    for (std::size_t b = 0; b < P.cols; ++b) {
      for (std::size_t i = 0; i < P.rows; ++i) {
        for (std::size_t j = 0; j < P.cols; ++j) {
          const double jacobian = kronecker(i, a) * P(i, j) * (kronecker(j, b) - P(i, b));
          dS(a, b) += dP(i, j) * jacobian;
        }
      }
    }
  }
  return dS;
}

/// dS_i = dP_i (diag(P_i) - P_i^T P_i), row by row.
Matrix with_row_jacobians(const Matrix& P, const Matrix& dP) {
  Matrix dS(P.rows, P.cols);
  for (std::size_t i = 0; i < P.rows; ++i) {
    Matrix row(1, P.cols), jacobian(P.cols, P.cols);
    for (std::size_t j = 0; j < P.cols; ++j) {
      row(0, j) = dP(i, j);
      for (std::size_t l = 0; l < P.cols; ++l) {
        jacobian(j, l) = kronecker(j, l) * P(i, j) - P(i, j) * P(i, l);
      }
    }
    const Matrix result = product(row, jacobian);
    for (std::size_t j = 0; j < P.cols; ++j) dS(i, j) = result(0, j);
  }
  return dS;
}

/// dS_i = P_i o dP_i - P_i (P_i . dP_i), row by row.
Matrix row_by_row(const Matrix& P, const Matrix& dP) {
  Matrix dS(P.rows, P.cols);
  for (std::size_t i = 0; i < P.rows; ++i) {
    double dot = 0;
    for (std::size_t j = 0; j < P.cols; ++j) dot += P(i, j) * dP(i, j);
    for (std::size_t j = 0; j < P.cols; ++j) dS(i, j) = P(i, j) * dP(i, j) - P(i, j) * dot;
  }
  return dS;
}

/// dS = P o dP - D P, all rows at once, D being a column.
Matrix all_rows(const Matrix& P, const Matrix& dP, const Matrix& D) {
  Matrix spread(P.rows, P.cols);
  for (std::size_t i = 0; i < P.rows; ++i) {
    for (std::size_t j = 0; j < P.cols; ++j) spread(i, j) = D(i, 0);
  }
  const Matrix difference = elementwise(dP, spread, std::minus<>());
  return elementwise(P, difference, std::multiplies<>());
}

}  // namespace

TEST_CASE("five forms of the softmax Jacobian give the same dS") {
  const AttentionProblem p({5, 4, 3}, GENERATE(false, true));
  const Matrix &P = p.forward.P, &O = p.forward.O;
  const Matrix dP = product(p.dO, transposed(p.V));
  const Matrix from_P = row_sums(elementwise(P, dP, std::multiplies<>()));
  const Matrix from_O = row_sums(elementwise(O, p.dO, std::multiplies<>()));
  const Matrix expected = with_four_indices(P, dP);
  for (const Matrix& dS : {with_row_jacobians(P, dP), row_by_row(P, dP), all_rows(P, dP, from_P),
                           all_rows(P, dP, from_O), p.backward.dS}) {
    CHECK(relative_error(dS.values, expected.values) < 1e-14);
  }
}
