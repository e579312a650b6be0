// Inputs: where their values come from, and what is wrong with those that do not fit.
#include "toymachine/execute/dram.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "tests/catch_shim.hpp"
#include "toymachine/execute/number_list.hpp"

namespace flashlab::toy {
namespace {

using test::contains;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A program with the input x[rows][columns] and the output o[1], without its text.
BoundProgram machine(std::vector<std::int64_t> extents, ElementType type = ElementType::kFloat) {
  BoundProgram bound;
  bound.program = std::make_shared<Program>();
  BoundArray x;
  x.name = "x";
  x.element_type = type;
  x.size = 1;
  for (const std::int64_t extent : extents) x.size *= extent;
  x.extents = std::move(extents);
  BoundArray o;
  o.name = "o";
  o.role = ArrayRole::kOutput;
  o.extents = {1};
  o.size = 1;
  o.offset = x.size;
  bound.dram_elements = x.size + 1;
  bound.arrays = {x, o};
  return bound;
}

Result<std::vector<double>> fill(const BoundProgram& bound, const std::string& text) {
  const Result<InputSource> source = parse_input_source(text);
  REQUIRE(source);
  return initial_dram(bound, {{"x", *source}});
}

std::string fill_error(const Result<std::vector<double>>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.diagnostics.front().fault == Fault::kRequest);
  return result.diagnostics.front().what;
}

TEST_CASE("random inputs are the same on every platform") {
  // The first numbers of mt19937_64 with seed 7, mapped by hand: the engine is fixed by the
  // standard.
  std::mt19937_64 engine(7);
  const double expected = static_cast<double>(engine() >> 11) / 9007199254740992.0 * 2 - 1;
  const auto dram = fill(machine({4}, ElementType::kDouble), "random:7");
  REQUIRE(dram);
  CHECK((*dram)[0] == expected);
  // mt19937_64's 10000th number from its default seed is given by the standard.
  const auto many = fill(machine({10000}, ElementType::kDouble), "random:5489:0:1");
  CHECK((*many)[9999] == static_cast<double>(9981545732273789042ULL >> 11) * 0x1p-53);
}

TEST_CASE("random inputs stay in their range") {
  const auto dram = fill(machine({1000}, ElementType::kDouble), "random:1:-100:100");
  REQUIRE(dram);
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK((*dram)[i] >= -100);
    CHECK((*dram)[i] < 100);
  }
}

TEST_CASE("an input without a source is random by its name, other cells are unwritten") {
  const BoundProgram bound = machine({3});
  const auto dram = initial_dram(bound, {});
  REQUIRE(dram);
  CHECK(std::isnan((*dram)[3]));
  CHECK((*dram)[0] != (*dram)[1]);
  BoundProgram renamed = bound;
  renamed.arrays[0].name = "y";
  CHECK((*initial_dram(renamed, {}))[0] != (*dram)[0]);
}

TEST_CASE("inputs that are drawn in parts are those that are drawn at once") {
  BoundProgram bound = machine({1000}, ElementType::kBf16);
  const auto whole = initial_dram(bound, {{"x", RandomInput{7, -100, 100}}});
  auto parts = InitialDram::make(bound, {{"x", RandomInput{7, -100, 100}}});
  REQUIRE(whole);
  REQUIRE(parts);
  std::vector<double> cells(1000);
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time from the first value again
    std::fill(cells.begin(), cells.end(), 0);
    parts->fill(0, 0, std::span(cells).first(1));
    parts->fill(0, 1, std::span(cells).subspan(1, 99));
    parts->fill(0, 100, std::span(cells).subspan(100));
    CHECK(std::equal(cells.begin(), cells.end(), whole->begin()));
  }
}

TEST_CASE("a random input whose largest values do not fit is refused before it is drawn") {
  const BoundProgram bound = machine({1000}, ElementType::kFp16);
  const auto error = InitialDram::make(bound, {{"x", RandomInput{7, 0, 1e9}}});
  REQUIRE_FALSE(error);
  CHECK_THAT(error.diagnostics[0].what, Catch::Matchers::Contains("does not fit"));
}

TEST_CASE("values are rounded to the array's type") {
  CHECK((*fill(machine({1}), "[0.1]"))[0] == static_cast<double>(0.1F));
  CHECK((*fill(machine({1}, ElementType::kDouble), "[0.1]"))[0] == 0.1);
  CHECK(round_to(ElementType::kBf16, 1.00390625) == 1.0);  // a tie goes to even
  CHECK(round_to(ElementType::kBf16, 1.01171875) == 1.015625);
  CHECK(round_to(ElementType::kFp16, 65504) == 65504);
  CHECK(round_to(ElementType::kFp16, 65520) == kInfinite);
  CHECK(round_to(ElementType::kFp16, 0x1p-24) == 0x1p-24);  // the least subnormal number
  CHECK(round_to(ElementType::kFp16, 0x1p-26) == 0);
  CHECK(round_to(ElementType::kFloat, 3.5e38) == kInfinite);
  CHECK(round_to(ElementType::kFloat, -kInfinite) == -kInfinite);
}

