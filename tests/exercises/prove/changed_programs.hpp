// Exercises and wrong programs for tests of verdicts: programs with texts replaced, and what is said of them.
#pragma once

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::exercises {

inline std::shared_ptr<const Exercise> exercise_named(const std::string& id) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
    read.exercise->program.max_milliseconds *=
        10;  // what is looked for is found before the time is up
#endif
    return std::make_shared<const Exercise>(std::move(*read.exercise));
  }
  throw std::runtime_error("there is no exercise " + id);
}

/// A learner's right program, written in another way than the solution.
inline std::string own_program(const std::string& id) {
  std::ifstream file(FLASHLAB_SOURCE_DIR "/tests/exercises/own_programs/" + id + ".toy");
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

using Changes = std::vector<std::pair<std::string, std::string>>;

/// The text with the first of each of these texts replaced.
inline std::string changed(std::string text, const Changes& changes) {
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    CAPTURE(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  return text;
}

inline std::string changed(const Exercise& exercise, const Changes& changes) {
  return changed(exercise.program.solution->source->text(), changes);
}

inline bool says(const Finding& finding, const std::string& text) {
  return std::any_of(finding.details.begin(), finding.details.end(),
                     [&](const auto& detail) { return detail.find(text) != std::string::npos; });
}

}  // namespace flashlab::exercises
