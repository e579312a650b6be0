// The iterations of a loop nest as whole points that satisfy inequalities. Private to counting.
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
  std::vector<NestExpression> args;  // kMin, kMax, kAdd: all; the others: one
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

/// Sums that together count how often the body of the innermost loop runs; `loops` from the
/// outermost to the innermost, their numbers below num_loops. Variables with higher numbers stand
/// for intermediate results. Empty ranges contribute no points, since no variable fits into them.
/// Nothing when min and max multiply to too many cases.
std::optional<std::vector<LatticeSum>> iteration_space(const std::vector<NestLoop>& loops);

}  // namespace flashlab::toy::detail
