// Draws the debugger's screen.
//
// It needs six escape codes, which every terminal of the last forty years understands: the other
// screen and back, home, clear to the end, colours, and the cursor on and off. So it uses them
// directly: a library for terminals would add a dependency to the packages, with a database of
// descriptions, and read keys in its own way, while `watch` already has a keyboard that restores the
// terminal after every signal.
#pragma once

#include <string>

#include "cli/debug/debug_session.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

inline constexpr WindowSize kSmallestWindow{16, 60};

/// What stands below the program.
struct ScreenBottom {
  std::string message;     // about the last command
  std::string prompt;      // a command that is being typed, with its ':' and the mark; empty: none
  std::size_t cursor = 0;  // where the mark is in it
};

/// Returns the part of a line around the cursor that fits, with < and > where it goes on.
std::string part_around(const std::string& line, std::size_t cursor, std::size_t columns);

/// Returns exactly window.rows lines of window.columns columns, without a line end after the last:
/// source, registers and arrays, last steps, counters, message and keys.
std::string debug_screen(DebugSession& session, const ScreenBottom& bottom, WindowSize window,
                         const Terminal& terminal);

}  // namespace flashlab::cli
