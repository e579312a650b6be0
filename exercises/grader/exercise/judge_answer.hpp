// Compares one answer with the expected answer.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// An answer, parsed for its question.
struct Answer {
  RationalFunction formula{0, 1};  // kFormula, kNumber
  std::size_t choice = 0;          // kChoice: from 0
  std::string text;                // on one line
};

/// Parses an answer. Errors: not a formula, unknown names, not a number, no such choice, no text.
/// Their places are places in `text`.
toy::Result<Answer> read_answer(const Question& question, const toy::SourceText& text);

/// Returns whether an answer is right. Formulas: equal as quotients of polynomials, or to
/// leading order if the question allows it. Numbers: |answer - expected| <= tolerance
/// |expected|, exactly, or the same sign and off by a factor of at most `within`. Choices: the
/// same one. Open questions: always.
bool agree(const Question& question, const Answer& answer, const Answer& expected);

/// The explanation of a wrong answer.
struct Objection {
  std::string what;                  // one sentence
  std::vector<std::string> details;  // more sentences
};

/// Returns the explanation that exercise.toml lists for this mistake. Otherwise says what is
/// nearly right about the answer, or gives its value at a size where it is wrong. Never gives the
/// right answer's value.
Objection object_to(const Question& question, const Answer& answer, const Answer& expected);

}  // namespace flashlab::exercises
