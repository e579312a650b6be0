#include "text/ascii.hpp"

#include "tests/catch_shim.hpp"

namespace flashlab::test {

TEST_CASE("powers and subscripts are raised and lowered in ASCII", "[text]") {
  CHECK(in_ascii("10³⁸") == "10^38");
  CHECK(in_ascii("10⁻³ x²y") == "10^-3 x^2y");
  CHECK(in_ascii("x₁ + x₁₂ + xᵢ") == "x_1 + x_12 + x_i");
  CHECK(in_ascii("2ⁿ⁻¹") == "2^(n-1)");
  CHECK(in_ascii("xᵢ₊₁²") == "x_(i+1)^2");
  CHECK(in_ascii("Kᵀ") == "K^T");
}

TEST_CASE("signs, arrows and the lines of tables have spellings", "[text]") {
  CHECK(in_ascii("a ≤ b → c − d × ∞ … ½") == "a <= b -> c - d x inf ... 1/2");
  CHECK(in_ascii("┌──┬─┐│═║") == "+--+-+|-|");
  CHECK(in_ascii("⌈n/2⌉ ⌊m⌋ √2 µs σ") == "ceil(n/2) floor(m) sqrt2 us sigma");
  CHECK(in_ascii("▶ ✓ ✗ █░") == "> x - #:");
  CHECK(in_ascii("é ï Å ñ") == "e i A n");
}

TEST_CASE("what has no spelling is a question mark, and ASCII stays", "[text]") {
  CHECK(in_ascii("a\tb\n~") == "a\tb\n~");
  CHECK(in_ascii("日") == "?");
  CHECK(in_ascii("a\xFF\xE2\x82z") == "a???z");
  for (char32_t code = 0x80; code < 0x3000; ++code) {
    const std::string text = code < 0x800
                                 ? std::string{static_cast<char>(0xC0 | (code >> 6)),
                                               static_cast<char>(0x80 | (code & 0x3F))}
                                 : std::string{static_cast<char>(0xE0 | (code >> 12)),
                                               static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
                                               static_cast<char>(0x80 | (code & 0x3F))};
    for (const char c : in_ascii(text)) REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

}  // namespace flashlab::test
