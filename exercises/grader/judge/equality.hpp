// Proofs that a program computes what the exercise's solution does.
#pragma once

#include <memory>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

enum class Proof : std::uint8_t { kNone, kSameFloats, kSameForms };

/// Holds at the exercise's sizes on scalars: at all of them for floats, at those for which formulas
/// stay short (one at least) for forms. Forms prove nothing where the exercise judges range or
/// rounding.
Proof prove_equal(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program);

/// Equal formulas at those sizes, whatever the exercise judges beside them.
bool same_on_paper(const ProgramTask& task, const std::shared_ptr<const toy::Program>& program);

}  // namespace flashlab::exercises
