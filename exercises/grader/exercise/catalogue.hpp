// Where exercises come from: the command itself, and folders that a teacher adds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// The files of one exercise, not parsed yet.
struct ExerciseSource {
  std::string id;
  std::string folder;  // empty: inside the command
  Files files;
};

/// Where exercise.toml puts the exercise in the course.
struct CoursePlace {
  std::string chapter;  // "docs/04_softmax.md"; may be empty
  std::string after;    // the id of the exercise that it follows; may be empty
};
/// Both are empty if exercise.toml cannot be read; reading the exercise reports why.
CoursePlace course_place(const ExerciseSource& source);

/// Returns the exercises inside the command, by id.
const std::vector<ExerciseSource>& builtin_exercises();

/// Returns the exercise that `exercises new` copies.
const ExerciseSource& template_exercise();

/// Loads one folder: its regular files of at most 1 MiB, at most two levels deep. Does not follow
/// links. Throws std::runtime_error if the folder cannot be read.
ExerciseSource load_folder(const std::string& path);

/// Returns the built-in exercises and every folder in `folders` that has an exercise.toml, in the
/// course's order: by chapter, then by id; exercises without a chapter come last. An exercise whose
/// exercise.toml has `after` stands behind that one instead. A later exercise replaces an earlier one
/// of the same id. Throws std::runtime_error.
std::vector<ExerciseSource> all_exercises(const std::vector<std::string>& folders);

}  // namespace flashlab::exercises
