// Which file of a student's folder belongs to which part of an assignment. Names may differ from the
// work files' in case, ending, folder, or by what a browser adds to a second download, as long as only
// one file can be meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// Returns whether a file of this name may be meant as the exercise's work file:
/// "08_Online_Softmax (1).TOY", "8_online_softmax.toy", "online-softmax.txt".
bool may_be_work_file(const Exercise& exercise, std::string_view name);

/// The files for one part. Paths are relative to the student's folder.
struct PartFiles {
  std::string taken;                // empty: there is none, or it is not clear which
  bool is_exact = false;            // it has the work file's name and place
  std::vector<std::string> rivals;  // if none is taken: all that could be meant
};

struct StudentFiles {
  std::vector<PartFiles> parts;     // as the exercises
  std::vector<std::string> others;  // that no part took, sorted; without hidden ones
  std::size_t hidden = 0;           // hidden files and folders
  std::string problem;              // why some files were not looked at; may be empty
};

/// Looks through a student's folder and the folders in it, and follows no link.
StudentFiles find_student_files(const std::string& folder,
                                const std::vector<const Exercise*>& exercises);

}  // namespace flashlab::exercises
