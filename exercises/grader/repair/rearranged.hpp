// Programs with the learner's own lines in another order, with the same words in other lines, or with one loop more: one
// mistake that changes several lines.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "exercises/grader/repair/line_differences.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

struct Rearranged {
  std::string text;
  std::vector<LineDifference>
      moved;  // of a block that was moved: where it stands, and where it is missing
};

/// Returns the programs in which two of these lines with the same instruction have one of each other's operands; those with
/// a loop around one instruction of the solution beside one of these lines; and those in which two or three instructions
/// that follow each other, one of them in `lines`, stand beside another one of them.
std::vector<Rearranged> rearranged_programs(const toy::Program& program,
                                            const toy::Program& solution,
                                            const std::set<std::uint32_t>& lines);

}  // namespace flashlab::exercises
