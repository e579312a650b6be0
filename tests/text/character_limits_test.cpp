// Characters at the ends of the ranges that decide how they are shown, and texts at the cut.
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/catch_shim.hpp"
#include "text/markup.hpp"
#include "text/page.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"

namespace flashlab::test {
namespace {

bool is_odd_code(std::uint32_t code) { return is_odd(CodePoint{code, 1, true}); }

}  // namespace

TEST_CASE("digits are what lies from 0 to 9", "[text]") {
  for (const char digit : {'0', '1', '5', '9'}) CHECK(is_digit(digit));
  for (const char other : {'/', ':', 'a', ' ', '\xB2'}) CHECK_FALSE(is_digit(other));
}

TEST_CASE("a character has its code and its bytes at every length", "[text]") {
  struct Length {
    const char* text;
    std::uint32_t code;
    std::size_t bytes;
  };
  const Length lengths[] = {{"\x7F", 0x7F, 1},
                            {"\xC2\x80", 0x80, 2},
                            {"\xDF\xBF", 0x7FF, 2},
                            {"\xE0\xA0\x80", 0x800, 3},
                            {"\xEF\xBF\xBD", 0xFFFD, 3},
                            {"\xF0\x90\x80\x80", 0x10000, 4},
                            {"\xF4\x8F\xBF\xBD", 0x10FFFD, 4}};
  for (const Length& length : lengths) {
    const CodePoint point = code_point(length.text, 0);
    CHECK(point.valid);
    CHECK(point.code == length.code);
    CHECK(point.bytes == length.bytes);
  }
  const CodePoint bad = code_point("a\x80", 1);
  CHECK_FALSE(bad.valid);
  CHECK(bad.code == 0x80);
}

TEST_CASE("what acts on a terminal or hides is odd up to the ends of its range", "[text]") {
  for (const std::uint32_t code :
       {0x00U,   0x09U,    0x1FU,    0x7FU,    0x80U,    0x9FU,     0xADU,
        0x200BU, 0x200FU,  0x2028U,  0x2029U,  0x202AU,  0x202EU,   0x2060U,
        0x2065U, 0x206FU,  0xD800U,  0xFDD0U,  0xFDEFU,  0xFEFFU,   0xFFFEU,
        0xFFFFU, 0x1FFFEU, 0x1FFFFU, 0xE0000U, 0xE0FFFU, 0x10FFFEU, 0x10FFFFU}) {
    CAPTURE(code);
    CHECK(is_odd_code(code));
  }
  for (const std::uint32_t code :
       {0x20U, 0x41U, 0x7EU, 0xA0U, 0xACU, 0xAEU, 0x200AU, 0x2010U, 0x2027U, 0x202FU, 0x205FU,
        0x2070U, 0xFDCFU, 0xFDF0U, 0xFFFDU, 0x10000U, 0x1FFFDU, 0xE1000U, 0x10FFFDU}) {
    CAPTURE(code);
    CHECK_FALSE(is_odd_code(code));
  }
  CHECK(is_odd(CodePoint{0x41, 1, false}));  // a byte of invalid UTF-8
}

TEST_CASE("an escape has two, four or eight digits, as its code needs", "[text]") {
  CHECK(visible("\x01") == "\\x01");
  CHECK(visible("\x7F") == "\\x7f");
  CHECK(visible("\xC2\xAD") == "\\xad");
  CHECK(visible("\xEF\xBF\xBF") == "\\uffff");
  CHECK(visible("\xF0\x9F\xBF\xBE") == "\\U0001fffe");
  CHECK(visible("\xF3\xA0\x80\x81") == "\\U000e0001");
  CHECK(visible("a\\b\n") == "a\\b\\x0a");
  CHECK(visible_name("\t\\") == "\\x09\\\\");
  CHECK(visible("").empty());
}

TEST_CASE("the start of a text is cut after whole characters, and only if it is longer", "[text]") {
  CHECK(visible_start("abc", 3) == "abc");
  CHECK(visible_start("abcd", 3) == "abc ...");
  CHECK(visible_start("abcdefghijk", 3) == "abc ...");
  CHECK(visible_start("a\xC3\xA9", 3) == "a\xC3\xA9");
  CHECK(visible_start("a\xC3\xA9"
                      "b",
                      2) == "a ...");
  CHECK(visible_start("\xC3\xA9\xC3\xA9", 2) == "\xC3\xA9 ...");
  CHECK(visible_start("ab\xF0\x9F\x98\x80", 3) == "ab ...");
  CHECK(visible_start("abc", 0) == " ...");
  CHECK(visible_start("", 0).empty());
}

TEST_CASE("the first unprintable character is found at any place, or nowhere", "[text]") {
  CHECK(first_unprintable("\033") == 0);
  CHECK(first_unprintable("\xC3\xA9\033") == 2);
  CHECK(first_unprintable("\t\r\n\xFF") == 3);
  CHECK_FALSE(first_unprintable(""));
  CHECK_FALSE(first_unprintable("a\r\n\t\xC3\xA9"));
}

TEST_CASE("odd characters are counted from the first one's place on", "[text]") {
  CHECK_FALSE(find_odd_character(""));
  CHECK_FALSE(find_odd_character("a\tb\r\nc\xC3\xA9"));
  CHECK_FALSE(
      find_odd_character("\xEF\xBB\xBF"
                         "a"));
  const auto first = find_odd_character("\033");
  REQUIRE(first);
  CHECK((first->line == 1 && first->column == 1 && first->count == 1));
  const auto after_mark = find_odd_character("\xEF\xBB\xBF\033");
  REQUIRE(after_mark);
  CHECK(after_mark->column == 1);  // as the assembler counts
  const auto third_line = find_odd_character("a\n\nbc\033d\033\n\033");
  REQUIRE(third_line);
  CHECK((third_line->line == 3 && third_line->column == 3 && third_line->count == 3));
  const auto later_mark = find_odd_character("a\xEF\xBB\xBF");
  REQUIRE(later_mark);
  CHECK((later_mark->column == 2 && later_mark->escape == "\\ufeff"));
  const auto nul = find_odd_character(std::string("\033\0\033", 3));
  REQUIRE(nul);
  CHECK((nul->is_nul && nul->count == 3 && nul->escape == "\\x1b"));
}

TEST_CASE("words stand on one line with one blank between them", "[text]") {
  CHECK(on_one_line("  a \n\t b  ") == "a b");
  CHECK(on_one_line("a") == "a");
  CHECK(on_one_line(" \n").empty());
}

TEST_CASE("markup is cut after whole characters, and only if there are more", "[text]") {
  CHECK(markup_start("ab", 2) == "ab");
  CHECK(markup_start("abc", 2) == "ab…");
  CHECK(markup_start("éa", 1) == "é…");
  CHECK(markup_start("a", 0) == "…");
  CHECK(markup_start("", 0).empty());
  CHECK(markup_text("a\n\nb") == "a\n\nb");
  CHECK(markup_text("a\tb") == "a    b");
}

TEST_CASE("a plain name keeps letters and digits up to the ends of their ranges", "[text]") {
  CHECK(plain_name("AMZ") == "amz");
  CHECK(plain_name("amz059-_") == "amz059-_");
  CHECK(plain_name("@[`{/:.") == "_______");
}

TEST_CASE("a page's marks are replaced one by one, and an unknown one is refused", "[text]") {
  const PageParts parts = {{"x", [](std::ostream& out) { out << "1"; }},
                           {"yy", [](std::ostream& out) { out << "{{x}}"; }}};
  const auto written = [&](std::string_view page) {
    std::ostringstream out;
    write_page(out, page, parts);
    return out.str();
  };
  CHECK(written("").empty());
  CHECK(written("no mark") == "no mark");
  CHECK(written("a{{x}}b{{yy}}{{x}}") == "a1b{{x}}1");
  CHECK_THROWS_AS(written("{{z}}"), std::out_of_range);
  CHECK(page_style("").size() + 3 == page_style("own").size());
  CHECK(page_style("own").ends_with("own"));
}

}  // namespace flashlab::test
