// What the place we print to can show: its width, colour, Unicode.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashlab::cli {

/// Running text gets no wider than this, however wide the terminal.
inline constexpr std::size_t kWidestText = 88;

struct Terminal {
  std::size_t width = 80;
  bool color = false;
  bool unicode = false;
};

enum class ColorChoice { kAuto, kAlways, kNever };

/// What the user asked for; 0 and false mean "find out".
struct TerminalRequest {
  ColorChoice color = ColorChoice::kAuto;
  bool ascii = false;
  bool unicode = false;
  std::size_t width = 0;
};

/// Standard output as the environment describes it. Colour needs a terminal, TERM other than dumb
/// and NO_COLOR unset or empty; a --color flag wins over all three. Unicode goes by the locale, the
/// width by the terminal, then by COLUMNS, then it is 80.
Terminal detect_terminal(const TerminalRequest& request);

enum class Style { kBold, kDim, kRed, kGreen, kYellow, kBlue };

/// The text between escape codes, or as it is when there is no colour.
std::string styled(std::string_view text, Style style, const Terminal& terminal);

}  // namespace flashlab::cli
