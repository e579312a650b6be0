// Lines that a wrong program may lack: instructions that the exercise's solution has more often, with all
// registers of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Returns a program of such lines, of at most kMostMissingLines; null if there are none, or too many.
inline constexpr std::size_t kMostMissingLines = 300;
std::shared_ptr<const toy::Program> missing_lines(const toy::Program& solution,
                                                  const toy::Program& program,
                                                  std::int64_t num_registers);

/// Returns a program of these lines of `model`, each with all named registers of the program without an
/// index in the place of those that it reads, if these are one or two; null if there are none.
std::shared_ptr<const toy::Program> lines_with_registers(const toy::Program& model,
                                                         const std::vector<std::uint32_t>& lines,
                                                         const toy::Program& program);

/// Returns such lines that store to an array to which the solution stores in more lines than the program; `only`: to this
/// array, if it is not empty.
std::shared_ptr<const toy::Program> missing_stores(const toy::Program& solution,
                                                   const toy::Program& program,
                                                   const std::string& only = {});

/// Whether the solution stores to the array in more lines than the program.
bool lacks_store(const toy::Program& solution, const toy::Program& program,
                 const std::string& array);

}  // namespace flashlab::exercises
