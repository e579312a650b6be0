// Timelines as JSON, and as one page that needs nothing else.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "toymachine/timeline/timeline.hpp"

namespace flashlab::toy {

/// Intervals of each model that a page holds.
inline constexpr std::uint64_t kPageIntervals = 5'000;
/// A longer run is not simulated beside its trace.
inline constexpr std::uint64_t kMostTimedSteps = 20'000'000;

/// One object without a line break:
///   title, program, params, instructions: [{site, line, op, letter, unit, loads, text}],
///   models: [{model, buffers, cycles, memory: {busy, data, buffer, idle}, compute: {…},
///             by_op: {LOAD: cycles}, by_site: [{site, busy, data, buffer}],
///             intervals: [{unit, cause, start, end, step, site}], intervals_left_out}]
/// Numbers above 2^53 are strings. With `intervals` false, the last two are left out.
std::string timeline_json(const BoundProgram& program, const std::vector<Timeline>& timelines,
                          bool intervals);

/// The same for a trace of the steps `from` to `to`: the models of TimelineOptions with their sums
/// over the whole run, and of the intervals the first kPageIntervals that belong to these steps.
/// {missing: why} where there is no timeline: a run too long, or more cycles than 64 bits hold.
std::string timeline_of_steps_json(const BoundProgram& program, const CostTable& costs,
                                   std::uint64_t from, std::uint64_t to);

/// A page with the lanes of these timelines, their sums, and the intervals that they recorded.
void write_timeline_page(const BoundProgram& program, const std::vector<Timeline>& timelines,
                         std::ostream& out);

}  // namespace flashlab::toy
