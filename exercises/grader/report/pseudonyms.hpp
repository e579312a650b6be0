// Names that tell the teacher and each student who is meant, and nobody else.
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

/// A pseudonym for each name, in the same order, no two alike. They follow from the name and the
/// key alone, but for the few that would be alike: those depend on the other names, too.
std::vector<std::string> pseudonyms(const std::vector<std::string>& names, std::uint64_t key);

/// Replaces the names, and sorts by the new ones so that the order tells nothing. Notes, which may
/// hold names, go. kReal changes nothing.
void rename_students(std::vector<StudentResult>& students, Names names, std::uint64_t key);

}  // namespace flashlab::exercises
