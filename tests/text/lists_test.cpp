// Texts are split, trimmed and joined.
#include "text/lists.hpp"

#include <map>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

using Parts = std::vector<std::string_view>;

TEST_CASE("a text has one part more than separators", "[text]") {
  CHECK(split_at("a:b", ':') == Parts{"a", "b"});
  CHECK(split_at(":b:", ':') == Parts{"", "b", ""});
  CHECK(split_at("", ':') == Parts{""});
}

TEST_CASE("blanks are removed at both ends, and not inside", "[text]") {
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed("\na ", " ") == "\na");
  CHECK(trimmed(" \t").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("a cell of a CSV file is quoted only if it must be", "[text]") {
  CHECK(csv_cell("a b;c") == "a b;c");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("a \"b\"") == "\"a \"\"b\"\"\"");
  CHECK(csv_cell("a\r") == "\"a\r\"");
  CHECK(csv_cell("a\nb") == "\"a\nb\"");
}

TEST_CASE("a list is joined with the texts of its entries", "[text]") {
  const std::vector<std::string> names{"n", "d"};
  CHECK(joined(names) == "n, d");
  CHECK(joined(names, " or ") == "n or d");
  CHECK(joined(std::vector<const char*>{}).empty());
  CHECK(joined(Parts{"", "a", ""}) == "a, ");
  const std::map<std::string, int> sizes{{"n", 4}, {"d", 2}};
  CHECK(joined(sizes, "; ", [](const auto& size) {
          return size.first + " = " + std::to_string(size.second);
        }) == "d = 2; n = 4");
  CHECK(joined(sizes, ",", &std::pair<const std::string, int>::first) == "d,n");
}

}  // namespace flashlab::test
