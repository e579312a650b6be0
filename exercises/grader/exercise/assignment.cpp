#include "exercises/grader/exercise/assignment.hpp"

#include <algorithm>

#include "exercises/grader/exercise/points.hpp"
#include "exercises/grader/exercise/read_program.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostAssignmentParts = 50;
constexpr double kMostPoints = 1000;

void read_assignment_part(const toml::table& table, ErrorList& errors, Assignment& assignment) {
  TomlTable part(table, "[[part]]", errors);
  AssignmentPart result{part.required_line("exercise"), part.number("points", 0)};
  if (!result.exercise.empty() && !is_exercise_id(result.exercise)) {
    part.wrong("exercise", "'" + result.exercise + "' cannot name an exercise",
               "a name that `flashlab exercises list` shows, or a folder in exercises/");
  }
  const bool known =
      std::any_of(assignment.parts.begin(), assignment.parts.end(),
                  [&](const AssignmentPart& other) { return other.exercise == result.exercise; });
  if (known) part.wrong("exercise", "'" + result.exercise + "' is a part already", "another one");
  if (!part.has("points")) {
    part.missing("points", "how many points the part is worth");
  } else if (!(result.points > 0 && result.points <= kMostPoints)) {
    part.wrong("points", "not a number of points", "more than 0, at most 1000");
  }
  part.finish();
  assignment.parts.push_back(std::move(result));
}

}  // namespace

double Assignment::max_points() const {
  double sum = 0;
  for (const AssignmentPart& part : parts) sum = added_points(sum, part.points);
  return sum;
}

AssignmentResult read_assignment(const std::string& text) {
  AssignmentResult result;
  ErrorList errors(kAssignmentFile, text, result.errors);
  const auto parsed = parse_toml(errors);
  if (!parsed) return result;
  Assignment assignment;
  TomlTable top(*parsed, kAssignmentFile, errors);
  assignment.title = top.required_line("title");
  for (const toml::table* part : top.tables("part", kMostAssignmentParts)) {
    read_assignment_part(*part, errors, assignment);
  }
  if (assignment.parts.empty()) top.missing("part", "[[part]] for each exercise");
  top.finish();
  if (result.errors.empty()) result.assignment = std::move(assignment);
  return result;
}

}  // namespace flashlab::exercises
