// Formulas as traces print them.
#include "toymachine/trace/symbol.hpp"

#include <cstdint>
#include <string>

#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::toy;  // NOLINT: a test of that namespace

Symbol cell(const std::string& array, std::int64_t i) {
  return Symbol::name(SymbolName{array, 0, {Subscript{i, "", false}}});
}

Symbol cell(const std::string& array, std::int64_t i, std::int64_t j) {
  return Symbol::name(SymbolName{array, 0, {Subscript{i, "", false}, Subscript{j, "", false}}});
}

Symbol primed(const std::string& name) { return Symbol::name(SymbolName{name, 1, {}}); }

std::string unicode_text(const Symbol& symbol) {
  return to_string(symbol, SymbolStyle{true, nullptr});
}

/// The sum of e^(x_i - m) for i below n, as a program adds it up.
Symbol exponential_sum(std::int64_t n) {
  const Symbol m = Symbol::name("m");
  Symbol sum = exponential(cell("x", 0) - m);
  for (std::int64_t i = 1; i < n; ++i) sum = sum + exponential(cell("x", i) - m);
  return sum;
}

Symbol maximum_of(std::int64_t n) {
  Symbol largest = cell("x", 0);
  for (std::int64_t i = 1; i < n; ++i) largest = maximum(cell("x", i), largest);
  return largest;
}

}  // namespace

TEST_CASE("a dot product reads as it was added up") {
  const Symbol first = cell("a", 0, 0) * cell("b", 0, 0);
  const Symbol sum = cell("a", 0, 1) * cell("b", 1, 0) + first;  // the product comes first in a MAC
  CHECK(to_string(first) == "a00*b00");
  CHECK(to_string(sum) == "a00*b00 + a01*b10");
  CHECK(unicode_text(sum) == "a₀₀·b₀₀ + a₀₁·b₁₀");
}

TEST_CASE("whole numbers are added up only where a float holds the sum") {
  const Symbol large = Symbol::number(16777216), one = Symbol::number(1);  // 2^24
  CHECK(to_string(large - one) == to_string(Symbol::number(16777215)));
  CHECK(to_string(large + one) == to_string(large) + " + 1");  // a float holds 2^24
  CHECK(to_string(large + one - large) != "1");
  CHECK(to_string(Symbol::number(4096) * Symbol::number(4096)) == to_string(large));
}

TEST_CASE("exponents, quotients and primes read as on paper") {
  const Symbol m = Symbol::name("m");
  const Symbol term = exponential(cell("x", 1) - m);
  CHECK(to_string(term) == "e^(x1 - m)");
  CHECK(unicode_text(term) == "e^(x₁−m)");
  CHECK(to_string(term / Symbol::name("S")) == "e^(x1 - m)/S");
  CHECK(to_string(exponential(m)) == "e^m");
  CHECK(to_string(Symbol::name("s") * exponential(m - primed("m"))) == "s*e^(m - m')");
  CHECK(unicode_text(Symbol::name("s") * exponential(m - primed("m"))) == "s·e^(m−m′)");
  CHECK(unicode_text(cell("x", 0) - primed("m")) == "x₀ − m′");
}

TEST_CASE("parentheses stand only where precedence asks for them") {
  const Symbol a = Symbol::name("a"), b = Symbol::name("b"), c = Symbol::name("c");
  CHECK(to_string((a + b) * c) == "(a + b)*c");
  CHECK(to_string(a + b * c) == "a + b*c");
  CHECK(to_string(a - (b + c)) == "a - (b + c)");
  CHECK(to_string(a - b - c) == "a - b - c");
  CHECK(to_string(a - (b - c)) == "a - (b - c)");
  CHECK(to_string(a + (b - c)) == "a + b - c");
  CHECK(to_string(a * (b * c)) == "a*b*c");
  CHECK(to_string(a * (b / c)) == "a*(b/c)");
  CHECK(to_string(a / (b * c)) == "a/(b*c)");
  CHECK(to_string(a * b / c) == "a*b/c");
  CHECK(to_string(exponential(exponential(a))) == "e^(e^a)");
  CHECK(to_string(maximum(a + b, c)) == "max(c, a + b)");
}

