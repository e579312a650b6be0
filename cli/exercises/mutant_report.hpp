// What became of the mutants of exercises' solutions.
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

/// A table of the exercises with programs, the survivors with their edits, and the share of
/// rejected mutants whose line is named right, by kind of edit.
std::string mutants_text(const std::vector<exercises::MutantReport>& reports,
                         const Terminal& terminal);
std::string mutants_json(const std::vector<exercises::MutantReport>& reports);

/// Tests them, with progress on standard error, and prints the report. The exit code: 1 when a
/// mutant survives. Throws Failure when an exercise is broken.
int report_mutants(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                   std::size_t jobs, std::uint64_t seed, bool json, const Terminal& terminal);

}  // namespace flashlab::cli
