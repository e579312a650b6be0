// Markdown, plots and short texts in the terminal, letter by letter.
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/terminal/code_block.hpp"
#include "cli/terminal/markdown_text.hpp"
#include "cli/terminal/plot.hpp"
#include "cli/terminal/text_table.hpp"
#include "tests/cli/command.hpp"

namespace flashlab::cli {
namespace {

const Terminal kPlainForty{40, false, false};
const Terminal kColourForty{40, true, true};

std::string in_forty(const std::string& markdown) { return markdown_text(markdown, kPlainForty); }

}  // namespace

TEST_CASE("headings are underlined, with blank lines around them") {
  CHECK(in_forty("# One\ntext\n## Two\nmore\n") == "One\n===\n\ntext\n\nTwo\n---\n\nmore\n");
  CHECK(in_forty("###### Six\n") == "Six\n---\n");
  CHECK(in_forty("####### Seven\n") == "####### Seven\n");  // seven signs are no heading
  CHECK(in_forty("#none\n") == "#none\n");
  CHECK(in_forty("##\n") == "##\n");
  CHECK(in_forty("").empty());
  CHECK(in_forty("\n\na\n\n\nb\n") == "a\n\nb\n");
}

TEST_CASE("lists hang, with bullets and up to three digits") {
  CHECK(in_forty("- a\n  b\n* c\n") == "- a b\n* c\n");
  CHECK(in_forty("1. a\n12. b\n123. c\n") == "1. a\n12. b\n123. c\n");
  CHECK(in_forty("a\n1234. b\n") == "a 1234. b\n");  // no bullet, but the text before it
  CHECK(in_forty("  - a\n") == "  - a\n");
  CHECK(in_forty("- " + std::string(20, 'a') + " " + std::string(20, 'b') + "\n") ==
        "- " + std::string(20, 'a') + "\n  " + std::string(20, 'b') + "\n");
}

TEST_CASE("code keeps its lines, indented by four") {
  CHECK(in_forty("```\na  b\n\nc\n```\nd\n") == "    a  b\n\n    c\nd\n");
  CHECK(in_forty("    a  b\n      c\nd\n") == "    a  b\n      c\nd\n");
  CHECK(in_forty("   a\n") == "a\n");  // three blanks are no code
  CHECK(in_forty("\ta\n") == "    a\n");
  CHECK(in_forty("```\nnever ends\n") == "    never ends\n");
}

TEST_CASE("code that is too wide continues as what it is") {
  using Lines = std::vector<std::string>;
  const auto fitted = [](const char* code, const char* language = "text") {
    return fitted_code({code}, 26, language);
  };
  CHECK(fitted("; a comment of more columns") == Lines{"; a comment of more", "; columns"});
  CHECK(fitted("MUL R0, R1   ; the sum so far") ==
        Lines{"MUL R0, R1   ; the sum so", "             ; far"});
  CHECK(fitted("x = one + two + three + four") == Lines{"x = one + two + three +", "    four"});
  CHECK(fitted("name  a text of several words") == Lines{"name  a text of several", "      words"});
  CHECK(fitted("run --one 1 --two 2 --three", "sh") ==
        Lines{"run --one 1 --two 2 \\", "    --three"});
  CHECK(fitted("run \"a b c\" | grep \"c d e f\"", "sh") ==
        Lines{"run \"a b c\" |", "    grep \"c d e f\""});
  CHECK(fitted("twentysixlettersinone+sigma2") == Lines{"twentysixlettersinone+sigm", "    a2"});
}

TEST_CASE("a printed table that is too wide continues below with its names") {
  using Lines = std::vector<std::string>;
  CHECK(fitted_code({"  n   first  second  third",  //
                     "  ────────────────────────",  //
                     "  1      10      20     30",  //
                     "  2      11      21     31"},
                    24) == Lines{"  n   first  second",  //
                                 "  ─────────────────",  //
                                 "  1      10      20",  //
                                 "  2      11      21",  //
                                 "",                     //
                                 "  n  third",           //
                                 "  ────────",           //
                                 "  1     30",           //
                                 "  2     31"});
  // Two columns tell these rows apart.
  CHECK(fitted_code({"d   step  cycles  waiting",  //
                     "64  one       10       20",  //
                     "64  two       11       21"},
                    24) == Lines{"d   step  cycles",   //
                                 "64  one       10",   //
                                 "64  two       11",   //
                                 "",                   //
                                 "d   step  waiting",  //
                                 "64  one        20",  //
                                 "64  two        21"});
}

TEST_CASE("a command in a text is not broken if it fits on a line, also in colour") {
  const std::string text = "First of all, try `flashlab run naive`, then `flashlab isa`.\n";
  CHECK(in_forty(text) == "First of all, try `flashlab run naive`,\nthen `flashlab isa`.\n");
  CHECK(in_forty("Now and then, when needed, " + text) ==
        "Now and then, when needed, First of all,\ntry `flashlab run naive`, then\n"
        "`flashlab isa`.\n");
  CHECK(markdown_text("Now and then, when needed, see `flashlab run x`\n", kColourForty) ==
        "Now and then, when needed, see\n\x1b[34mflashlab run x\x1b[0m\n");
  CHECK(in_forty("See `flashlab run naive --no-outputs | grep loads`.\n") ==
        "See\n`flashlab run naive --no-outputs |\n    grep loads`.\n");
}

TEST_CASE("words in a line may be bold, code or links") {
  CHECK(in_forty("a **b** `c` [d](e)\n") == "a b `c` d (e)\n");
  CHECK(in_forty("**a\n") == "**a\n");
  CHECK(in_forty("`` a\n") == "`` a\n");
  CHECK(in_forty("[a] b [c](d)\n") == "[a] b c (d)\n");
  CHECK(in_forty("[a](b\n") == "[a](b\n");
  CHECK(markdown_text("**a** `b`", kColourForty) == "\x1b[1ma\x1b[0m \x1b[34mb\x1b[0m\n");
  CHECK(markdown_text("# A", kColourForty) == "\x1b[1mA\x1b[0m\n");
}

TEST_CASE("signs become letters where the terminal has no Unicode") {
  CHECK(in_forty("… × · − – ≤ ≥ ≈ ∘ → ′ ² ³ ∞\n") == "... x * - - <= >= ~ o -> ' ^2 ^3 inf\n");
  CHECK(markdown_text("a × b\r\n", kColourForty) == "a × b\n");
  CHECK(in_forty("a\x01z\n") == "a?z\n");
}

TEST_CASE("a table of Markdown is a table") {
  CHECK(in_forty("a\n| x | yy |\n|---|:-:|\n| 1 | 2 |\n|3|\n\nb\n") ==
        "a\n  x   yy\n  ------\n  1   2\n  3\n\nb\n");
}

TEST_CASE("numbers of an axis have a prefix from ten thousand on") {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},         {0.125, "0.125"},  {9999, "9999"}, {10000, "10k"},   {12345, "12.3k"},
      {-20000, "-20k"}, {1e6, "1M"},       {1e9, "1G"},    {2.5e12, "2.5T"}, {1e15, "1P"},
      {1e18, "1e+18"},  {-1e18, "-1e+18"}, {9e17, "900P"}};
  for (const auto& [value, text] : cases) CHECK(short_number(value) == text);
}

