// What is said of the changes that make a wrong program right.
#pragma once

#include <cstdint>
#include <string>

#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/repair/repair.hpp"

namespace flashlab::exercises {

/// The sentence about a repair that makes the program right.
std::string repair_sentence(const FailedAttempt& failed, const Repair& repair);

/// The line of a departure; where something is missing, a line beside it.
std::uint32_t departure_line(const LineDifference& departure);

/// The sentence about several departures: what is wrong with one of them, and where the others are.
std::string departures_sentence(const FailedAttempt& failed, const Departures& departures,
                                const LineDifference& explained);

}  // namespace flashlab::exercises
