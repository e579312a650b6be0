// Expressions with loop variables to affine forms, parameters bound.
#pragma once

#include <optional>

#include "toymachine/bind/evaluate.hpp"
#include "toymachine/bind/loop_nest.hpp"

namespace flashlab::toy::detail {

/// The affine form of an index that the assembler found affine; nothing after a message.
std::optional<Affine> to_affine(const Expression& expression, const Values& values,
                                std::vector<Diagnostic>& diagnostics);

/// The form of a bound.
std::optional<BoundExpression> to_bound(const Expression& expression, const Values& values,
                                        std::vector<Diagnostic>& diagnostics);

/// a + factor * b; nothing when a coefficient leaves kLargestIndex.
std::optional<Affine> add(const Affine& a, const Affine& b, std::int64_t factor);

}  // namespace flashlab::toy::detail