TEST_CASE("values grow by factors if their last step is more than three times the first") {
  CHECK(looks_geometric({1, 2, 4, 8}));
  CHECK_FALSE(looks_geometric({1, 2, 4}));          // too few
  CHECK_FALSE(looks_geometric({1, 2, 5, 8}));       // three times
  CHECK_FALSE(looks_geometric({2, 3, 7.9, 15.9}));  // not by eight in all
  CHECK(looks_geometric({2, 3, 7.9, 16}));
  CHECK_FALSE(looks_geometric({-1, 2, 4, 80}));
  CHECK_FALSE(looks_geometric({}));
}

TEST_CASE("digits stand in groups of three, things in numbers") {
  CHECK(grouped("-1234") == "-1234");
  CHECK(grouped("-12345") == "-12 345");
  CHECK(grouped("123456") == "123 456");
  CHECK(grouped("1234567") == "1 234 567");
  CHECK(grouped_number(std::int64_t{-1000000}) == "-1 000 000");
  CHECK(grouped_number(std::uint64_t{18446744073709551615U}) == "18 446 744 073 709 551 615");
  CHECK(counted(0, "head") == "0 heads");
  CHECK(counted(1, "head") == "1 head");
  CHECK(counted(2, "head") == "2 heads");
}

TEST_CASE("two texts stand side by side if both and four blanks fit") {
  CHECK(side_by_side("a\nbbb\n", "x\ny\nz\n", {9, false, false}) ==
        "a      x\nbbb    y\n       z\n");
  CHECK(side_by_side("aaa\n", "x\n", {8, false, false}) == "aaa    x\n");
  CHECK(side_by_side("aaa\n", "x\n", {7, false, false}).empty());
  CHECK(side_by_side("a\nb\n", "x\n", {20, false, false}) == "a    x\nb\n");
}

