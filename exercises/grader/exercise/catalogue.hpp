// Where exercises come from: inside the command, and folders that a teacher adds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// The files of one exercise, not read yet.
struct ExerciseSource {
  std::string id;
  std::string folder;  // empty: inside the command
  Files files;
};

/// Those that travel inside the command, by id.
const std::vector<ExerciseSource>& builtin_exercises();

/// What `exercises new` copies.
const ExerciseSource& template_exercise();

/// One folder: its regular files of at most 1 MiB, at most two levels deep; links are not followed.
/// Throws std::runtime_error with a message when the folder cannot be read.
ExerciseSource load_folder(const std::string& path);

/// The built-in exercises and every folder with an exercise.toml in `folders`, by id; a later one
/// replaces an earlier one of the same id. Throws std::runtime_error.
std::vector<ExerciseSource> all_exercises(const std::vector<std::string>& folders);

}  // namespace flashlab::exercises
