// Reports whether remarks on mutants of exercises' solutions are true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::cli {

/// Checks the remarks that every mutant gets, on several threads, and prints a table with the false ones. Returns the exit code: 1 if
/// a remark is false. Throws Failure if an exercise is broken.
int report_remarks(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                   std::size_t jobs, std::uint64_t seed, std::size_t every,
                   const Terminal& terminal);

}  // namespace flashlab::cli
