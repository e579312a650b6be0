// Counts that a learner predicts before the program is written, beside those of the program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// Returns the keys of the counts that `flashlab predict` asks for: those that exercise.toml names,
/// or else all that earn points; loads and stores first, and cycles, which are their sum and more,
/// last. Empty if the exercise has no counts.
std::vector<std::string> counts_to_predict(const Exercise& exercise);

/// Returns the parameters of the exercise's sizes. A prediction may be a formula in them.
std::vector<std::string> parameters_of(const Exercise& exercise);

/// Reads one prediction: a number, or a formula in the parameters.
toy::Result<RationalFunction> read_prediction(const Exercise& exercise, const std::string& answer);

/// A prediction and what the program does, at the size at which costs are counted.
struct ComparedPrediction {
  std::string key;
  std::string answer;  // as typed
  mpq_class predicted;
  toy::Count counted;
  Size size;

  bool is_right() const { return predicted == counted; }
};

/// Compares predictions (by key, as typed) with a right program's counts. Leaves out what cannot be
/// read, and what the verdict does not count. Empty if the program is not right.
std::vector<ComparedPrediction> compare_predictions(
    const Exercise& exercise, const std::map<std::string, std::string>& predictions,
    const Verdict& verdict);

/// Returns "You predicted 12 loads; your program makes 8."
std::string sentence_of(const ComparedPrediction& compared);

}  // namespace flashlab::exercises
