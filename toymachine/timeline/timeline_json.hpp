// Timelines as JSON, and as one self-contained page.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "toymachine/timeline/timeline.hpp"

namespace flashlab::toy {

/// Intervals of each model in a page.
inline constexpr std::uint64_t kPageIntervals = 5'000;
/// Longer runs are not simulated for a trace.
inline constexpr std::uint64_t kMostTimedSteps = 20'000'000;

/// One object without a line break:
///   title, program, params, instructions: [{site, line, op, letter, unit, loads, text}],
///   models: [{model, buffers, cycles, memory: {busy, data, buffer, idle}, compute: {…},
///             by_op: {LOAD: cycles}, by_site: [{site, busy, data, buffer}],
///             intervals: [{unit, cause, start, end, step, site}], intervals_left_out}]
/// An interval with the cause "elided" stands for some `steps`, and has no step and no site.
/// Numbers above 2^53 are strings. With `intervals` false, the last two are left out.
std::string timeline_json(const BoundProgram& program, const std::vector<Timeline>& timelines,
                          bool intervals);

/// The same for a trace of the steps `from` to `to`: the models of TimelineOptions, with their sums
/// over the whole run and the first kPageIntervals intervals of these steps. {missing: why} if
/// there is no timeline: the run is too long, or its cycles do not fit 64 bits.
std::string timeline_of_steps_json(const BoundProgram& program, const CostTable& costs,
                                   std::uint64_t from, std::uint64_t to);

/// Writes a page with the lanes of these timelines, their sums, and their recorded intervals.
void write_timeline_page(const BoundProgram& program, const std::vector<Timeline>& timelines,
                         std::ostream& out);

}  // namespace flashlab::toy
