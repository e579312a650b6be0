// A trace as the table printed in the course: step, instruction, registers. With more than four
// registers, or if asked for: step, instruction, what the step makes, and the registers that a
// later step reads, as far as there is room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <vector>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// When to show a ditto mark for a value that a register still holds. With kNever and kAlways all
/// registers are shown, however many there are.
enum class Ditto : std::uint8_t { kAuto, kNever, kAlways };

struct TraceTableOptions {
  bool symbols = true;  // formulas
  bool values = false;  // numbers; with symbols, on a second line below them
  Ditto ditto = Ditto::kAuto;
  bool changes = false;  // what each step makes, also with few registers
  std::vector<std::int64_t> shown =
      {};               // with what each step makes; empty: those that are read later
  bool labels = false;  // a line for each .name that was reached
  bool unicode = false;
  bool color = false;      // changes are also bold; they are marked in any case
  std::size_t width = 80;  // columns of the terminal; 0: no limit
};

/// Memory: a bounded number of rows, which share column widths. `out` must outlive the sink.
std::unique_ptr<TraceSink> make_trace_table(std::ostream& out, const TraceTableOptions& options);

}  // namespace flashlab::toy
