#include "text/lookalikes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace flashlab {
namespace {

struct Row {
  std::uint32_t code;
  std::string_view name, ascii;
};
constexpr std::array<Row, 52> kRows{{{0x00A0, "a no-break space", " "},
                                     {0x1680, "a space of another script", " "},
                                     {0x2000, "a space of another width", " "},
                                     {0x2001, "a space of another width", " "},
                                     {0x2002, "an en space", " "},
                                     {0x2003, "an em space", " "},
                                     {0x2004, "a space of another width", " "},
                                     {0x2005, "a space of another width", " "},
                                     {0x2006, "a space of another width", " "},
                                     {0x2007, "a figure space", " "},
                                     {0x2008, "a punctuation space", " "},
                                     {0x2009, "a thin space", " "},
                                     {0x200A, "a hair space", " "},
                                     {0x2028, "a line separator", " "},
                                     {0x2029, "a paragraph separator", " "},
                                     {0x202F, "a narrow no-break space", " "},
                                     {0x205F, "a space of mathematics", " "},
                                     {0x3000, "an ideographic space", " "},
                                     {0x00AD, "a soft hyphen", ""},
                                     {0x200B, "a zero-width space", ""},
                                     {0x200C, "a zero-width non-joiner", ""},
                                     {0x200D, "a zero-width joiner", ""},
                                     {0x200E, "a mark of the direction of writing", ""},
                                     {0x200F, "a mark of the direction of writing", ""},
                                     {0x2060, "a word joiner", ""},
                                     {0xFEFF, "a byte order mark", ""},
                                     {0x2010, "a hyphen", "-"},
                                     {0x2011, "a no-break hyphen", "-"},
                                     {0x2012, "a figure dash", "-"},
                                     {0x2013, "an en dash", "-"},
                                     {0x2014, "an em dash", "-"},
                                     {0x2015, "a horizontal bar", "-"},
                                     {0x2212, "a minus sign", "-"},
                                     {0x00B7, "a middle dot", "*"},
                                     {0x00D7, "a multiplication sign", "*"},
                                     {0x2217, "an asterisk operator", "*"},
                                     {0x22C5, "a dot operator", "*"},
                                     {0x00F7, "a division sign", "/"},
                                     {0x2044, "a fraction slash", "/"},
                                     {0x2215, "a division slash", "/"},
                                     {0x2025, "a two-dot leader", ".."},
                                     {0x2026, "an ellipsis", ".."},
                                     {0x2018, "a quotation mark", "'"},
                                     {0x2019, "a quotation mark", "'"},
                                     {0x00B4, "an acute accent", "'"},
                                     {0x2032, "a prime", "'"},
                                     {0x201A, "a low quotation mark", ","},
                                     {0x3001, "an ideographic comma", ","},
                                     {0xFF0C, "a full-width comma", ","},
                                     {0xFF1A, "a full-width colon", ":"},
                                     {0xFF1B, "a full-width semicolon", ";"},
                                     {0x221E, "an infinity sign", "inf"}}};

constexpr std::string_view kAscii =
    "!\"#$%&'()*+,-./"
    "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}"
    "~";
constexpr std::uint32_t kFirstFullWidth = 0xFF01;

}  // namespace

std::optional<Lookalike> lookalike(std::uint32_t code) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) { return one.code == code; });
  if (row != kRows.end()) return Lookalike{std::string(row->name), row->ascii};
  if (code < kFirstFullWidth || code - kFirstFullWidth >= kAscii.size()) return std::nullopt;
  const std::string_view ascii = kAscii.substr(code - kFirstFullWidth, 1);
  return Lookalike{"a full-width '" + std::string(ascii) + "'", ascii};
}

std::string code_point_text(std::uint32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "U+%04X", static_cast<unsigned>(code));
  return text.data();
}

std::string expected_instead(const Lookalike& one) {
  if (one.ascii.empty()) return "nothing there";
  return one.ascii == " " ? "a blank" : "'" + std::string(one.ascii) + "'";
}

}  // namespace flashlab
