#include "text/markdown.hpp"

#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

TEST_CASE("code in Markdown is fenced by more backticks than it has", "[markdown]") {
  CHECK(markdown_code("n*k") == "`n*k`");
  CHECK(markdown_code("a`b") == "``a`b``");
  CHECK(markdown_code("`a``b`") == "``` `a``b` ```");
}

TEST_CASE("a text that was put into Markdown comes out without its signs", "[markdown]") {
  for (const std::string text : {"n*k*m", "_o_", "a`b", "`a``b`", "``", "1 < 2 & 3 > 2", "a\\*b",
                                 "[x](y)", "**", "\\", "~~a~~", "#1", "", "`"}) {
    CAPTURE(text);
    CHECK(without_markdown(markdown_text(text)) == text);
    CHECK((text.empty() || without_markdown(markdown_code(text)) == text));
    CHECK(without_markdown("**" + markdown_text(text) + "**!") == text + "!");
  }
}

TEST_CASE("Markdown without its signs keeps paragraphs and blocks, and drops rules", "[markdown]") {
  CHECK(without_markdown("**x** an input of `n*k` elements\n\n---\n\n`LOAD` it") ==
        "x an input of n*k elements\n\nLOAD it");
  CHECK(without_markdown("a\n\n```text\nn*k **b** `c`\n---\n```\n") == "a\n\nn*k **b** `c`\n---");
  CHECK(without_markdown("an `open code") == "an `open code");
}

}  // namespace flashlab::test
