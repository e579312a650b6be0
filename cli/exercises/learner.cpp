#include "cli/exercises/learner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "cli/help/read.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/course.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

std::vector<std::string> ids_of(const ExerciseOptions& options) {
  std::vector<std::string> ids;
  try {
    for (const auto& source : exercises::all_exercises(options.all_folders())) {
      ids.push_back(source.id);
    }
  } catch (const std::runtime_error& error) {
    throw request_failure(printable(error.what()));
  }
  return ids;
}

bool is_exercise_folder(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(std::filesystem::path(name) / "exercise.toml", ignored);
}

bool exists(const std::string& file) {
  std::error_code ignored;
  return !file.empty() && std::filesystem::exists(std::filesystem::symlink_status(file, ignored)) &&
         !std::filesystem::is_directory(file, ignored);
}

/// Whether a word is a file name rather than an exercise's name.
bool names_file(const std::string& word) {
  if (is_exercise_folder(word)) return false;
  return exists(word) || word.find('/') != std::string::npos || word.ends_with(".toy") ||
         word.ends_with(".txt");
}

std::string absolute(const std::string& file) {
  std::error_code code;
  const std::filesystem::path path = std::filesystem::weakly_canonical(file, code);
  return code ? file : path.string();
}

bool answers_to(const std::string& id, const std::string& name) {
  exercises::Exercise exercise;
  exercise.id = id;
  return exercise.answers_to(name);
}

}  // namespace

Learner::Learner(const ExerciseOptions& options)
    : options_(options),
      ids_(ids_of(options)),
      store_(exercises::progress_folder()),
      progress_(store_.read()) {}

void Learner::remember(const exercises::ProgressFile::Change& change) {
  progress_ = store_.update(change);
  print_notes();
}

void Learner::print_notes() {
  for (; notes_printed_ < store_.notes().size(); ++notes_printed_) {
    std::cout.flush();
    std::cerr << "flashlab: note: " << printable(store_.notes()[notes_printed_]) << "\n";
  }
}

ExercisePointer Learner::find(const std::string& name) const {
  if (!name.empty()) return find_exercise(name, options_);
  const std::string& current = progress_.current();
  const bool known = std::find(ids_.begin(), ids_.end(), current) != ids_.end();
  const std::string id = known ? current : next();
  if (!id.empty()) return find_exercise(id, options_);
  throw request_failure(ids_.empty() ? "there are no exercises" : "every exercise is done",
                        "the name of one: `flashlab exercises list`");
}

ExercisePointer Learner::find_started(const std::string& name) const {
  if (!name.empty()) return find_exercise(name, options_);
  if (!progress_.current().empty()) return find_exercise(progress_.current(), options_);
  throw request_failure("no exercise has been started yet",
                        "`flashlab start`, or the name of an exercise or file");
}

std::string Learner::id_of_file(const std::string& file) const {
  const std::string stem = std::filesystem::path(file).stem().string();
  for (const std::string& id : ids_) {
    if (answers_to(id, stem)) return id;
  }
  const std::string path = absolute(file);
  for (const auto& entry : progress_.entries()) {
    if (entry.file == path) return entry.id;
  }
  throw request_failure("'" + printable(file) + "' does not say which exercise it is for",
                        "the exercise, too: `flashlab check ID " + printable(file) + "`",
                        nearest(stem, ids_).value_or(""));
}

Work Learner::find_work(const std::vector<std::string>& words) const {
  if (words.size() == 2) return {find(words[0]), words[1]};
  if (!words.empty() && names_file(words[0])) return {find(id_of_file(words[0])), words[0]};
  ExercisePointer exercise = find_started(words.empty() ? "" : words[0]);
  std::string file = exercise->work_file();
  const auto* entry = progress_.find(exercise->id);
  if (!exists(file) && entry != nullptr && !entry->file.empty()) file = entry->file;
  return {std::move(exercise), std::move(file)};
}

std::string Learner::next_after(const std::string& id) const {
  return exercises::next_after(ids_, progress_, id);
}

std::string Learner::next() const { return exercises::next_exercise(ids_, progress_); }

std::string Learner::named(const std::string& id) const {
  try {
    return printable(id + ": " + find_exercise(id, options_)->title);
  } catch (const Failure&) {
    return printable(id);  // broken: `start` will report it
  }
}

std::string Learner::chapter_of(const std::string& id) const {
  try {
    return find_exercise(id, options_)->chapter;
  } catch (const Failure&) {
    return "";  // broken: `start` will report it
  }
}

std::string Learner::left_behind(const std::string& id) const {
  constexpr std::size_t kMostNames = 5;
  std::string names;
  std::size_t count = 0;
  for (const std::string& one : ids_) {
    if (one == id) break;
    if (progress_.passed(one)) continue;
    if (++count <= kMostNames) names += (names.empty() ? "" : ", ") + printable(one);
  }
  if (count == 0) return {};
  const std::string more =
      count > kMostNames ? " and " + std::to_string(count - kMostNames) + " more" : "";
  return "Left behind: " + names + more + " (flashlab start, with the number, goes back)";
}

std::string Learner::next_line(const std::string& id) const {
  const std::string next = next_after(id);
  if (next.empty()) return std::string(kAllDone);
  const auto* entry = progress_.find(next);
  const std::string verb = entry == nullptr || entry->file.empty() ? "start" : "check";
  const std::string chapter = chapter_of(next);
  const std::string behind = left_behind(next);
  const bool is_new = !chapter.empty() && chapter != chapter_of(id);
  return "Next: flashlab " + verb + " " + printable(next) +
         (is_new ? "\n      A new chapter: " + reading_command(chapter) : "") +
         (behind.empty() ? "" : "\n" + behind);
}

std::string points_text(double points) {
  return exercises::points_text(points) + (points == 1 ? " point" : " points");
}

std::string short_name(const exercises::Exercise& exercise) {
  const std::size_t digits = exercise.id.find_first_not_of("0123456789");
  return printable(digits == 0 || digits == std::string::npos ? exercise.id
                                                              : exercise.id.substr(0, digits));
}

std::string shown_path(const std::string& file) {
  std::error_code code;
  const auto below = [&](const std::filesystem::path& folder) {
    const std::filesystem::path relative = std::filesystem::path(file).lexically_relative(folder);
    return relative.empty() || *relative.begin() == ".." ? "" : relative.string();
  };
  const std::string here = below(std::filesystem::current_path(code));
  if (!here.empty()) return printable(here);
  const char* home = std::getenv("HOME");
  const std::string at_home = home == nullptr ? "" : below(home);
  return printable(at_home.empty() ? file : "~/" + at_home);
}

std::optional<bool> ask(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return std::nullopt;
  std::cout.flush();
  const std::string answer = typed_line(question + " [y/N] ", std::cerr).value_or("");
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace flashlab::cli
