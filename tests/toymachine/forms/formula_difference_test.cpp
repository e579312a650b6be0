#include "toymachine/forms/formula_difference.hpp"

#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::toy;

/// "a[0]*x + a[1]*x + …": longer than what is shown as it is.
std::string sum_of(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) {
    text += (text.empty() ? "" : " + ") + ("a[" + std::to_string(i) + "]*some_value");
  }
  return text;
}

}  // namespace

TEST_CASE("short formulas are shown as they are", "[difference]") {
  const FormulaDifference both = formula_difference("a + b", "a - b");
  CHECK(both.one == "a + b");
  CHECK(both.other == "a - b");
}

TEST_CASE("long formulas are shown without the terms that both have", "[difference]") {
  const FormulaDifference both = formula_difference(sum_of(0, 9), sum_of(0, 8) + " - b");
  CHECK(both.one == "a[8]*some_value + ... (8 equal terms)");
  CHECK(both.other == "-b + ... (8 equal terms)");
}

TEST_CASE("quotients are compared above and below the line", "[difference]") {
  const FormulaDifference both =
      formula_difference("c/(" + sum_of(0, 9) + ")", "d/(" + sum_of(0, 10) + ")");
  CHECK(both.one == "c/(a[0]*some_value + ... (8 equal terms))");
  CHECK(both.other == "d/(a[9]*some_value + ... (9 equal terms))");
}

TEST_CASE("a single long term is shown around the place where it differs", "[difference]") {
  const std::string start = "e^(" + std::string(300, 'x');
  const FormulaDifference both = formula_difference(start + "*one)", start + "*two)");
  CHECK(both.one.size() < 160);
  CHECK(both.one.find("*one)") != std::string::npos);
  CHECK(both.other.find("*two)") != std::string::npos);
}

TEST_CASE("what is left out of many differing terms is counted", "[difference]") {
  const FormulaDifference both = formula_difference(sum_of(0, 20), sum_of(20, 40));
  CHECK(both.one.find(" more terms)") != std::string::npos);
  CHECK(both.one.find("equal") == std::string::npos);
}
