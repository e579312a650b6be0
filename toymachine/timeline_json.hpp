// Timelines as JSON, and as one page that needs nothing else.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "toymachine/timeline.hpp"

namespace flashlab::toy {

/// One object without a line break:
///   title, program, params, instructions: [{site, line, op, letter, unit, loads, text}],
///   models: [{model, buffers, cycles, memory: {busy, data, buffer, idle}, compute: {…},
///             by_op: {LOAD: cycles}, by_site: [{site, busy, data, buffer}],
///             intervals: [{unit, cause, start, end, step, site}], intervals_left_out}]
/// Numbers above 2^53 are strings. With `intervals` false, the last two are left out.
std::string timeline_json(const BoundProgram& program, const std::vector<Timeline>& timelines,
                          bool intervals);

/// A page with the lanes of these timelines, their sums, and the intervals that they recorded.
void write_timeline_page(const BoundProgram& program, const std::vector<Timeline>& timelines,
                         std::ostream& out);

}  // namespace flashlab::toy
