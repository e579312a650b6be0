// What has been graded so far, on disk: a grading that is killed, or finds the disk full, goes on
// where it was. A record is a verdict under the SHA-256 of the text that it is on; no name of a
// student, and no text, is in it.
//
// Each grading writes a file of its own, which it holds locked: `.STEM.grading-KEY-PROCESS`. KEY
// stands for all that verdicts depend on beside the text. A record that was cut off, and whatever
// follows it, counts as not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/grade/classroom.hpp"
#include "exercises/isolation/channel.hpp"
#include "text/sha256.hpp"

namespace flashlab::exercises {

/// Where a journal may lie, and what it is for.
struct JournalPlace {
  std::vector<std::string> folders;  // the first that can be written to is taken
  std::string stem;                  // the class's name
  Digest key;
};

/// The key of a grading. `program`: the build that grades, version and commit.
Digest journal_key(const Exercise& exercise, const GraderOptions& options,
                   const std::string& program);

class Journal {
 public:
  explicit Journal(JournalPlace place) : place_(std::move(place)) {}

  /// Appends. Where the disk is full, goes on in the next folder; where none is left, problem()
  /// says so, once and for all.
  void add(const Digest& text, const Verdict& verdict);

  /// Why records are lost; empty while none is.
  const std::string& problem() const { return problem_; }
  /// The files that were written.
  const std::vector<std::string>& paths() const { return paths_; }

  /// All is reported: removes the files.
  void remove();

 private:
  bool open_next();

  JournalPlace place_;
  std::size_t next_folder_ = 0;
  Descriptor file_;
  std::vector<Descriptor> full_;  // still held locked
  std::int64_t size_ = 0;
  std::vector<std::string> paths_;
  std::string problem_, error_;
};

/// What earlier gradings left.
struct JournalFindings {
  KnownVerdicts verdicts;
  std::vector<std::string> abandoned;  // files that no process writes any more
};
/// Journals of the same class and key; unreadable ones are passed over.
JournalFindings find_journals(const JournalPlace& place);

}  // namespace flashlab::exercises
