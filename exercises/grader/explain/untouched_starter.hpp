// A submission in which nothing is written yet: the starter, whatever its comments and spaces.
#pragma once

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Says where to begin, in place of mistakes in lines that were given, and returns true: if the submission is the
/// starter, and comments in it stand where lines are missing.
bool say_nothing_written(const ProgramTask& task, const toy::SourceText& text, Verdict& verdict);

/// Of a starter that is a whole program, to be changed, its mistakes are what the learner looks for. Adds that it is
/// unchanged to what is wrong with it.
void note_starter(const ProgramTask& task, const toy::SourceText& text, Verdict& verdict);
inline constexpr const char* kStarterUnchanged =
    "This is the starter, unchanged: to change it is the exercise.";

}  // namespace flashlab::exercises
