// Turns expressions with loop variables into affine forms, with parameters bound.
#pragma once

#include <optional>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/bind/evaluate.hpp"

namespace flashlab::toy::detail {

/// Returns the affine form of an index that the assembler accepted; nothing after
/// reporting an error.
std::optional<Affine> to_affine(const Expression& expression, const Values& values,
                                std::vector<Diagnostic>& diagnostics);

/// Returns the form of a bound.
std::optional<BoundExpression> to_bound(const Expression& expression, const Values& values,
                                        std::vector<Diagnostic>& diagnostics);

/// Returns a + factor * b; nothing if a coefficient exceeds kLargestIndex.
std::optional<Affine> add(const Affine& a, const Affine& b, std::int64_t factor);

}  // namespace flashlab::toy::detail
