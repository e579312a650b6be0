// Finished verdicts on disk, so that a grading can continue after it was killed or the disk was
// full. A record is a verdict under the SHA-256 of its text. It contains neither a student's name
// nor the text.
//
// Each grading writes its own file, `.STEM.grading-KEY-PROCESS`, and keeps it locked. KEY
// identifies everything besides the text that determines a verdict. Readers ignore an incomplete
// record and all that follows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/grade/classroom.hpp"
#include "system/descriptor.hpp"
#include "text/sha256.hpp"

namespace flashlab::exercises {

/// Where a journal may be stored, and for which class.
struct JournalPlace {
  std::vector<std::string> folders;  // uses the first one that is writable
  std::string stem;                  // the class's name
  Digest key;
};

/// Returns the key of a grading. `program`: version and commit of the build that grades.
Digest journal_key(const Exercise& exercise, const GraderOptions& options,
                   const std::string& program);

class Journal {
 public:
  explicit Journal(JournalPlace place) : place_(std::move(place)) {}

  /// Appends a record. If the disk is full, continues in the next folder. If no folder is left,
  /// sets problem() and stops recording.
  void add(const Digest& text, const Verdict& verdict);

  /// Returns why records are lost; empty: none are lost.
  const std::string& problem() const { return problem_; }
  /// Returns the files that were written.
  const std::vector<std::string>& paths() const { return paths_; }

  /// Removes the files, after everything is reported.
  void remove();

 private:
  bool open_next();

  JournalPlace place_;
  std::size_t next_folder_ = 0;
  system::Descriptor file_;
  std::vector<system::Descriptor> full_;  // still locked
  std::int64_t size_ = 0;
  std::vector<std::string> paths_;
  std::string problem_, error_;
};

/// What earlier gradings have recorded.
struct JournalFindings {
  KnownVerdicts verdicts;
  std::vector<std::string> abandoned;  // files that no process writes anymore
};
/// Finds the journals of this class and key. Skips unreadable ones.
JournalFindings find_journals(const JournalPlace& place);

}  // namespace flashlab::exercises
