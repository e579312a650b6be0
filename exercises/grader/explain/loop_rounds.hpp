// Rounds that a loop has too many, or that it lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// One execution of a loop: for each round of the loops around it.
struct LoopRounds {
  std::string var, at;  // "j"; "i = 2": the loops around it
  std::vector<std::int64_t> values;
  std::int64_t first = 0, end = 0;  // the values of its bounds
};

/// Returns the executions of the loop in a line, of the first rounds of long programs only.
std::vector<LoopRounds> rounds_of(const toy::BoundProgram& bound, std::uint32_t line);

/// The first execution of a loop that has other rounds than it should have.
struct OtherRounds {
  LoopRounds mine, right;
  std::vector<std::int64_t> many, missing;
};

/// Returns nothing if no execution differs, or if the loops are not executed equally often.
std::optional<OtherRounds> other_rounds(const std::vector<LoopRounds>& mine,
                                        const std::vector<LoopRounds>& right);

/// "the bound i+1 is wrong: at i = 2 there is a round too many: j = 2", of the loop in this line.
std::string wrong_bound_text(const toy::Program& program, std::uint32_t line,
                             const OtherRounds& other);

}  // namespace flashlab::exercises
