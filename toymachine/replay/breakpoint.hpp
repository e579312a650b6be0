// Where a run stops: lines, writes and values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/replay/nest_steps.hpp"
#include "toymachine/replay/value_test.hpp"

namespace flashlab::toy {

/// A register, or an element of an array, of a bound program.
struct Place {
  bool is_cell = false;
  std::int64_t number = 0;  // of the register, or of the element in DRAM
};

class WatchExpression;

/// The values that an index must have.
struct IndexRange {
  Affine index;
  std::int64_t low = 0, high = 0;  // both included
};

struct Breakpoint {
  enum class Kind : std::uint8_t {
    kLine,     // before an instruction; with a test, if a register passes it
    kWritten,  // after a write of a place; with a test or a condition, if it holds then
    kBecomes,  // after the step at which a register begins to pass the test
  };
  Kind kind = Kind::kLine;
  std::uint32_t line = 0;  // kLine: of the instruction
  std::uint32_t site = 0;  // kLine
  Place place;             // kWritten, kBecomes, and the register that a line tests
  std::optional<ValueTest> test;
  /// kLine, kWritten: conditions on more than one register, such as `i > 3 && x[i] > 0`. Of a line, what
  /// they demand of indices is in `ranges`, and finds the executions without running; `condition` is the
  /// whole, or null if it demands nothing else. Of a write, the loops are those of the step that wrote.
  std::vector<IndexRange> ranges;
  std::shared_ptr<const WatchExpression> condition;
};

/// Executions of one instruction: those in which its indices have these values.
struct WantedExecutions {
  std::uint32_t site = 0;
  std::vector<IndexWithin> wanted;
};

/// Reads "R1", "Q[2]", "out[3]". Errors: Fault::kRequest for a name, number or index that the
/// program does not have.
Result<Place> parse_place(const BoundProgram& program, std::string_view text);

/// Reads "12", "12 if R1 > 0", "12 if i == 3 && x[i] > R1", "R1 > 0", "out[3] is written", "out[3] < 0",
/// "out[3] is written if i == 3 && R1 > 0".
/// Errors: Fault::kRequest.
Result<Breakpoint> parse_breakpoint(const BoundProgram& program, std::string_view text);

/// Returns the first instruction at or after the line (of a `for` line: the first in the loop), or
/// nothing after the last one.
std::optional<std::uint32_t> site_at_line(const BoundProgram& program, std::uint32_t line);

/// Returns the executions that write the place. On tiles, those that write the tile around it.
std::vector<WantedExecutions> writes_of(const BoundProgram& program, const Place& place);

/// Returns the executions at which a line's breakpoint may stop, as far as indices decide it. The
/// breakpoint must outlive them.
WantedExecutions visits_of(const Breakpoint& breakpoint);

/// Returns "R1", "Q[2]" or "out[3]".
std::string place_name(const BoundProgram& program, const Place& place);

}  // namespace flashlab::toy
