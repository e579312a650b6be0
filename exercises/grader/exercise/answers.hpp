// Answers to questions: numbers, formulas, choices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// A quotient of polynomials with a denominator other than 0. Two are equal if their
/// cross products are.
struct RationalFunction {
  toy::Polynomial numerator, denominator = 1;
};
bool equal(const RationalFunction& a, const RationalFunction& b);

/// Reads a typed formula: + - * / ^ ( ), names of `variables`, numbers ("0.5", "1/2", "2n d"),
/// ceil(n/B), floor(n/B). Errors name the column and what was expected. ceil and floor are computed as
/// if variables were whole numbers; those of `reals` are not, and are refused inside.
toy::Result<RationalFunction> parse_formula(const toy::SourceText& text,
                                            const std::vector<std::string>& variables,
                                            const std::vector<std::string>& reals = {});

/// Grades an answer file. It has lines "key: answer" and comments with #. Indented lines
/// continue an answer.
Verdict grade_answers(const Exercise& exercise, const toy::SourceText& submission);

/// Returns the answer file that `start` copies: each question as a comment, then its key
/// without an answer.
std::string answer_sheet(const QuestionTask& task);
/// Returns the same file with the right answers.
std::string model_answers(const QuestionTask& task);

}  // namespace flashlab::exercises
