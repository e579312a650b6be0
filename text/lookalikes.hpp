// Characters outside ASCII that come with text from web pages and word processors, and look like
// those of programs and formulas, or like nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab {

struct Lookalike {
  std::string name;        // "a no-break space"
  std::string_view ascii;  // what was meant: " ", "-"; empty: nothing
};

/// Returns what a character looks like; nothing if it is none of the usual ones.
std::optional<Lookalike> lookalike(std::uint32_t code);

/// Returns "U+00A0".
std::string code_point_text(std::uint32_t code);

/// Returns what a message expects instead: "a blank", "'-'", "nothing there".
std::string expected_instead(const Lookalike& one);

}  // namespace flashlab
