// Checks whether an expression is affine in the loop variables, as indices and bounds must be.
#pragma once

#include <vector>

#include "toymachine/language/expression_parser.hpp"

namespace flashlab::toy::detail {

/// Reports why the expression cannot be an index or a bound: a product of loop variables, a
/// division of one, or min or max in an index. Returns true if it can be one.
bool check_affine(const Expression& expression, Usage usage, std::vector<Diagnostic>& diagnostics);

}  // namespace flashlab::toy::detail
