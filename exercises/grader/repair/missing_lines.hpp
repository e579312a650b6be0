// Lines that a wrong program may lack: instructions that the exercise's solution has more often, with all
// registers of the program.
#pragma once

#include <memory>

#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Returns a program of such lines, of at most kMostMissingLines; null if there are none, or too many.
inline constexpr std::size_t kMostMissingLines = 300;
std::shared_ptr<const toy::Program> missing_lines(const toy::Program& solution,
                                                  const toy::Program& program,
                                                  std::int64_t num_registers);

}  // namespace flashlab::exercises
