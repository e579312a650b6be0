// Names that only the teacher and the student can attribute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/grade/classroom.hpp"

namespace flashlab::exercises {

enum class Names : std::uint8_t {
  kReal,
  kPseudonym,  // "amber-heron-41"
  kNone,       // "submission 1", …
};

/// Returns a different pseudonym for each name, in the same order. It depends only on the name and
/// the key, except for a few that would collide: those also depend on the other names. Whoever knows
/// the key can find out the names.
std::vector<std::string> pseudonyms(const std::vector<std::string>& names, const std::string& key);

/// Replaces the names and sorts by the new ones, so that the order reveals nothing. Removes notes,
/// which may contain names. kReal changes nothing.
void rename_students(std::vector<StudentResult>& students, Names names, const std::string& key);

}  // namespace flashlab::exercises
