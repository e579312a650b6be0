// Reports the results for mutants of exercises' solutions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/prove/mutants.hpp"

namespace flashlab::cli {

/// Returns a table of the exercises with programs, the survivors with their edits, and by kind of
/// edit the share of rejected mutants whose line is named correctly.
std::string mutants_text(const std::vector<exercises::MutantReport>& reports,
                         const Terminal& terminal);
std::string mutants_json(const std::vector<exercises::MutantReport>& reports);

/// Tests the mutants, with progress on standard error, and prints the report. Returns the exit
/// code: 1 if a mutant survives. Throws Failure if an exercise is broken.
int report_mutants(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                   std::size_t jobs, std::uint64_t seed, bool json, const Terminal& terminal);

}  // namespace flashlab::cli
