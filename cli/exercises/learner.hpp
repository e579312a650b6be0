// Shared by the verbs of the learner's path: the exercises in order, the progress, and the
// selection of exercise and file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "cli/terminal/terminal.hpp"
#include "exercises/grader/grade/progress.hpp"

namespace flashlab::cli {

/// An exercise and the learner's file for it.
struct Work {
  ExercisePointer exercise;
  std::string file;
};

/// What comes after the last exercise.
inline constexpr std::string_view kAllDone =
    "Every exercise is done: flashlab exercises summary shows your programs.";

class Learner {
 public:
  explicit Learner(const ExerciseOptions& options);

  const exercises::Progress& progress() const { return progress_; }
  /// Returns the exercises in order, including broken ones.
  const std::vector<std::string>& ids() const { return ids_; }
  /// Changes the stored progress. Prints a warning on standard error if it cannot be stored.
  void remember(const exercises::ProgressFile::Change& change);
  /// Prints notes about the progress file that have not been printed yet.
  void print_notes();

  /// Returns every readable exercise, in order.
  std::vector<ExercisePointer> all() const { return load_exercises(options_); }
  /// Returns the exercise called `name`; without a name the current one, else the
  /// next. Throws Failure.
  ExercisePointer find(const std::string& name) const;
  /// Like find; without a name it accepts only a started exercise. Throws Failure.
  ExercisePointer find_started(const std::string& name) const;
  /// Returns the exercise and file for "02", "product.toy", "02 product.toy" or nothing. A word
  /// that is a file name selects that file. Its exercise is determined by its name, else by where
  /// `start` put it. Throws Failure. The file need not exist if only an exercise was named.
  Work find_work(const std::vector<std::string>& words) const;

  /// Returns the first unfinished exercise after `id`, else the first one of all; empty:
  /// all are done.
  std::string next_after(const std::string& id) const;
  /// Returns the current exercise if it is unfinished, else the next one.
  std::string next() const;
  /// Returns "02_product: Full product", or only the id if the exercise cannot be read.
  std::string named(const std::string& id) const;
  /// Returns "Left behind: 02_c00, 04_outer_product …", the exercises before this one that are not passed; empty: none.
  std::string left_behind(const std::string& id) const;
  /// Returns "Next: flashlab start 02_product", with a further line if that begins a
  /// chapter, and one if others were left behind; or that all are done.
  std::string next_line(const std::string& id) const;

 private:
  std::string id_of_file(const std::string& file) const;
  /// Empty if the exercise has none or cannot be read.
  std::string chapter_of(const std::string& id) const;

  ExerciseOptions options_;
  std::vector<std::string> ids_;
  exercises::ProgressFile store_;
  exercises::Progress progress_;
  std::size_t notes_printed_ = 0;
};

/// Returns "1 point", "8.2 points".
std::string points_text(double points);

/// Returns "04" for "04_outer_product": short enough for a command in a line.
std::string short_name(const exercises::Exercise& exercise);

/// Returns the shortest path to type here: "work/02_product.toy", "~/02_product.toy".
std::string shown_path(const std::string& file);

/// Asks the user on the terminal. Returns nothing if there is no terminal.
std::optional<bool> ask(const std::string& question);

}  // namespace flashlab::cli
