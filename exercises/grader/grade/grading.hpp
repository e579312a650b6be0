// Grades one submission of an exercise with a program to write, size by size.
#pragma once

#include "exercises/grader/exercise/verdict.hpp"
#include "exercises/grader/grade/prepared_exercise.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Never throws because of the submission. Its rows are not complete, and it has no points yet
/// (complete_checks).
Verdict grade_program(const PreparedExercise& prepared, const toy::SourceText& text);

}  // namespace flashlab::exercises
