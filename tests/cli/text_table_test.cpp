// Tables and plots, apart from the command.
#include "cli/terminal/text_table.hpp"

#include "cli/terminal/plot.hpp"
#include "tests/cli/command.hpp"

namespace flashlab::cli {
namespace {

using test::contains;

const Terminal kNarrow{40, false, false};

TEST_CASE("numbers stand right, words left, and no line ends in blanks") {
  TextTable table({{"counter"}, {"all", Align::kRight}});
  table.row({"loads", "8"});
  table.rule();
  table.row({"cycles", "1234"});
  CHECK(table.to_string(kNarrow) ==
        "  counter    all\n"
        "  --------------\n"
        "  loads        8\n"
        "  --------------\n"
        "  cycles    1234\n");
}

TEST_CASE("a long cell is wrapped between words") {
  TextTable table({{"name"}, {"what it is"}});
  table.row({"a", "one two three four five six seven eight nine"});
  const std::string text = table.to_string(kNarrow);
  CHECK(test::widest_line(text) <= 40);
  CHECK_THAT(text, contains("  a      one two three"));
}

TEST_CASE("a table that needs two blocks gives each the whole width") {
  TextTable table({{"name"}, {"first"}, {"second"}});
  table.row({"a", "one two three four", "aaaaaaaaaaaaaaaaaaaa bbbbbbbb"});
  CHECK(table.to_string(kNarrow) ==
        "  name   first\n"
        "  -------------------------\n"
        "  a      one two three four\n"
        "\n"
        "  name   second\n"
        "  ------------------------------------\n"
        "  a      aaaaaaaaaaaaaaaaaaaa bbbbbbbb\n");
}

TEST_CASE("an indented cell goes on further in") {
  TextTable table({{"name"}, {"loads", Align::kRight}});
  table.row({"all loads of a program and of its passes together", "12"});
  table.row({"  the part of the last pass that is counted", "3"});
  CHECK_THAT(table.to_string(kNarrow), contains("  all loads of a program and of       12\n"
                                                "  its passes together\n"
                                                "    the part of the last pass          3\n"
                                                "      that is counted\n"));
}

TEST_CASE("no name in a table is broken at any width, and a path only after slashes") {
  const std::string name = "bwd_onepass_mma_tf32_sm80",
                    path = "/home/ada/attention/a_long_name.json",
                    part = "its_sum_of_squares_at_once";
  TextTable table({{"kernel"}, {"file"}, {"the_number_of_calls", Align::kRight}, {"what it does"}});
  table.row({name, path, "1234567", "adds dQ with " + part});
  table.row({"  of " + name, "", "2", ""});
  for (std::size_t width = 1; width <= 200; ++width) {
    INFO(width);
    const std::string text = table.to_string({width, false, false});
    for (const std::string& word :
         {name, part, std::string("attention/"), std::string("a_long_name.json"),
          std::string("the_number_of_calls"), std::string("1234567")}) {
      REQUIRE_THAT(text, contains(word));
    }
    if (width >= 80) REQUIRE_THAT(text, contains(path));
  }
}

TEST_CASE("columns that do not fit come in a further block with the first column again") {
  TextTable table({{"x"}, {"aaaaaaaaaaaaaaaa"}, {"bbbbbbbbbbbbbbbb"}, {"cccccccccccccccc"}});
  std::vector<Column> columns{{"n", Align::kRight}};
  for (int i = 0; i < 5; ++i) columns.push_back({"counter" + std::to_string(i), Align::kRight});
  TextTable wide(columns);
  wide.row({"1", "2", "3", "4", "5", "6"});
  const std::string text = wide.to_string(kNarrow);
  CHECK(test::widest_line(text) <= 40);
  CHECK_THAT(text, contains("counter4"));
  CHECK_THAT(text, contains("\n\n  n "));
}

TEST_CASE(
    "short columns take no more than they need, so that a heading wraps before a column moves "
    "below") {
  TextTable table({{"name"}, {"type"}, {"of all rows", Align::kRight}, {"time", Align::kRight}});
  table.row({"a_kernel_s_name", "bf16", "24", "1.05"});
  const std::string text = table.to_string(kNarrow);
  CHECK(test::widest_line(text) <= 40);
  CHECK(std::count(text.begin(), text.end(), 'k') == 1);  // one block
}

TEST_CASE("digits are grouped from five on") {
  CHECK(grouped("1234") == "1234");
  CHECK(grouped("12345") == "12 345");
  CHECK(grouped("-1234567") == "-1 234 567");
}

TEST_CASE("axis numbers are short") {
  CHECK(short_number(950) == "950");
  CHECK(short_number(1024) == "1024");
  CHECK(short_number(12000) == "12k");
  CHECK(short_number(3.4e6) == "3.4M");
  CHECK(short_number(999499) == "999k");
  CHECK(short_number(999999) == "1M");  // not 1e+03k
}

TEST_CASE("a plot has a mark for each point that does not share its place") {
  const std::vector<Series> series{{"loads", {{1, 10}, {2, 20}, {3, 30}}}};
  const std::string text = plot(series, {"n", 10, false, false}, kNarrow);
  CHECK(std::count(text.begin(), text.end(), '*') == 4);  // three points and the legend
  CHECK_THAT(text, contains("* loads"));
  CHECK(test::widest_line(text) <= 40);
}

TEST_CASE("a plot survives no points, one point, equal values and huge ones") {
  CHECK(plot({}, {}, kNarrow).empty());
  CHECK(plot({{"a", {}}}, {}, kNarrow).empty());
  CHECK_FALSE(plot({{"a", {{3, 0}}}}, {"n", 8, true, true}, kNarrow).empty());
  CHECK_FALSE(plot({{"a", {{3, 5}, {4, 5}}}}, {"n", 8, false, true}, kNarrow).empty());
  CHECK_FALSE(plot({{"a", {{1, 1}, {1e18, 1e30}}}}, {"n", 8, true, true}, kNarrow).empty());
  CHECK_FALSE(plot({{"a", {{-5, 1}, {1e18, 1e300}}}}, {"n", 8, false, false}, kNarrow).empty());
}

TEST_CASE("doubling looks geometric, counting does not") {
  CHECK(looks_geometric({8, 16, 32, 64}));
  CHECK_FALSE(looks_geometric({3, 4, 5, 6, 7}));
  CHECK_FALSE(looks_geometric({0, 1, 10, 100}));
}

}  // namespace
}  // namespace flashlab::cli
