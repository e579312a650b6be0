// An assignment: several exercises that are graded together, each with its share of the points.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// The file that makes a folder an assignment.
inline constexpr const char* kAssignmentFile = "assignment.toml";

struct AssignmentPart {
  std::string exercise;  // as on the command line: "28_flash2"
  double points = 0;     // replace the exercise's own points
};

struct Assignment {
  std::string title;
  std::vector<AssignmentPart> parts;  // never empty

  double max_points() const;
};

struct AssignmentResult {
  std::optional<Assignment> assignment;
  std::vector<ReadError> errors;
};

/// Reads assignment.toml. Errors, each with its place: not TOML, an unknown or missing key, no
/// part, an exercise that occurs twice, points that are not a number above 0.
AssignmentResult read_assignment(const std::string& text);

}  // namespace flashlab::exercises
