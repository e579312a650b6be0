// The answer sheet that guesses: the same answer to every question.
#pragma once

#include <string>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// One letter for all choices and one formula for all numbers and formulas, chosen so that they get the most points.
struct BlanketSheet {
  std::string letter, formula;  // empty: there is no such question
  double points = 0;            // with those of open questions, which take any answer
};
BlanketSheet best_blanket_sheet(const QuestionTask& task);

}  // namespace flashlab::exercises
