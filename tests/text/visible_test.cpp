// Text from outside: nothing of it acts on a terminal, reorders a line or hides, in any rendering.
#include "text/visible.hpp"

#include <random>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "text/markup.hpp"
#include "text/utf8.hpp"

namespace flashlab::test {
namespace {

constexpr const char* kHostile =
    "a\033[2J\xC2\x9B\xE2\x80\xAE"      // escape codes in seven and eight bits, right to left
    "\xC2\xAD\xE2\x80\x8B\xEF\xBB\xBF"  // soft hyphen, zero width blank, byte order mark
    "\xFF\xED\xA0\x80<&\"'>";           // no UTF-8, a surrogate, markup

bool has_odd(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at += code_point(text, at).bytes) {
    if (is_odd(code_point(text, at)) && text[at] != '\n') return true;
  }
  return false;
}

}  // namespace

TEST_CASE("characters are read by the strict rules", "[text]") {
  const auto is_valid = [](std::string_view text) { return code_point(text, 0).valid; };
  CHECK(code_point("é", 0).code == 0xE9);
  CHECK(code_point("a😀", 1).bytes == 4);
  for (const char* const bad :
       {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3"}) {
    CHECK_FALSE(is_valid(bad));
    CHECK(code_point(bad, 0).bytes == 1);
  }
}

TEST_CASE("hostile text is shown as what it is", "[text]") {
  CHECK(printable("a\033[2Jb\n\xFF"
                  "é") == "a?[2Jb??é");
  CHECK(printable(kHostile) ==
        "a?[2J"
        "?????????"  // one for each odd character, three for the bytes of the surrogate
        "<&\"'>");
  CHECK(visible("\033\xE2\x80\xAE\t\xFF") == "\\x1b\\u202e    \\xff");
  CHECK(visible_name("a\\b\t") == "a\\\\b\\x09");
  CHECK(visible_start("abcdef", 3) == "abc ...");
  CHECK(first_unprintable("a\tb\n\033") == 4);
  CHECK_FALSE(first_unprintable("a\tb\n"));
}

TEST_CASE("an odd character is found with its place", "[text]") {
  const auto found = find_odd_character("\xEF\xBB\xBFone\ntw\xE2\x80\xAEo\033");
  REQUIRE(found);
  CHECK((found->line == 2 && found->column == 3));
  CHECK(found->escape == "\\u202e");
  CHECK(found->count == 2);
  CHECK_FALSE(found->is_nul);
  CHECK(find_odd_character(std::string("\0", 1))->is_nul);
}

TEST_CASE("markup keeps text out of tags and attributes", "[text]") {
  CHECK(markup_text("<a b=\"c\">'&\n") == "&lt;a b=&quot;c&quot;&gt;&#39;&amp;\n");
  CHECK(markup_start("<<<", 2) == "&lt;&lt;…");
  CHECK(plain_name("A b/ü-1_") == "a_b___-1_");
}

TEST_CASE("no rendering of any bytes has an odd character", "[text]") {
  std::mt19937 random(test::seeded(3));
  for (int i = 0; i < 2000; ++i) {
    std::string text = i % 2 == 0 ? kHostile : "";
    for (auto left = random() % 12; left > 0; --left) {
      text.insert(random() % (text.size() + 1), 1, static_cast<char>(random() % 256));
    }
    CHECK_FALSE(has_odd(printable(text)));
    CHECK_FALSE(has_odd(visible(text)));
    CHECK_FALSE(has_odd(visible_name(text)));
    const std::string markup = markup_text(text);
    CHECK_FALSE(has_odd(markup));
    CHECK(markup.find_first_of("<>\"'") == std::string::npos);
  }
}

}  // namespace flashlab::test
