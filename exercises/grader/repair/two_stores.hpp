// Two stores that a program lacks, if it is written in another way than the solution.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/repair/repair.hpp"

namespace flashlab::exercises {

/// Returns the program's departures from the one with both stores: of two arrays to which the solution stores in more
/// lines. First the store is looked for that makes its own array right, at the first place and with the first register
/// that do, and then the other one. Adds the cost of the trials to `steps`.
std::optional<Departures> two_missing_stores(const ProgramTask& task, const toy::Program& solution,
                                             const toy::Program& program,
                                             const std::vector<RepairSize>& sizes,
                                             std::size_t failing, std::uint64_t& steps);

}  // namespace flashlab::exercises
