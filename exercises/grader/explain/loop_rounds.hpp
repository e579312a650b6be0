// Rounds that a loop has too many, or that it lacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::exercises {

/// One execution of a loop: for each round of the loops around it.
struct LoopRounds {
  std::string var, at;  // "j"; "i = 2": the loops around it
  std::vector<std::int64_t> values;
};

/// Returns the executions of the loop in a line, of the first rounds of long programs only.
std::vector<LoopRounds> rounds_of(const toy::BoundProgram& bound, std::uint32_t line);

/// "at i = 2 there is a round too many: j = 2", of the first execution that differs; empty if none does,
/// or if the loops are not executed equally often.
std::string other_rounds_text(const std::vector<LoopRounds>& mine,
                              const std::vector<LoopRounds>& right);

}  // namespace flashlab::exercises
