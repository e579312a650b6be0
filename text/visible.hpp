// Text that came from outside, made fit to be shown: in a terminal, in XML, in HTML. What is odd is
// decided in one place (is_odd in text/utf8.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab {

/// The text on one line, with '?' for each odd character and each byte that is no UTF-8: for names
/// and titles inside messages.
std::string printable(std::string_view text);

/// Where the first odd character stands. Tabs and line ends are none.
std::optional<std::size_t> first_unprintable(std::string_view text);

/// Valid UTF-8 in which each odd character, and each byte that is no UTF-8, stands as an escape
/// ("\x1b", "\u202e"). A tab is four blanks.
std::string visible(std::string_view text);

/// The same for a name. Backslashes are doubled, so that different names stay different.
std::string visible_name(std::string_view name);

/// The same, with an ellipsis after `most_bytes`, so that a report stays small.
std::string visible_start(std::string_view text, std::size_t most_bytes);

/// Runs of blanks and line ends as one blank, none at the ends.
std::string on_one_line(std::string_view text);

/// A character that visible() would not show as it is. Tabs and line ends are none.
struct OddCharacter {
  std::uint32_t line = 1, column = 1;  // the column counts bytes, as the assembler's messages do
  std::string escape;                  // "\x1b"
  std::size_t count = 1;               // of them in the whole text
  bool is_nul = false;                 // some of them are NUL: no text at all
};

/// The first one, or nothing if there is none. A byte order mark at the beginning is none.
std::optional<OddCharacter> find_odd_character(std::string_view text);

}  // namespace flashlab
