// A trace as the table printed in the course: step, instruction, registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>

#include "toymachine/trace/trace.hpp"

namespace flashlab::toy {

/// When to show a ditto mark for a value that a register still holds.
enum class Ditto : std::uint8_t {
  kAuto,  // with more than 4 registers, for computed values; loaded ones are always written out
  kNever,
  kAlways,
};

struct TraceTableOptions {
  bool symbols = true;  // formulas
  bool values = false;  // numbers; with symbols, on a second line below them
  Ditto ditto = Ditto::kAuto;
  bool labels = false;  // a line for each .name that was reached
  bool unicode = false;
  bool color = false;      // changes are also bold; they are marked in any case
  std::size_t width = 80;  // columns of the terminal; 0: no limit
};

/// Memory: a bounded number of rows, which share column widths. `out` must outlive the sink.
std::unique_ptr<TraceSink> make_trace_table(std::ostream& out, const TraceTableOptions& options);

}  // namespace flashlab::toy
