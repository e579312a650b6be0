// Where a wrong program departs from the exercise's solution, if it is written like it in all but
// a few lines: several mistakes at once, which no single change repairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/repair/edits.hpp"
#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/repair/repair.hpp"

namespace flashlab::exercises {

/// `solution` has the program's loop variables. Returns the departures that make the program wrong at
/// these sizes; nothing if it is written in another way than the solution. Adds the cost of the trials
/// to `steps`.
std::optional<Departures> find_departures(const ProgramTask& task, const toy::Program& solution,
                                          const toy::Program& program,
                                          const std::vector<RepairSize>& sizes, std::size_t failing,
                                          std::uint64_t& steps);

/// Returns the departures from this right text, of one line each where lines stand in each other's place.
std::optional<Departures> departures_from(const toy::Program& program, std::string right_text);

/// Returns the departures as one edit of the program, if one repairs them.
std::optional<Edit> edit_of(const Departures& departures, const ProgramTask& task,
                            const toy::Program& program, std::int64_t num_registers);

/// Whether the program has the lines that `missing` lacks at another place: `there`.
bool is_moved(const LineDifference& missing, const LineDifference& there,
              const toy::Program& program, const toy::Program& solution);

}  // namespace flashlab::exercises