TEST_CASE("a table with an empty cell, a missing cell and no titles") {
  TextTable table({{""}, {"", Align::kRight}});
  CHECK(table.empty());
  table.row({"a"});
  table.row({"", "12"});
  CHECK_FALSE(table.empty());
  CHECK(table.to_string(kPlainForty) == "  a\n      12\n");
  CHECK(TextTable({}).to_string(kPlainForty).empty());
  TextTable styled_table({{"t"}});
  styled_table.row({"x"});
  CHECK(styled_table.to_string(kColourForty) == "\x1b[1m  t\x1b[0m\n\x1b[2m  ─\x1b[0m\n  x\n");
}

TEST_CASE("styles are codes around a text, if there are colours and a text") {
  const std::pair<Style, const char*> codes[] = {{Style::kBold, "1"},    {Style::kDim, "2"},
                                                 {Style::kRed, "31"},    {Style::kGreen, "32"},
                                                 {Style::kYellow, "33"}, {Style::kBlue, "34"}};
  for (const auto& [style, code] : codes) {
    CHECK(styled("a", style, kColourForty) == "\x1b[" + std::string(code) + "ma\x1b[0m");
    CHECK(styled("a", style, kPlainForty) == "a");
  }
  CHECK(styled("", Style::kRed, kColourForty).empty());
}

// Six lines have room for two steps of 5. Left of the drawing: two blanks, "10", a blank, the axis.
TEST_CASE("a plot has its marks at the ends, its axes and its numbers") {
  const std::string text =
      plot({{"a", {{0, 0}, {10, 10}}}}, {"n", 6, false, false}, {26, false, false});
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  REQUIRE(lines.size() == 10);  // the legend, 6 rows, the axis, its numbers, its name
  CHECK(lines[0] == "      * a");
  CHECK(lines[1].starts_with("  10 +"));
  CHECK(lines[1].ends_with("*"));
  CHECK(lines[1].size() == 6 + 17);  // 26 - (6 + 3) columns
  CHECK(lines[2].starts_with("     |"));
  CHECK(lines[6].starts_with("   0 +*"));
  CHECK(lines[7].starts_with("     +"));
  CHECK(lines[7].size() == 6 + 17);
  CHECK(lines[8].starts_with("      0"));
  CHECK(lines[9] == std::string(22, ' ') + "n");
}

TEST_CASE("several series have several marks, in their order") {
  const std::string text =
      plot({{"one", {{1, 1}, {2, 3}}}, {"none", {}}, {"two", {{1, 2}, {2, 1}}}},
           {"n", 8, false, false}, kPlainForty);
  CHECK_THAT(text, test::contains("* one   + two\n"));
  CHECK_THAT(text, !test::contains("none"));
}

TEST_CASE("width and letters of a terminal come from flags before the environment") {
  const test::Workplace place;
  const auto widest = [&](const std::string& line) {
    return test::widest_line(place.shell(line + " flashlab isa | cat").out);
  };
  CHECK(widest("COLUMNS=60") <= 60);
  CHECK(widest("COLUMNS=0") <= 80);
  CHECK(widest("COLUMNS=none") <= 80);
  const auto is_unicode = [&](const std::string& line) {
    const std::string out = place.shell(line).out;
    return std::any_of(out.begin(), out.end(), [](char c) { return (c & 0x80) != 0; });
  };
  CHECK(is_unicode("LC_ALL= LANG=de_DE.UTF-8 flashlab tour"));
  CHECK(is_unicode("LC_ALL= LC_CTYPE=C.utf8 LANG=C flashlab tour"));
  CHECK_FALSE(is_unicode("LC_ALL= LC_CTYPE=C LANG=de_DE.UTF-8 flashlab tour"));
  CHECK_FALSE(is_unicode("LC_ALL=C LC_CTYPE=C.UTF-8 flashlab tour"));
  CHECK_FALSE(is_unicode("LC_ALL= LC_CTYPE= LANG= flashlab tour"));
}

}  // namespace flashlab::cli
