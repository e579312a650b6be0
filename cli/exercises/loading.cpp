#include "cli/exercises/loading.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {
using exercises::ReadResult;

std::vector<exercises::ExerciseSource> sources(const ExerciseOptions& options) {
  try {
    return exercises::all_exercises(options.all_folders());
  } catch (const std::runtime_error& error) {
    throw request_failure(printable(error.what()));
  }
}

std::shared_ptr<const exercises::Exercise> read_or_fail(const exercises::ExerciseSource& source) {
  ReadResult read = exercises::read_exercise(source.id, source.files, source.folder);
  if (read.exercise) return std::make_shared<const exercises::Exercise>(std::move(*read.exercise));
  throw Failure(kExitRequestWrong, exercises::format(read.errors, source.files) +
                                       "flashlab: error: the exercise '" + printable(source.id) +
                                       "' is broken\n");
}

/// A whole name has priority; then a number or a part of it, the user's own exercises first.
const exercises::ExerciseSource* source_called(const std::vector<exercises::ExerciseSource>& all,
                                               const std::string& name) {
  const exercises::ExerciseSource* found = nullptr;
  for (const exercises::ExerciseSource& source : all) {
    if (source.id == name) return &source;
    exercises::Exercise named;
    named.id = source.id;
    if (!named.answers_to(name)) continue;
    if (found == nullptr || (found->folder.empty() && !source.folder.empty())) found = &source;
  }
  return found;
}

}  // namespace

std::vector<std::string> ExerciseOptions::all_folders() const {
  std::vector<std::string> all;
  if (GivenFiles::current() != nullptr) return all;
  if (const char* variable = std::getenv("FLASHLAB_EXERCISES"); variable != nullptr) {
    std::istringstream list(variable);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) all.push_back(folder);
    }
  }
  all.insert(all.end(), folders.begin(), folders.end());
  return all;
}

std::vector<std::shared_ptr<const exercises::Exercise>> load_exercises(
    const ExerciseOptions& options) {
  std::vector<std::shared_ptr<const exercises::Exercise>> all;
  for (const exercises::ExerciseSource& source : sources(options)) {
    ReadResult read = exercises::read_exercise(source.id, source.files, source.folder);
    if (read.exercise) {
      all.push_back(std::make_shared<const exercises::Exercise>(std::move(*read.exercise)));
    } else {
      std::cerr << "flashlab: warning: the exercise '" << printable(source.id)
                << "' is broken and left out; see `flashlab exercises lint " << printable(source.id)
                << "`\n";
    }
  }
  return all;
}

std::shared_ptr<const exercises::Exercise> find_exercise(const std::string& name,
                                                         const ExerciseOptions& options) {
  std::vector<std::string> ids;
  const std::vector<exercises::ExerciseSource> all = sources(options);
  if (const exercises::ExerciseSource* found = source_called(all, name))
    return read_or_fail(*found);
  for (const exercises::ExerciseSource& source : all) {
    ids.push_back(source.id);
    if (const std::size_t bar = source.id.find('_'); bar != std::string::npos) {
      ids.push_back(source.id.substr(bar + 1));
    }
  }
  if (GivenFiles::current() == nullptr &&
      std::filesystem::is_regular_file(std::filesystem::path(name) / "exercise.toml")) {
    return read_or_fail(exercises::load_folder(name));
  }
  throw request_failure("there is no exercise '" + printable(name) + "'",
                        "one that `flashlab exercises list` shows, or a folder with an "
                        "exercise.toml",
                        nearest(name, ids).value_or(""));
}

bool is_builtin_id(const std::string& id) {
  const auto& all = exercises::builtin_exercises();
  return std::any_of(all.begin(), all.end(), [&](const auto& source) { return source.id == id; });
}

void warn_if_replaced(const exercises::Exercise& exercise) {
  if (exercise.folder.empty() || !is_builtin_id(exercise.id)) return;
  std::cerr << "flashlab: warning: the exercise in '" << printable(exercise.folder)
            << "' replaces the built-in one of this name\n";
}

ExercisePointer exercise_of_file(std::string_view file) {
  constexpr std::string_view kEnding = ".toy";
  file.remove_prefix(file.rfind('/') + 1);
  if (!file.ends_with(kEnding)) return nullptr;
  file.remove_suffix(kEnding.size());
  if (!exercises::is_exercise_id(file)) return nullptr;
  // Reading an exercise takes longer than everything else after a keystroke.
  static std::mutex mutex;
  static std::map<std::string, ExercisePointer, std::less<>> known;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(std::string(file));
  if (!is_new) return place->second;
  try {
    ExercisePointer found = find_exercise(place->first, {});
    if (found->id == place->first) place->second = std::move(found);
  } catch (const Failure&) {  // as if there were none
  }
  return place->second;
}

}  // namespace flashlab::cli
