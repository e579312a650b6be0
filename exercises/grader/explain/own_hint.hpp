// Hints about the learner's own program, from what its verdict found.
#pragma once

#include <cstddef>
#include <string>

#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Returns what a hint of this level (1: concept, 2: place, 3: operand) adds to the exercise's own: what is
/// wrong, at which line, and which words of the line. Empty if the verdict does not know.
std::string own_hint(const Verdict& verdict, const toy::SourceText& submission, std::size_t level);

}  // namespace flashlab::exercises
