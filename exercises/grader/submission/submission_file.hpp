// Reads submissions from the disk. The files are untrusted: follows no link, never blocks, and does
// not interpret names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/verdict.hpp"

namespace flashlab::exercises {

/// A student's work: a file, or a folder that contains one.
struct Submission {
  std::string name;  // for display: without control characters, unique in a class
  std::string path;
};

/// An entry of a class's folder that is not a submission.
struct SkippedEntry {
  std::string name;  // for display, as Submission::name
  std::string why;   // "it is hidden"
};

struct ClassFolder {
  std::vector<Submission> students;  // in bytewise order of their files' names
  std::vector<SkippedEntry> skipped;
};

/// Whether a name is of an entry that systems hide or add by themselves: ".git", "__MACOSX" of a zip file,
/// "lost+found".
bool is_hidden_entry(std::string_view name);

/// Returns the students of a folder: each is NAME.toy, NAME.txt or a folder NAME. Also lists links,
/// pipes and devices, so that reading them reports the problem. Skips hidden entries and other
/// files. Throws std::runtime_error if the folder cannot be listed.
ClassFolder list_class(const std::string& folder);

/// Does the same for typed paths. Throws std::runtime_error if a path does not exist or
/// is given twice.
std::vector<Submission> list_paths(const std::vector<std::string>& paths);

/// A submission's text, or why there is none.
struct SubmissionText {
  bool readable = false;
  std::string text;
  Outcome outcome = Outcome::kUnreadable;  // if there is no text; or kLimit, kRejected
  std::string problem;                     // one sentence without file names
  std::vector<std::string> notes;          // other entries of the student's folder
};

/// Reads a file, or the one suitable file of a folder: the exercise's work file, otherwise the only
/// file with its ending, otherwise the only .toy or .txt. Never follows a link, waits for a pipe,
/// reads a device, or reads more than the exercise allows. A file that changes in the meantime
/// counts as unreadable.
SubmissionText read_submission_file(const std::string& path, const Exercise& exercise);

/// Checks a text from any source, such as standard input. Rejects a text with NUL bytes.
SubmissionText check_submission_text(std::string text, const Exercise& exercise);

}  // namespace flashlab::exercises
