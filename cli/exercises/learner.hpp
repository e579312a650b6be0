// What the verbs of the learner's path share: the exercises in order, what was done so far, and
// which exercise and which file are meant.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "cli/terminal/terminal.hpp"
#include "exercises/grader/grade/progress.hpp"

namespace flashlab::cli {

using ExercisePointer = std::shared_ptr<const exercises::Exercise>;

/// An exercise and the learner's file for it.
struct Work {
  ExercisePointer exercise;
  std::string file;
};

class Learner {
 public:
  explicit Learner(const ExerciseOptions& options);

  const exercises::Progress& progress() const { return progress_; }
  /// Changes what is remembered; says on standard error when it cannot be.
  void remember(const exercises::ProgressFile::Change& change);
  /// Says what is wrong with the progress file, what has not been said yet.
  void print_notes();

  /// Every exercise that can be read, in order.
  std::vector<ExercisePointer> all() const { return load_exercises(options_); }
  /// The one called `name`. Without a name the one worked on, else the next. Throws Failure.
  ExercisePointer find(const std::string& name) const;
  /// As find; without a name only one that was started. Throws Failure.
  ExercisePointer find_started(const std::string& name) const;
  /// From "02", "product.toy", "02 product.toy" or nothing to an exercise and a file. A name that
  /// is a file's is that file: its exercise goes by the name, else by where `start` put it. Throws
  /// Failure; the file need not exist when only an exercise was named.
  Work find_work(const std::vector<std::string>& words) const;

  /// The first one after `id` that is not done, else the first one at all; empty: all are done.
  std::string next_after(const std::string& id) const;
  /// The one worked on while it is not done, then what comes after it.
  std::string next() const;
  /// "02_product: Full product", or the id alone when the exercise cannot be read.
  std::string named(const std::string& id) const;
  /// "Next: flashlab exercises start 02_product (Full product)", or that all are done.
  std::string next_line(const std::string& id) const;

 private:
  std::string id_of_file(const std::string& file) const;

  ExerciseOptions options_;
  std::vector<std::string> ids_;  // broken ones, too
  exercises::ProgressFile store_;
  exercises::Progress progress_;
  std::size_t notes_printed_ = 0;
};

/// "1 point", "8.25 points".
std::string points_text(double points);

/// A file's path as short as it can be typed here: "work/02_product.toy", "~/02_product.toy".
std::string shown_path(const std::string& file);

/// Whether the user says yes on the terminal; nothing when there is no terminal to ask on.
std::optional<bool> ask(const std::string& question);

}  // namespace flashlab::cli
