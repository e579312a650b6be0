#include "text/lookalikes.hpp"

#include "tests/catch_shim.hpp"

namespace flashlab::test {

TEST_CASE("characters that look like those of programs have names", "[text]") {
  CHECK(lookalike(0xA0)->name == "a no-break space");
  CHECK(lookalike(0xA0)->ascii == " ");
  CHECK(expected_instead(*lookalike(0xA0)) == "a blank");
  CHECK(expected_instead(*lookalike(0x200B)) == "nothing there");
  CHECK(expected_instead(*lookalike(0x2013)) == "'-'");
  CHECK(lookalike(0xFF01)->ascii == "!");
  CHECK(lookalike(0xFF32)->name == "a full-width 'R'");
  CHECK(lookalike(0xFF5E)->ascii == "~");
  for (const std::uint32_t other : {0x00U, 0x41U, 0xE9U, 0xFF00U, 0xFF5FU, 0x1F600U}) {
    CHECK_FALSE(lookalike(other));
  }
  CHECK(code_point_text(0xA0) == "U+00A0");
  CHECK(code_point_text(0x1F600) == "U+1F600");
}

}  // namespace flashlab::test
