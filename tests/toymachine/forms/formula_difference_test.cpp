#include "toymachine/forms/formula_difference.hpp"

#include <algorithm>
#include <string>

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
  CHECK(both.one == "a[8]*some_value + ... (8 terms are the same)");
  CHECK(both.other == "-b + ... (8 terms are the same)");
}

TEST_CASE("quotients are compared above and below the line", "[difference]") {
  const FormulaDifference both =
      formula_difference("c/(" + sum_of(0, 9) + ")", "d/(" + sum_of(0, 10) + ")");
  CHECK(both.one == "c/(a[0]*some_value + ... (8 terms are the same))");
  CHECK(both.other == "d/(a[9]*some_value + a[0]*some_value + ... (8 terms are the same))");
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

TEST_CASE("what both have inside of parentheses is left out", "[difference]") {
  const std::string start = "v*e^(" + sum_of(0, 9) + ")";
  const FormulaDifference both = formula_difference(start + "/l", start + "/m");
  CHECK(both.one == "v*e^(...)/l");
  CHECK(both.other == "v*e^(...)/m");
}

TEST_CASE("inside of parentheses the terms that both have are left out", "[difference]") {
  const FormulaDifference both =
      formula_difference("v*e^(" + sum_of(0, 9) + " - m)", "v*e^(" + sum_of(0, 9) + ")");
  CHECK(both.one == "v*e^(-m + a[0]*some_value + ... (8 terms are the same))");
  CHECK(both.other == "v*e^(a[0]*some_value + ... (8 terms are the same))");
}

TEST_CASE("a factor that one term has more is shown, and not what both have", "[difference]") {
  const std::string sum = "e^(" + sum_of(0, 9) + ")";
  const FormulaDifference both = formula_difference("p*" + sum + "*v", "p*" + sum + "*e^(x - m)*v");
  CHECK(both.one == "p*e^(...)*v");
  CHECK(both.other == "p*e^(...)*e^(x - m)*v");
}

TEST_CASE("formulas that differ are never shown as the same text", "[difference]") {
  const std::string long_term = "a[0]*b[0]*c[0]*d[0]*e[0]*f[0]*g[0]*h[0]*i[0]*j[0]*k[0]*";
  const auto both = formula_difference(long_term + long_term + long_term + "x*" + long_term,
                                       long_term + long_term + long_term + long_term, 60);
  CHECK(both.one != both.other);
  const auto nested =
      formula_difference("max(" + sum_of(0, 9) + ", e^(" + sum_of(0, 8) + " + x))*e^(z)",
                         "max(" + sum_of(0, 9) + ", e^(" + sum_of(0, 8) + " + y))*f", 60);
  CHECK(nested.one != nested.other);
}

TEST_CASE("a long term is cut between its factors", "[difference]") {
  std::string start;
  for (int i = 0; i < 20; ++i) start += "row[" + std::to_string(i) + "][10]*";
  const FormulaDifference both = formula_difference(start + "one", start + "two", 60);
  CAPTURE(both.one);
  CHECK(both.one.starts_with("... *row["));
  CHECK(both.one.ends_with("*one"));
  CHECK(both.other.ends_with("*two"));
}

TEST_CASE("of a formula that has no term of its own one is shown, and not all left out",
          "[difference]") {
  const FormulaDifference both = formula_difference(sum_of(0, 6), sum_of(0, 5));
  CHECK(both.one == "a[5]*some_value + a[0]*some_value + ... (4 terms are the same)");
  CHECK(both.other == "a[0]*some_value + ... (4 terms are the same)");
  const FormulaDifference three =
      formula_difference("max(" + sum_of(0, 3) + ", x, y)", "max(" + sum_of(0, 3) + ", x)", 40);
  CHECK(three.one.find('y') != std::string::npos);
  CHECK(three.other.find("(... (") == std::string::npos);
}

TEST_CASE("no formula is cut inside of an index or between an operator and its term",
          "[difference]") {
  const std::string score = "scale*k[0][0]*q[1][0] + scale*k[0][1]*q[1][1]";
  const std::string other = "scale*k[1][0]*q[1][0] + scale*k[1][1]*q[1][1]";
  const std::string formula = "max(" + score + ", " + other + ")";
  for (std::size_t room = 0; room < formula.size(); ++room) {
    const std::string shown = shortened_formula(formula, room);
    const FormulaDifference both =
        formula_difference("v[0][0]*e^" + formula, "v[0][0]*e^(2*" + formula + ")", room);
    for (const std::string& text : {shown, both.one, both.other}) {
      CAPTURE(room, text);
      CHECK(std::count(text.begin(), text.end(), '[') == std::count(text.begin(), text.end(), ']'));
      CHECK(std::count(text.begin(), text.end(), '(') == std::count(text.begin(), text.end(), ')'));
      CHECK(text.find("+ ...,") == std::string::npos);
      CHECK(text.find("q[1][0] ...") == std::string::npos);
    }
  }
}

TEST_CASE("of arguments of a maximum those that differ are shown", "[difference]") {
  const std::string equal = "max(" + sum_of(0, 3) + ", " + sum_of(3, 6) + ", ";
  const FormulaDifference both = formula_difference(equal + "x)", equal + "y)");
  CHECK(both.one == "max(x, ... (2 terms are the same))");
  CHECK(both.other == "max(y, ... (2 terms are the same))");
}

TEST_CASE("a sum beside a quotient keeps both parts of the quotient", "[difference]") {
  const std::string sum = sum_of(0, 9);
  const FormulaDifference both =
      formula_difference("(" + sum + ")/(b + " + sum + ")", sum + " + c");
  CHECK(both.one ==
        "(a[0]*some_value + a[1]*some_value + a[2]*some_value + ... (6 more terms))/"
        "(b + a[0]*some_value + a[1]*some_value + a[2]*some_value + ... (6 more terms))");
  CHECK(
      both.other ==
      "a[0]*some_value + a[1]*some_value + a[2]*some_value + a[3]*some_value + "
      "a[4]*some_value + a[5]*some_value + a[6]*some_value + a[7]*some_value + ... (2 more terms)");
}

TEST_CASE("a shortened formula closes its parentheses and counts what it leaves out",
          "[difference]") {
  const std::string sum = sum_of(0, 9);
  CHECK(shortened_formula("(" + sum + ")/(" + sum + ")", 60) ==
        "(a[0]*some_value + ... (8 more terms))/(a[0]*some_value + ... (8 more terms))");
  CHECK(shortened_formula("w*e^(" + sum + ")/l", 20) == "w*e^(...)/l");
  CHECK(shortened_formula("a + b", 5) == "a + b");
}

TEST_CASE("parentheses that are never closed are no groups", "[difference]") {
  const std::string open = "max(" + sum_of(0, 9), shown = shortened_formula(open, 40);
  CHECK(shown.starts_with("max(a[0]*some_value + a[1]*some_value"));
  CHECK(shown.ends_with(" ..."));
  CHECK(shown.size() < 50);
}

TEST_CASE("parentheses far inside of each other are shown around the place that differs",
          "[difference]") {
  for (const char* function : {"e^(", "max(b, "}) {
    std::string start, end;
    for (int i = 0; i < 300; ++i) {
      start += function;
      end += ")";
    }
    const FormulaDifference both = formula_difference(start + "x" + end, start + "y" + end);
    CAPTURE(both.one);
    CHECK(both.one.size() < 400);
    CHECK(both.one.find("x)") != std::string::npos);
    CHECK(both.other.find("y)") != std::string::npos);
  }
}
