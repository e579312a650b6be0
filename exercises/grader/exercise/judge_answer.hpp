// One answer, held against what is right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// An answer as its question reads it.
struct Answer {
  RationalFunction formula{0, 1};  // kFormula, kNumber
  std::size_t choice = 0;          // kChoice: from 0
  std::string text;                // on one line
};

/// Errors: no formula, a formula in other names, a number that is none, no such choice, no text.
/// Their places are those of `text`.
toy::Result<Answer> read_answer(const Question& question, const toy::SourceText& text);

/// Formulas: equal as quotients of polynomials, or to leading order where that suffices. Numbers:
/// |answer - expected| <= tolerance |expected|, exactly, or off by a factor of at most `within`,
/// with the same sign. Choices: the same. Open: always.
bool agree(const Question& question, const Answer& answer, const Answer& expected);

/// What to say about a wrong answer.
struct Objection {
  std::string what;                  // one sentence
  std::vector<std::string> details;  // more sentences
};

/// Says of a mistake that exercise.toml lists what it lists. Otherwise what is nearly right about
/// the answer, or its value at a size where it is wrong; never the right answer's value.
Objection object_to(const Question& question, const Answer& answer, const Answer& expected);

}  // namespace flashlab::exercises