TEST_CASE("functions are written by name, and powers and reciprocals as on paper", "[symbol]") {
  const Symbol a = Symbol::name("a"), b = Symbol::name("b");
  const auto text = [](Operation operation, const Symbol& x, const Symbol& y = {}) {
    return to_string(symbol_of(operation, x, y));
  };
  CHECK(text(Operation::kMinimum, a, b) == "min(a, b)");
  CHECK(text(Operation::kMinimum, a, a) == "a");
  CHECK(text(Operation::kMinimum, a, Symbol::number(-HUGE_VAL)) == "-inf");
  CHECK(text(Operation::kMinimum, symbol_of(Operation::kMinimum, a, b), cell("x", 1)) ==
        "min(a, b, x1)");
  CHECK(text(Operation::kAbsolute, a - b) == "abs(a - b)");
  CHECK(text(Operation::kTanh, a / b) == "tanh(a/b)");
  CHECK(text(Operation::kReciprocalRoot, a) == "rsqrt(a)");
  CHECK(text(Operation::kReciprocal, a + b) == "1/(a + b)");
  CHECK(text(Operation::kBinaryExponential, a - b) == "2^(a - b)");
  CHECK(text(Operation::kBinaryExponential, Symbol::number(0)) == "1");
  CHECK(text(Operation::kBinaryExponential, exponential(a)) == "2^(e^a)");
  CHECK(text(Operation::kBinaryLogarithm, a) == "log2(a)");
  CHECK(text(Operation::kLess, a, b) == "less(a, b)");
  CHECK(text(Operation::kLess, a, a) == "0");
  CHECK(to_string(symbol_of(Operation::kSelected, a, b, cell("x", 1))) == "select(a, b, x1)");
  CHECK(to_string(symbol_of(Operation::kSelected, Symbol::number(1), b, a)) == "b");
  CHECK(to_string(symbol_of_place(Operation::kRowNumber, 4)) == "row4");
}

TEST_CASE("maxima are flat, and long runs are written as ranges") {
  CHECK(to_string(maximum_of(2)) == "max(x0, x1)");
  CHECK(to_string(maximum_of(3)) == "max(x0, x1, x2)");
  CHECK(to_string(maximum_of(7)) == "max(x0..x6)");
  CHECK(unicode_text(maximum_of(7)) == "max(x₀..x₆)");
  CHECK(to_string(maximum_of(30)) == "max(x0..x[29])");
  CHECK(unicode_text(maximum_of(30)) == "max(x₀..x₂₉)");
  CHECK(to_string(exponential_sum(3)) == "e^(x0 - m) + e^(x1 - m) + e^(x2 - m)");
  CHECK(to_string(exponential_sum(8)) == "e^(x0 - m) + ... + e^(x7 - m)");
  CHECK(unicode_text(exponential_sum(8)) == "e^(x₀−m) + … + e^(x₇−m)");
}

TEST_CASE("terms that follow no rule are not written as a run") {
  Symbol sum = cell("x", 0);
  for (const std::int64_t i : {5, 6, 1}) sum = sum + cell("x", i);
  CHECK(to_string(sum) == "x0 + x5 + x6 + x1");
  CHECK(to_string(sum + cell("x", 9)) == "x0 + x5 + x6 + ... + x9");
  Symbol same = cell("x", 0);
  for (int i = 0; i < 5; ++i) same = same + cell("x", 0);
  CHECK(to_string(same) == "x0 + x0 + x0 + ... + x0");
}

TEST_CASE("two runs that meet are one run, two that do not are none") {
  const auto run = [](std::int64_t from, std::int64_t to) {
    Symbol sum = cell("x", from);
    for (std::int64_t i = from + 1; i < to; ++i) sum = sum + cell("x", i);
    return sum;
  };
  CHECK(to_string(run(0, 3) + run(3, 6)) == "x0 + ... + x5");
  CHECK(to_string(run(0, 2) + run(3, 5)) == "x0 + x1 + x3 + x4");
}

