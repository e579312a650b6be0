// Makes text from outside safe to show in a terminal, in XML or in HTML. is_odd() in text/utf8.hpp
// decides which characters are odd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab {

/// Returns the text on one line, with '?' for each odd character and each invalid byte. For names
/// and titles inside messages.
std::string printable(std::string_view text);

/// Returns the position of the first odd character. Tabs and line ends are not odd.
std::optional<std::size_t> first_unprintable(std::string_view text);

/// Returns valid UTF-8 with an escape ("\x1b", "\u202e") for each odd character and each invalid
/// byte. A tab becomes four blanks.
std::string visible(std::string_view text);

/// Does the same for a name, and doubles backslashes so that different names stay different.
std::string visible_name(std::string_view name);

/// Does the same, with an ellipsis after `most_bytes`, so that reports stay small.
std::string visible_start(std::string_view text, std::size_t most_bytes);

/// Replaces runs of blanks and line ends by one blank, and removes them at both ends.
std::string on_one_line(std::string_view text);

/// A character that visible() escapes. Tabs and line ends are not odd.
struct OddCharacter {
  std::uint32_t line = 1, column = 1;  // the column counts bytes, as the assembler's messages do
  std::string escape;                  // "\x1b"
  std::size_t count = 1;               // in the whole text
  bool is_nul = false;                 // some are NUL: the content is not text
};

/// Returns the first one, or nothing. Ignores a byte order mark at the beginning.
std::optional<OddCharacter> find_odd_character(std::string_view text);

}  // namespace flashlab
