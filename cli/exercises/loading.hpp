// Finds exercises by the name that the user gave.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace CLI {
class App;
}

namespace flashlab::cli {

using ExercisePointer = std::shared_ptr<const exercises::Exercise>;

/// --exercises DIR; the folders in FLASHLAB_EXERCISES (separated by colons) come before it.
struct ExerciseOptions {
  std::vector<std::string> folders;

  void add_to(CLI::App& command);
  std::vector<std::string> all_folders() const;
};

/// Returns every exercise, in order. Skips a broken one with a warning on standard error that says
/// how to see its errors.
std::vector<std::shared_ptr<const exercises::Exercise>> load_exercises(
    const ExerciseOptions& options);

/// Returns the exercise called `name` (Exercise::answers_to, or the path of a folder). Throws
/// Failure: no such exercise (with a similar name), a broken one (with its errors).
std::shared_ptr<const exercises::Exercise> find_exercise(const std::string& name,
                                                         const ExerciseOptions& options);

/// Prints a warning if the exercise, from a folder, has the id of a built-in one, which it replaces.
void warn_if_replaced(const exercises::Exercise& exercise);
/// Returns whether an exercise inside the command has this id.
bool is_builtin_id(const std::string& id);

/// Returns the exercise whose file `start` names so ("/home/08_online_softmax.toy"); null if there is
/// none, or it is broken. Reads each exercise once.
ExercisePointer exercise_of_file(std::string_view file);

}  // namespace flashlab::cli
