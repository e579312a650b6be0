// Columns of text: what a terminal shows, and what is cut or broken to fit.
#include "text/width.hpp"

#include <random>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

namespace flashlab::test {
namespace {

/// Letters of one, two and no columns, blanks, bytes that are no UTF-8.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"a", " ",    "é",    "漢", "e\xCC\x81",
                                                   "₀", "\xFF", "\xC3", "😀",  "☂\xEF\xB8\x8F"};
  std::string text;
  for (auto left = random() % 20; left > 0; --left) text += kPieces[random() % kPieces.size()];
  return text;
}

}  // namespace

TEST_CASE("the width of text counts what is seen", "[text]") {
  CHECK(display_width("x₀ − m′") == 7);
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("e\xCC\x81") == 1);      // a combining accent
  CHECK(display_width("x\xE2\x83\x97") == 1);  // an arrow above, U+20D7
  CHECK(display_width("\xFF\xC3") == 2);       // no UTF-8
  CHECK(display_width("\x1b[1mbold\x1b[0m") == 4);
  CHECK(display_width("⠿│›") == 3);
}

TEST_CASE("a character that is shown as a picture takes two columns", "[text]") {
  const std::string as_picture = "\xEF\xB8\x8F";
  CHECK(display_width("☂") == 1);
  CHECK(display_width("☂" + as_picture) == 2);
  CHECK(display_width("1" + as_picture) == 2);
  CHECK(display_width("a" + as_picture) == 1);  // never a picture
  CHECK(display_width("😀" + as_picture) == 2);  // one already
  CHECK(display_cells("☂" + as_picture + "a") ==
        std::vector<std::string>{"☂" + as_picture, "", "a"});
  CHECK(fitted("☂" + as_picture + "a", 2, true) == "… ");
}

TEST_CASE("cells are cut at the end of a term", "[text]") {
  CHECK(fitted("a + b", 5, true) == "a + b");
  CHECK(fitted("a", 4, true) == "a   ");
  CHECK(fitted("a₀₀·b₀₀ + a₀₁·b₁₀", 11, true) == "a₀₀·b₀₀…   ");
  CHECK(fitted("a00*b00 + a01*b10", 14, false) == "a00*b00 + a...");
  CHECK(fitted("abc", 2, false) == "..");
  CHECK(fitted("abc", 0, true).empty());
}

TEST_CASE("what is fitted takes exactly the columns that it is given", "[text]") {
  std::mt19937 random(test::seeded(1));
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random);
    const std::size_t width = random() % 12;
    INFO(text << " in " << width);
    CHECK(display_width(fitted(text, width, i % 2 == 0)) == width);
  }
}

TEST_CASE("lines break between words, and inside a word that is too long", "[text]") {
  CHECK(wrap("", 5) == std::vector<std::string>{""});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("  ab cd", 5) == std::vector<std::string>{"  ab", "cd"});
  CHECK(wrap("漢字", 1) == std::vector<std::string>{"漢", "字"});  // no column is narrow enough
  CHECK(paragraph_lines(" one  two\nthree ", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(paragraph_lines("unbreakable a", 3) == std::vector<std::string>{"unbreakable", "a"});
}

TEST_CASE("a command between backticks stays on one line if it fits on one", "[text]") {
  using Lines = std::vector<std::string>;
  CHECK(wrap("try `a b c` now", 9) == Lines{"try", "`a b c`", "now"});
  CHECK(wrap("`a b` or `c d`; e", 9) == Lines{"`a b` or", "`c d`; e"});
  CHECK(wrap("try (`a b c`) now", 11) == Lines{"try", "(`a b c`)", "now"});
  CHECK(wrap("see `a b c d e`", 9) == Lines{"see `a b", "c d e`"});  // too long for a line
  CHECK(wrap("one ` two three", 9) == Lines{"one ` two", "three"});
}

TEST_CASE("wrapping loses nothing but blanks, and no line is too wide", "[text]") {
  std::mt19937 random(test::seeded(2));
  const auto without_blanks = [](std::string text) {
    std::erase(text, ' ');
    return text;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random);
    const std::size_t width = 2 + random() % 8;
    INFO(text << " in " << width);
    std::string joined;
    for (const std::string& line : wrap(text, width)) {
      CHECK(display_width(line) <= width);
      joined += line;
    }
    CHECK(without_blanks(joined) == without_blanks(text));
  }
}

}  // namespace flashlab::test
