// Exercises by the name that the user gave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace CLI {
class App;
}

namespace flashlab::cli {

/// --exercises DIR; the folders of FLASHLAB_EXERCISES (separated by colons) come before it.
struct ExerciseOptions {
  std::vector<std::string> folders;

  void add_to(CLI::App& command);
  std::vector<std::string> all_folders() const;
};

/// Every exercise that can be found, in order. One that is broken is skipped with a warning on
/// standard error that says how to see what is wrong with it.
std::vector<std::shared_ptr<const exercises::Exercise>> load_exercises(
    const ExerciseOptions& options);

/// The one called `name` (Exercise::answers_to, or the path of a folder). Throws Failure: no such
/// exercise (with a near miss), a broken one (with what is wrong with it).
std::shared_ptr<const exercises::Exercise> find_exercise(const std::string& name,
                                                         const ExerciseOptions& options);

}  // namespace flashlab::cli