TEST_CASE("lists come in the array's shape") {
  const BoundProgram bound = machine({2, 3});
  const auto dram = fill(bound, "[[1, 2, -inf], [4, 5e-1, +6]]");
  REQUIRE(dram);
  CHECK(std::vector<double>(dram->begin(), dram->begin() + 6) ==
        std::vector<double>{1, 2, -kInfinite, 4, 0.5, 6});
  CHECK(fill_error(fill(bound, "[1, 2, 3, 4, 5, 6]")) == "input x has 6 values");
  CHECK(fill_error(fill(bound, "[[1, 2], [3, 4], [5, 6]]")) == "input x has 3 x 2 values");
  CHECK((*fill(machine({0}), "[]")).size() == 1);
  CHECK((*fill(machine({2, 0}), "[[], []]")).size() == 1);
}

TEST_CASE("JSON lists say where they are wrong") {
  const auto error = [](const std::string& text) {
    const auto list = detail::parse_json_list(text, "x.json");
    REQUIRE_FALSE(list);
    return list.diagnostics.front().what;
  };
  CHECK(error("") == "x.json:1:1: a list must start with '['");
  CHECK(error("[1,\n 2,,3]") == "x.json:2:4: a value is missing");
  CHECK(error("[1, 2,]") == "x.json:1:7: a value is missing");
  CHECK(error("[[1, 2], [3]]") == "x.json:1:10: a list has 1 items, the ones before it had 2");
  CHECK(error("[[1], 2]") == "x.json:1:7: found a number instead of a list");
  CHECK(error("[1, [2]]") == "x.json:1:5: found a list instead of a number");
  CHECK(error("[[], 1]") == "x.json:1:6: found a number instead of a list");
  CHECK(error("[1, two]") == "x.json:1:5: 'two' is not a number");
  CHECK(error("[null]") == "x.json:1:2: 'null' is not a number");
  CHECK(error("[1] [2]") == "x.json:1:5: something follows the list");
  CHECK(error(std::string(100'000, '[')) == "x.json:1:17: lists are nested too deeply");
  CHECK(error("[1e999]") == "x.json:1:2: '1e999' does not fit into a double");
  CHECK(error("[\"inf\"]") == "x.json:1:2: +inf is not a value of this machine");
  CHECK(detail::parse_json_list("[\"-inf\", -Infinity]", "x.json")->values.size() == 2);
}

TEST_CASE("CSV tables say where they are wrong") {
  const auto error = [](const std::string& text) {
    const auto table = detail::parse_csv(text, "x.csv");
    REQUIRE_FALSE(table);
    return table.diagnostics.front().what;
  };
  CHECK(error("1,2\n\n3,,4\n") == "x.csv: line 3, column 2: a number is missing");
  CHECK(error("1;2\n3;4,5\n") == "x.csv: line 2, column 2: '4,5' is not a number");
  CHECK_THAT(error("1,5;2\n"), contains("line 1, column 1: there are semicolons"));
  CHECK_THAT(error("1,5\t2\n"), contains("line 1, column 1: there are tabs"));
  CHECK(error("\"1,5\",2\n") == "x.csv: line 1, column 1: '1,5' is not a number");
  CHECK(error("\"1,2\n") == "x.csv: line 1, column 1: '\"1' is not a number");
  CHECK(error("1,2\n3\n") == "x.csv: line 2 has 1 values, the rows before 2");
  CHECK(error("1,\n") == "x.csv: line 1, column 2: a number is missing");
  CHECK(error(std::string("1\0,2", 4)) == "x.csv: line 1, column 1: '1?' is not a number");
  const auto table = detail::parse_csv("\xEF\xBB\xBF# title\r\n 1 , -inf\r\n3,4", "x.csv");
  REQUIRE(table);
  CHECK(table->shape == std::vector<std::int64_t>{2, 2});
}

TEST_CASE("CSV tables of spreadsheets are read: quotes, semicolons, tabs") {
  const std::vector<double> expected{1, 2.5, 3, -4};
  for (const char* text :
       {"1,2.5\n3,-4\n", "\"1\",\"2.5\"\r\n\"3\", \"-4\" \r\n", "1;2.5\n3;-4", "1\t2.5\n3\t-4\n",
        "1;\"2.5\"\n\n# two\n3 ; -4\n", "1,\t2.5\n3 ,\t-4\n"}) {
    CAPTURE(text);
    const auto table = detail::parse_csv(text, "x.csv");
    REQUIRE(table);
    CHECK(table->values == expected);
    CHECK(table->shape == std::vector<std::int64_t>{2, 2});
  }
}

TEST_CASE("numbers are read whole or not at all") {
  for (const char* text : {"2", "+2", "-0.5", "1e-3", "-inf", "-Infinity", ".5", "5."}) {
    CAPTURE(text);
    CHECK(detail::parse_number(text));
  }
  for (const char* text :
       {"", "+", "-", "+-2", "2x", "0x10", "inf", "nan", "-nan", "1e999", "1 2"}) {
    CAPTURE(text);
    CHECK_FALSE(detail::parse_number(text));
  }
}

TEST_CASE("an input that nobody declared is answered with a near miss") {
  BoundProgram bound = machine({2});
  bound.arrays[0].name = "values";
  const auto unknown = initial_dram(bound, {{"valeus", ConstantInput{1}}});
  CHECK(fill_error(unknown) == "the program has no input 'valeus'");
  CHECK(unknown.diagnostics.front().suggestion == "values");
  CHECK_THAT(fill_error(initial_dram(bound, {{"o", ConstantInput{1}}})), contains("writes it"));
}

}  // namespace
}  // namespace flashlab::toy
