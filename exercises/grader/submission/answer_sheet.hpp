// The answer file: lines "key: answer", taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// What stands behind one key.
struct SheetAnswer {
  std::uint32_t line = 0;  // of the key
  std::string text;        // on one line; empty: nothing was answered
  /// The file with everything but the answer blanked out: places in it are places in the file.
  toy::SourceText place{"", ""};
};

struct Sheet {
  /// In the order of the questions; line 0 where the key is missing or stands there twice.
  std::vector<SheetAnswer> answers;
  std::vector<Finding> findings;  // keys that are unknown or given twice, lines that are no answer
  bool has_keys = false;          // at least one of the exercise's
};

/// An indented line goes on with the answer before it, unless it begins with a question's key and a
/// colon. Blank lines and lines that begin with # are passed over.
Sheet read_sheet(const std::vector<Question>& questions, const toy::SourceText& text);

}  // namespace flashlab::exercises
