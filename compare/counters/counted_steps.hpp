// Assigns counted ranges to the steps of a row, and adds them up.
#pragma once

#include <span>

#include "compare/counters/hardware_counters.hpp"
#include "results/comparison.hpp"

namespace flashlab::compare {

/// Copies traffic and percentages; times stay.
void take_counters(Measurement& measured, const Measurement& counters);

/// Gives each step the counters of the range with its name, and the row their sums: of percentages
/// the mean, weighted by the steps' times. row.measured must be set. Other ranges are ignored.
void take_counted_ranges(Row& row, std::span<const CountedRange> ranges);

}  // namespace flashlab::compare
