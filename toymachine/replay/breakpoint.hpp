// Where a run stops: lines, writes and values.
#pragma once

#include <cstdint>
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

struct Breakpoint {
  enum class Kind : std::uint8_t {
    kLine,     // before an instruction; with a test, if a register passes it
    kWritten,  // after a write of a place; with a test, if the value passes it
    kBecomes,  // after the step at which a register begins to pass the test
  };
  Kind kind = Kind::kLine;
  std::uint32_t line = 0;  // kLine: of the instruction
  std::uint32_t site = 0;  // kLine
  Place place;             // kWritten, kBecomes, and the register that a line tests
  std::optional<ValueTest> test;
};

/// Executions of one instruction: those in which its indices have these values.
struct WantedExecutions {
  std::uint32_t site = 0;
  std::vector<IndexEquals> wanted;
};

/// Reads "R1", "Q[2]", "out[3]". Errors: Fault::kRequest for a name, number or index that the
/// program does not have.
Result<Place> parse_place(const BoundProgram& program, std::string_view text);

/// Reads "12", "12 if R1 > 0", "R1 > 0", "out[3] is written", "out[3] < 0". Errors: Fault::kRequest.
Result<Breakpoint> parse_breakpoint(const BoundProgram& program, std::string_view text);

/// Returns the first instruction at or after the line (of a `for` line: the first in the loop), or
/// nothing after the last one.
std::optional<std::uint32_t> site_at_line(const BoundProgram& program, std::uint32_t line);

/// Returns the executions that write the place. On tiles, those that write the tile around it.
std::vector<WantedExecutions> writes_of(const BoundProgram& program, const Place& place);

/// Returns "R1", "Q[2]" or "out[3]".
std::string place_name(const BoundProgram& program, const Place& place);

}  // namespace flashlab::toy
