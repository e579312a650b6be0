// Text in other encodings than UTF-8, which is recognized before anything reads it.
#include "text/encoding.hpp"

#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

/// ASCII in units of `size` bytes, the letter in the last one, or the first.
std::string wide(const std::string& text, std::size_t size, bool big) {
  std::string bytes;
  for (const char letter : text) {
    const std::string zeros(size - 1, '\0');
    bytes += big ? zeros + letter : letter + zeros;
  }
  return bytes;
}

constexpr const char* kProgram = "; M\n.isa softmax\nLOAD x[0], R0\n";

}  // namespace

TEST_CASE("text in UTF-16 and UTF-32 is recognized with and without its mark", "[text]") {
  CHECK(other_encoding(wide(kProgram, 2, false)) == "UTF-16");
  CHECK(other_encoding(wide(kProgram, 2, true)) == "UTF-16");
  CHECK(other_encoding(wide(kProgram, 4, false)) == "UTF-32");
  CHECK(other_encoding(wide(kProgram, 4, true)) == "UTF-32");
  CHECK(other_encoding("\xFF\xFE") == "UTF-16");
  CHECK(other_encoding("\xFE\xFF\0;") == "UTF-16");
  CHECK(other_encoding(std::string("\xFF\xFE\0\0", 4)) == "UTF-32");
  CHECK(other_encoding(std::string("\0\0\xFE\xFF", 4)) == "UTF-32");
}

TEST_CASE("other bytes are no other encoding, even with bytes of 0", "[text]") {
  for (const std::string& text :
       {std::string(), std::string(kProgram), std::string("\xEF\xBB\xBF; mark"),
        std::string("\xFFx"), std::string(100, '\0'), std::string("a\0b", 3),
        std::string("LOAD x[0], R0 \0\0\0\0\0\0\0\0", 22), std::string("\0\0\0\0abcd", 8)}) {
    INFO(text);
    CHECK(other_encoding(text).empty());
  }
}

TEST_CASE("halves of characters in JSON become U+FFFD, and pairs stay", "[text]") {
  CHECK(without_half_characters(R"("\ud83d")") == R"("\ufffd")");
  CHECK(without_half_characters(R"("\uDE00x")") == R"("\ufffdx")");
  CHECK(without_half_characters(R"("\ud83d\ude00")") == R"("\ud83d\ude00")");
  CHECK(without_half_characters(R"("\ud83d\ud83d\ude00\ude00")") ==
        R"("\ufffd\ud83d\ude00\ufffd")");
  CHECK(without_half_characters(R"("\ud83d\n\ud83dA")") == R"("\ufffd\n\ufffdA")");
  for (const std::string same : {R"("\\ud83d")", R"("\u00e9\uffff")", R"("\ud8")", R"("\uzzzz")",
                                 R"("\u-001")", "\\", "\\u", ""}) {
    CAPTURE(same);
    CHECK(without_half_characters(same) == same);
  }
}

}  // namespace flashlab::test
