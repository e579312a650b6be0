// The iterations of a loop nest as whole-valued points that satisfy inequalities.
// Private to counting.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy::detail {

/// A loop bound over parameters and loop variables (loop_atom). Divisors are positive.
struct NestExpression {
  enum class Op { kPolynomial, kMin, kMax, kAdd, kScale, kFloorDiv, kCeilDiv };
  Op op = Op::kPolynomial;
  Polynomial
      polynomial;  // kPolynomial: itself; kScale: the factor; kFloorDiv, kCeilDiv: the divisor
  std::vector<NestExpression> args;  // kMin, kMax, kAdd: all operands; the others: one
  bool operator==(const NestExpression& other) const = default;
};

/// for loop_atom(number) in lower..upper step `step`; the step is positive and depends on no loop.
struct NestLoop {
  std::size_t number = 0;
  NestExpression lower, upper;
  Polynomial step = 1;
  bool operator==(const NestLoop& other) const = default;
};

/// The sum of `value` over all whole values of the variables for which all constraints are >= 0.
struct LatticeSum {
  std::vector<Atom> variables;
  std::vector<Polynomial> constraints;
  Polynomial value = 1;
};

/// Returns sums that together count how often the innermost loop's body runs. `loops` go from the
/// outermost to the innermost, with numbers below num_loops; variables with higher numbers are
/// intermediate results. An empty range contributes no points, because no value of the variable
/// satisfies it. Returns nothing if min and max multiply to too many cases.
std::optional<std::vector<LatticeSum>> iteration_space(const std::vector<NestLoop>& loops);

}  // namespace flashlab::toy::detail
