// Evaluates expressions without loop variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "toymachine/language/expression.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

/// The values of names while a program is being bound.
struct Values {
  const Program* program = nullptr;
  std::vector<std::optional<std::int64_t>> params;
  std::vector<std::optional<Number>> consts;
  std::vector<std::vector<std::int64_t>> extents;  // by array, once known
  std::vector<std::vector<std::int64_t>> counts;   // the same, in tiles
  std::optional<std::int64_t> registers;
};

/// Returns the value. Reports an error and returns nothing for a name without a value, a division
/// by zero, an integer that does not fit 64 bits, or the root of a negative number.
std::optional<Number> evaluate(const Expression& expression, const Values& values,
                               std::vector<Diagnostic>& diagnostics);

/// The same where only a whole number is allowed.
std::optional<std::int64_t> evaluate_integer(const Expression& expression, const Values& values,
                                             std::vector<Diagnostic>& diagnostics);

/// Whether the expression mentions a parameter (an index into Program::params) for which the test
/// holds.
template <class Test>
bool mentions_param(const Expression& expression, const Test& test) {
  if (expression.op == ExpressionOp::kParam) return test(expression.index);
  return std::any_of(expression.args.begin(), expression.args.end(),
                     [&](const ExpressionPtr& arg) { return mentions_param(*arg, test); });
}

double as_double(const Number& number);

std::int64_t floor_div(std::int64_t a, std::int64_t b);  // b > 0
std::int64_t ceil_div(std::int64_t a, std::int64_t b);   // b > 0

}  // namespace flashlab::toy::detail
