#include "exercises/grader/exercise/catalogue.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include "builtin_exercise_files.hpp"
#include "exercises/grader/exercise/read_program.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::uintmax_t kMostFileBytes = 1 << 20;
constexpr int kDeepestFolder = 1;  // folders below the exercise's own

void load_files(const std::filesystem::path& root, const std::filesystem::path& folder, int depth,
                Files& files) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory() && depth < kDeepestFolder) {
      load_files(root, entry.path(), depth + 1, files);
    } else if (entry.is_regular_file() && entry.file_size() <= kMostFileBytes) {
      std::ifstream stream(entry.path(), std::ios::binary);
      files[entry.path().lexically_relative(root).generic_string()] = {
          std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    }
  }
}

/// The exercises inside the command, by id, including the template.
std::map<std::string, ExerciseSource> from_command() {
  std::map<std::string, ExerciseSource> by_id;
  for (const EmbeddedFile& file : builtin_exercise_files) {
    const std::string_view name = file.name;
    const std::size_t slash = name.find('/');
    ExerciseSource& source = by_id[std::string(name.substr(0, slash))];
    source.id = name.substr(0, slash);
    source.files[std::string(name.substr(slash + 1))] = file.text;
  }
  return by_id;
}

const std::map<std::string, ExerciseSource>& embedded() {
  static const std::map<std::string, ExerciseSource> kAll = from_command();
  return kAll;
}

constexpr const char* kTemplate = "template";

/// Returns the chapter that exercise.toml names. Returns nothing if it names none or cannot be read;
/// the errors are reported when the exercise is read.
std::string chapter_of(const ExerciseSource& source) {
  const auto file = source.files.find("exercise.toml");
  if (file == source.files.end()) return {};
  std::vector<ReadError> unreported;
  ErrorList errors("exercise.toml", file->second, unreported);
  const auto table = parse_toml(errors);
  return table ? (*table)["chapter"].value_or(std::string()) : std::string();
}

/// Sorts by chapter and then by id; exercises without a chapter come last.
void sort_by_chapter(std::vector<ExerciseSource>& sources) {
  using Place = std::tuple<bool, std::string, std::string>;
  std::map<std::string, Place> places;
  for (const ExerciseSource& source : sources) {
    const std::string chapter = chapter_of(source);
    places[source.id] = {chapter.empty(), chapter, source.id};
  }
  std::sort(sources.begin(), sources.end(), [&](const ExerciseSource& a, const ExerciseSource& b) {
    return places.at(a.id) < places.at(b.id);
  });
}

}  // namespace

const std::vector<ExerciseSource>& builtin_exercises() {
  static const std::vector<ExerciseSource> kAll = [] {
    std::vector<ExerciseSource> all;
    for (const auto& [id, source] : embedded()) {
      if (id != kTemplate) all.push_back(source);
    }
    return all;
  }();
  return kAll;
}

const ExerciseSource& template_exercise() { return embedded().at(kTemplate); }

ExerciseSource load_folder(const std::string& path) {
  ExerciseSource source;
  const std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
  source.id = (folder.filename().empty() ? folder.parent_path() : folder).filename().string();
  source.folder = path;
  try {
    load_files(folder, folder, 0, source.files);
  } catch (const std::filesystem::filesystem_error& error) {
    throw std::runtime_error("cannot read the exercise folder '" + path +
                             "': " + error.code().message());
  }
  return source;
}

std::vector<ExerciseSource> all_exercises(const std::vector<std::string>& folders) {
  std::map<std::string, ExerciseSource> by_id;
  for (const ExerciseSource& source : builtin_exercises()) by_id[source.id] = source;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (!std::filesystem::is_regular_file(entry.path() / "exercise.toml")) continue;
      ExerciseSource source = load_folder(entry.path().string());
      by_id[source.id] = std::move(source);
    }
    if (error) {
      throw std::runtime_error("cannot read the folder '" + folder + "': " + error.message());
    }
  }
  std::vector<ExerciseSource> all;
  for (auto& [id, source] : by_id) all.push_back(std::move(source));
  sort_by_chapter(all);
  return all;
}

}  // namespace flashlab::exercises
