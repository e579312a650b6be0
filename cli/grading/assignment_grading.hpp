// Grades an assignment: several exercises, with the points of each student added up.
#pragma once

#include <optional>

#include "cli/grading/grade_options.hpp"

namespace flashlab::cli {

/// Returns whether `name` is a folder with an assignment.toml.
bool is_assignment(const std::string& name);

/// Throws Failure for flags that are about one exercise, and unless there is a class or a folder.
void check_assignment_flags(const GradeOptions& options);

/// Grades a class (--all) or one student's folder in all parts of the assignment options.id.
/// Prints a table, or the verdict on each part. Returns whether every part of every student is
/// right. Throws Failure.
bool grade_assignment(const GradeOptions& options);

}  // namespace flashlab::cli
