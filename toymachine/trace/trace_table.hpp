// A trace as the table that a course prints: step, instruction, registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// When a value that a register goes on holding is shown as a ditto mark.
enum class Ditto : std::uint8_t {
  kAuto,  // with more than 4 registers, what was computed; loaded operands are always written out
  kNever,
  kAlways,
};

struct TraceTableOptions {
  bool symbols = true;  // formulas
  bool values = false;  // numbers; with symbols, on a second line below them
  Ditto ditto = Ditto::kAuto;
  bool labels = false;  // a line for each .name that was passed
  bool unicode = false;
  bool color = false;      // what changed is also bold; it is marked in any case
  std::size_t width = 80;  // columns of the terminal; 0: as wide as it gets
};

/// Memory: a bounded number of rows, which share their column widths. `out` must outlive the sink.
std::unique_ptr<TraceSink> make_trace_table(std::ostream& out, const TraceTableOptions& options);

}  // namespace flashlab::toy
