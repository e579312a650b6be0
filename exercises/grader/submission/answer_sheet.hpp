// Splits an answer file into its lines "key: answer".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// The answer to one key.
struct SheetAnswer {
  std::uint32_t line = 0;  // of the key
  std::string text;        // on one line; empty: no answer
  /// The file with blanks for everything except the answer, so that places stay the same.
  toy::SourceText place{"", ""};
};

struct Sheet {
  /// In the order of the questions. The line is 0 if the key is missing or repeated.
  std::vector<SheetAnswer> answers;
  std::vector<Finding> findings;  // unknown or repeated keys, lines that are not answers
  bool has_keys = false;          // at least one key of the exercise
};

/// Reads the file. An indented line continues the answer above it, unless it begins with a
/// question's key and a colon. Skips blank lines and lines that begin with #.
Sheet read_sheet(const std::vector<Question>& questions, const toy::SourceText& text);

}  // namespace flashlab::exercises
