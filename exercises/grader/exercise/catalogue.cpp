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

/// Puts sources that are sorted by id into the course's order.
class CourseOrder {
 public:
  explicit CourseOrder(std::vector<ExerciseSource> sources) : sources_(std::move(sources)) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      places_.push_back(course_place(sources_[i]));
      by_chapter_.push_back(i);
    }
    std::stable_sort(by_chapter_.begin(), by_chapter_.end(), [&](std::size_t a, std::size_t b) {
      const std::string &left = places_[a].chapter, &right = places_[b].chapter;
      return std::tuple(left.empty(), left) < std::tuple(right.empty(), right);
    });
  }

  std::vector<ExerciseSource> ordered() {
    for (const std::size_t one : by_chapter_) {
      if (!follows_another(one)) take(one);
    }
    for (const std::size_t one : by_chapter_)
      take(one);  // those that follow each other in a circle
    std::vector<ExerciseSource> all;
    for (const std::size_t one : order_) all.push_back(std::move(sources_[one]));
    return all;
  }

 private:
  bool follows_another(std::size_t one) const {
    return std::any_of(sources_.begin(), sources_.end(), [&](const ExerciseSource& source) {
      return source.id == places_[one].after;
    });
  }

  /// Takes an exercise, and then those that follow it, each with its own followers.
  void take(std::size_t one) {
    if (std::find(order_.begin(), order_.end(), one) != order_.end()) return;
    order_.push_back(one);
    for (const std::size_t other : by_chapter_) {
      if (places_[other].after == sources_[one].id) take(other);
    }
  }

  std::vector<ExerciseSource> sources_;
  std::vector<CoursePlace> places_;              // of each source
  std::vector<std::size_t> by_chapter_, order_;  // indices of sources
};

}  // namespace

CoursePlace course_place(const ExerciseSource& source) {
  const auto file = source.files.find("exercise.toml");
  if (file == source.files.end()) return {};
  std::vector<ReadError> unreported;
  ErrorList errors("exercise.toml", file->second, unreported);
  const auto table = parse_toml(errors);
  if (!table) return {};
  return {(*table)["chapter"].value_or(std::string()), (*table)["after"].value_or(std::string())};
}

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
  return CourseOrder(std::move(all)).ordered();
}

}  // namespace flashlab::exercises
