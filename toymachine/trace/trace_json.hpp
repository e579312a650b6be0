// A trace as JSON: one object, one line per step, written as the program runs.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "toymachine/language/machine.hpp"
#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

struct TraceJsonOptions {
  CostTable costs;
  /// For the player, which needs each formula once and no empty members: a third less text.
  bool for_player = false;
  std::string note = {};  // "note": what the player says above the trace; empty: no such member
};

/// The format is described in docs. Non-finite numbers are the strings "inf", "-inf", "nan"; whole
/// numbers above 2^53 are strings. `out` must outlive the sink. A failed write ends the run.
std::unique_ptr<TraceSink> make_trace_json(std::ostream& out, const TraceJsonOptions& options);

}  // namespace flashlab::toy
