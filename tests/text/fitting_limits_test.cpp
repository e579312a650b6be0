// Texts that just fit and texts that are one column too wide; digests at the ends of a block.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "text/sha256.hpp"
#include "text/width.hpp"

namespace flashlab::test {
namespace {

using FittedLines = std::vector<std::string>;

}  // namespace

TEST_CASE("what is not displayed as a letter has the columns of its escape or none", "[text]") {
  struct Width {
    std::string text;
    std::size_t columns;
  };
  const Width widths[] = {{"", 0},         {"\x1f", 1},     {" ", 1},
                          {"\x7f", 1},     {"\xC2\x80", 1}, {"\xC2\x9F", 1},
                          {"\xC2\xA0", 1}, {"\x1b[1mx", 1}, {"x\x1b[1", 1},
                          {"x\x1b", 1},    {"\x1b[0m", 0},  {"a\x1b[31mb\x1b[0mc", 3}};
  for (const Width& width : widths) CHECK(display_width(width.text) == width.columns);
}

TEST_CASE("a text as wide as its cell stays, and one that is wider ends in dots", "[text]") {
  CHECK(fitted("abc", 3, true) == "abc");
  CHECK(fitted("abc", 3, false) == "abc");
  CHECK(fitted("abc", 5, false) == "abc  ");
  CHECK(fitted("", 2, true) == "  ");
  CHECK(fitted("abcd", 3, true) == "ab…");
  CHECK(fitted("abcd", 1, true) == "…");
  CHECK(fitted("abcd", 1, false) == ".");
  CHECK(fitted("abcd", 2, false) == "..");
  CHECK(fitted("abcd", 3, false) == "...");
  CHECK(fitted("abcde", 4, false) == "a...");
  CHECK(fitted("漢字", 3, true) == "漢…");
  CHECK(fitted("漢字", 2, true) == "… ");
}

TEST_CASE("a cut formula ends in none of its operators, but is never cut to nothing", "[text]") {
  for (const std::string loose :
       {" ", "+", "-", "*", "/", ".", "(", ",", "−", "·", "…", " + ", "(-"}) {
    const std::size_t columns = display_width(loose);
    CAPTURE(loose);
    CHECK(fitted("a" + loose + "bcd", columns + 2, true) == "a…" + std::string(columns, ' '));
  }
  CHECK(fitted("+bcd", 2, true) == "+…");
  CHECK(fitted("−bcd", 2, true) == "−…");
  CHECK(fitted("++bc", 3, true) == "+… ");
}

TEST_CASE("a line breaks at the last blank that fits", "[text]") {
  CHECK(wrap("ab", 0) == FittedLines{"a", "b"});
  CHECK(wrap("ab cd", 5) == FittedLines{"ab cd"});
  CHECK(wrap("ab cd", 4) == FittedLines{"ab", "cd"});
  CHECK(wrap("ab cd", 3) == FittedLines{"ab", "cd"});
  CHECK(wrap("ab cd", 2) == FittedLines{"ab", "cd"});
  CHECK(wrap("a b c", 4) == FittedLines{"a b", "c"});
  CHECK(wrap(" abcd", 3) == FittedLines{" ab", "cd"});
  CHECK(wrap("    ", 2) == FittedLines{"  "});
  CHECK(wrap("漢字", 3) == FittedLines{"漢", "字"});
  CHECK(wrap("漢字", 4) == FittedLines{"漢字"});
}

TEST_CASE("words share a line as long as one more fits with its blank", "[text]") {
  CHECK(paragraph_lines("", 5).empty());
  CHECK(paragraph_lines("ab cd", 5) == FittedLines{"ab cd"});
  CHECK(paragraph_lines("ab cd", 4) == FittedLines{"ab", "cd"});
  CHECK(paragraph_lines("a b c", 3) == FittedLines{"a b", "c"});
  CHECK(paragraph_lines("a bb cc dd", 7) == FittedLines{"a bb cc", "dd"});
  CHECK(paragraph_lines("abcd e f", 3) == FittedLines{"abcd", "e f"});
  CHECK(paragraph_lines("漢 字", 5) == FittedLines{"漢 字"});
  CHECK(paragraph_lines("漢 字", 4) == FittedLines{"漢", "字"});
}

TEST_CASE("digests are right at every length around the end of a block", "[text]") {
  struct Length {
    std::size_t letters;
    const char* digest;
  };
  const Length lengths[] = {
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
      {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"}};
  for (const Length& length : lengths) {
    CAPTURE(length.letters);
    CHECK(hex(sha256(std::string(length.letters, 'a'))) == length.digest);
  }
}

TEST_CASE("a digest's two spellings keep every bit", "[text]") {
  Digest rising{}, falling{};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    rising[i] = static_cast<std::uint8_t>(i);
    falling[i] = static_cast<std::uint8_t>(255 - 7 * i);
  }
  CHECK(hex(rising) == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  CHECK(base64(rising) == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  CHECK(base64(falling) == "//jx6uPc1c7HwLmyq6Sdlo+IgXpzbGVeV1BJQjs0LSY=");
}

}  // namespace flashlab::test
