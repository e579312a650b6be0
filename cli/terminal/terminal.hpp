// The capabilities of the output: its width, colour, Unicode.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashlab::cli {

/// Maximum width of running text, even in a wider terminal.
inline constexpr std::size_t kWidestText = 88;

struct Terminal {
  std::size_t width = 80;
  bool color = false;
  bool unicode = false;
};

enum class ColorChoice { kAuto, kAlways, kNever };

/// The user's request; 0 and false mean automatic.
struct TerminalRequest {
  ColorChoice color = ColorChoice::kAuto;
  bool ascii = false;
  bool unicode = false;
  std::size_t width = 0;
};

/// Whether the terminal understands escape codes: TERM is set, and not dumb.
bool knows_escape_codes();

/// Whether a line on standard error can be shown again and again: it is such a terminal.
bool can_rewrite_lines();

struct WindowSize {
  std::size_t rows = 0, columns = 0;
};
/// Returns the size of the terminal's window; 0 x 0 if standard output is no terminal.
WindowSize window_size();
/// Returns the size for a screen; of a terminal that does not know its own, LINES and COLUMNS, or 24 x 80.
WindowSize screen_size();

/// Returns the capabilities of standard output. Colour needs a terminal that knows escape codes, NO_COLOR
/// unset or empty and CLICOLOR not 0. FORCE_COLOR or CLICOLOR_FORCE needs no terminal; a --color flag has
/// priority over all. Unicode is determined by the locale. The width is that of the terminal, else COLUMNS, else 80.
Terminal detect_terminal(const TerminalRequest& request);

enum class Style { kBold, kDim, kRed, kGreen, kYellow, kBlue };

/// Returns the text between escape codes, or unchanged without colour.
std::string styled(std::string_view text, Style style, const Terminal& terminal);

}  // namespace flashlab::cli
