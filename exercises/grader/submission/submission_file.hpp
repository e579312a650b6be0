// Submissions as they lie on the disk. What lies there is not trusted: nothing is followed, nothing
// is waited for, no name is interpreted.
#pragma once

#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// A student's work: a file, or a folder that holds one.
struct Submission {
  std::string name;  // shown: without control characters, different for every student of a class
  std::string path;
};

/// What lies in a class's folder and is no submission.
struct SkippedEntry {
  std::string name;  // shown, as Submission::name
  std::string why;   // "it is hidden"
};

struct ClassFolder {
  std::vector<Submission> students;  // sorted bytewise by the names of their files
  std::vector<SkippedEntry> skipped;
};

/// The students of a folder: NAME.toy, NAME.txt or a folder NAME each. Links, pipes and devices are
/// listed, too, so that reading them says what is wrong. Hidden entries and other files are
/// skipped. Throws std::runtime_error when the folder cannot be listed.
ClassFolder list_class(const std::string& folder);

/// The same for paths that somebody typed. Throws std::runtime_error for one that does not exist
/// and for one that is given twice.
std::vector<Submission> list_paths(const std::vector<std::string>& paths);

/// A submission's text, or why there is none.
struct SubmissionText {
  bool readable = false;
  std::string text;
  Outcome outcome = Outcome::kUnreadable;  // of one without a text: or kLimit, kRejected
  std::string problem;                     // one sentence, without the names of files
  std::vector<std::string> notes;          // what else lies in the student's folder
};

/// Reads a file, or the one file of a folder that can be meant: the exercise's work file, otherwise
/// the only one that ends as that does, otherwise the only .toy or .txt. Never follows a link,
/// waits for a pipe, reads a device, or more than the exercise allows. A file that changes in the
/// meantime counts as unreadable.
SubmissionText read_submission_file(const std::string& path, const Exercise& exercise);

/// What can be said of any text (standard input, too): refuses one with NUL bytes.
SubmissionText check_submission_text(std::string text, const Exercise& exercise);

}  // namespace flashlab::exercises
