// Proves that a program computes the same as the exercise's solution.
#pragma once

#include <memory>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

enum class Proof : std::uint8_t { kNone, kSameFloats, kSameForms };

/// Proves equality at the exercise's sizes on scalars: for floats at all of them, for forms
/// at those with short formulas (at least one). Forms prove nothing if the exercise judges
/// range or rounding.
Proof prove_equal(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program);

/// Returns whether the formulas are equal at those sizes, even if the exercise judges
/// range or rounding.
bool same_on_paper(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program);

}  // namespace flashlab::exercises