TEST_CASE("a formula does not grow with the number of terms") {
  CHECK(exponential_sum(100'000).size() == exponential_sum(8).size());
  CHECK(to_string(exponential_sum(100'000)) == "e^(x0 - m) + ... + e^(x[99999] - m)");
}

TEST_CASE("a formula that nests without end becomes three dots") {
  Symbol nested = Symbol::name("a");
  for (int i = 0; i < 5000; ++i) nested = exponential(nested - Symbol::name("b"));
  CHECK(nested.size() <= kMaxSymbolSize);
  Symbol doubled = Symbol::name("a");
  for (int i = 0; i < 200; ++i) doubled = doubled * doubled;
  CHECK(doubled.size() <= kMaxSymbolSize);
  CHECK(to_string(doubled).size() < 10 * kMaxSymbolSize);
}

TEST_CASE("formulas are simplified where the notes do") {
  const Symbol x = cell("x", 0);
  CHECK(to_string(x - x) == "0");
  CHECK(to_string(exponential(x - x)) == "1");
  CHECK(to_string(x - Symbol::number(0)) == "x0");
  CHECK(to_string(Symbol::number(0) + x) == "x0");
  CHECK(to_string(Symbol::number(1) + Symbol::number(1)) == "2");
  CHECK(to_string(Symbol::number(1) / Symbol::number(3)) == "1/3");
  CHECK(to_string(Symbol::number(0) / Symbol::number(0)) == "0/0");
  CHECK(to_string(maximum(x, x)) == "x0");
}

TEST_CASE("indices of several characters are told apart") {
  CHECK(to_string(cell("a", 10, 2)) == "a[10][2]");
  CHECK(unicode_text(cell("a", 10, 2)) == "a[10][2]");
  CHECK(unicode_text(cell("a", 1, 2)) == "a₁₂");
  CHECK(to_string(cell("w1", 2)) == "w1[2]");  // w12 would be another cell
  CHECK(unicode_text(cell("w1", 2)) == "w1₂");
  CHECK(to_string(cell("x", -1)) == "x[-1]");
}

TEST_CASE("a generic index is a letter") {
  const Symbol x = Symbol::name(SymbolName{"x", 0, {Subscript{3, "i", true}}});
  const Symbol next = Symbol::name(SymbolName{"x", 0, {Subscript{4, "i+1", true}}});
  const Symbol b = Symbol::name(SymbolName{"b", 0, {Subscript{0, "q", true}}});
  CHECK(to_string(x) == "xi");
  CHECK(unicode_text(x) == "xᵢ");
  CHECK(to_string(next) == "x[i+1]");
  CHECK(unicode_text(next) == "xᵢ₊₁");
  CHECK(unicode_text(b) == "b[q]");  // Unicode has no small q
  CHECK((x + next).mentions_generic());
}

TEST_CASE("the end of a long axis is named after its parameter") {
  AxisNames axes;
  axes.arrays["x"] = {{"n", 100}};
  axes.arrays["y"] = {{"k", 5}};
  const SymbolStyle ascii{false, &axes};
  const SymbolStyle small{true, &axes};
  CHECK(to_string(cell("x", 99), ascii) == "x[n-1]");
  CHECK(to_string(cell("x", 99), small) == "xₙ₋₁");
  CHECK(to_string(maximum_of(99), ascii) == "max(x0..x[n-2])");
  CHECK(to_string(maximum_of(99), small) == "max(x₀..xₙ₋₂)");
  CHECK(to_string(cell("x", 97), ascii) == "x[97]");
  CHECK(to_string(cell("y", 4), ascii) == "y4");  // too short to be elided
}

TEST_CASE("renaming changes a name everywhere and nothing else") {
  const Symbol before = exponential(cell("x", 0) - primed("m")) + primed("m");
  const SymbolName from{"m", 1, {}}, to{"m", 0, {}};
  CHECK(before.mentions(from));
  CHECK_FALSE(before.mentions(to));
  CHECK(to_string(before.renamed(from, to)) == "m + e^(x0 - m)");
  CHECK(to_string(before) == "m' + e^(x0 - m')");
}

TEST_CASE("what nobody wrote has no text") {
  CHECK(to_string(Symbol()).empty());
  CHECK_FALSE(Symbol().is_written());
}

TEST_CASE("values may have names, which stand for their formulas") {
  const Symbol score = cell("q", 0) * cell("k", 0), largest = detail::row_maximum(score);
  const Symbol weight = exponential(score - largest);
  ValueNames names;
  names.add(score, "S@2");
  names.add(largest, "M@3");
  names.add(score - largest, "S@4");
  names.add(cell("v", 0), "V@5");  // it has a name already
  const auto text = [&](const Symbol& symbol, std::size_t written_out) {
    return to_string(symbol, SymbolStyle{false, nullptr, &names, written_out});
  };
  CHECK(text(weight, 0) == "e^(S@2 - M@3)");
  CHECK(text(weight, 1) == "e^(q0*k0 - rowmax(S@2))");
  CHECK(text(weight, 2) == "e^(q0*k0 - rowmax(q0*k0))");
  CHECK(text(exponential(score), 0) == "e^(S@2)");
  CHECK(text(score, 0) == "q0*k0");  // the value itself is written out
  CHECK(text(weight * cell("v", 0), 0) == "e^(S@2 - M@3)*v0");
  names.rename("M@17", "M@3");
  CHECK(text(Symbol::name("M@17") + score, 0) == "M@3 + S@2");
  names.keep_only({largest});
  CHECK(text(weight, 0) == "e^(q0*k0 - M@3)");
  CHECK(names.size() == 1);
}
