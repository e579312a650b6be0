// The language at its limits: the last text that is taken and the first that is refused.
#include <string>

#include "tests/toymachine/assembled.hpp"

namespace flashlab::toy {
namespace {

using test::assembled;
using test::assembly_errors;
using test::contains;

const std::string kOneLoad = "\n.input x[1]\nLOAD x[0], R0\n";

std::string param_of(const std::string& expression) {
  return ".param n = " + expression + kOneLoad;
}

std::string repeated(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

/// The first message of a text, without the lines below it.
std::string first_error(const std::string& text) {
  const std::string errors = assembly_errors(text);
  return errors.substr(0, errors.find('\n'));
}

}  // namespace

TEST_CASE("a source may be as long as its limit", "[limits]") {
  const std::string text = ".input x[1]\nLOAD x[0], R0\n";
  Limits limits;
  limits.max_source_bytes = static_cast<std::int64_t>(text.size());
  CHECK(assemble(test::source(text), limits));
  --limits.max_source_bytes;
  CHECK(assembly_errors(text, limits) ==
        "p.toy: error: the source has 26 bytes\n  expected at most 25 (--max-source)\n");
}

TEST_CASE("a line may have 65536 bytes", "[limits]") {
  CHECK_NOTHROW(assembled(";" + std::string(65'535, 'x') + kOneLoad));
  CHECK(first_error(";" + std::string(65'536, 'x') + kOneLoad) ==
        "p.toy:1:1: error: this line has 65537 bytes");
}

TEST_CASE("loops nest as deep as their limit", "[limits]") {
  const auto nest = [](int depth) {
    std::string text = ".input x[1]\n";
    for (int i = 0; i < depth; ++i) text += "for i" + std::to_string(i) + " in 0..1\n";
    return text + "LOAD x[0], R0\n" + repeated(depth, "end\n");
  };
  CHECK_NOTHROW(assembled(nest(64)));
  CHECK(first_error(nest(65)) == "p.toy:66:1: error: loops are nested deeper than 64");
  Limits limits;
  limits.max_nesting = 1;
  CHECK(assemble(test::source(nest(1)), limits));
  CHECK_FALSE(assemble(test::source(nest(2)), limits));
}

TEST_CASE("expressions have at most 100 levels and 1000 terms", "[limits]") {
  CHECK_NOTHROW(assembled(param_of(std::string(99, '(') + "1" + std::string(99, ')'))));
  CHECK_THAT(assembly_errors(param_of(std::string(100, '(') + "1" + std::string(100, ')'))),
             contains("nested too deeply"));
  CHECK_NOTHROW(assembled(param_of(std::string(99, '-') + "1")));
  CHECK_THAT(assembly_errors(param_of(std::string(100, '-') + "1")),
             contains("expected at most 100 levels"));
  const std::string ones = "1" + repeated(498, "+1");  // 499 numbers and 498 sums
  CHECK_NOTHROW(assembled(param_of("-1+" + ones)));    // with a sign, a number and a sum: 1000
  CHECK_THAT(assembly_errors(param_of("--1+" + ones)), contains("this expression is too long"));
}

TEST_CASE("whole numbers end below 2^63 and real ones where doubles end", "[limits]") {
  CHECK_NOTHROW(assembled(param_of("9223372036854775807")));
  CHECK_THAT(assembly_errors(param_of("9223372036854775808")),
             contains("1:12: error: number 9223372036854775808 is out of range"));
  CHECK_THAT(assembly_errors(param_of("9223372036854775808")),
             contains("expected an integer below 2^63"));
  CHECK_NOTHROW(assembled(".const c = 1e308" + kOneLoad));
  CHECK_THAT(assembly_errors(".const c = 1e309" + kOneLoad),
             contains("expected a number that a double can hold"));
  const std::string nines(24, '9');
  CHECK_THAT(assembly_errors(param_of(nines)), contains("number " + nines + " is out of range"));
  CHECK_THAT(assembly_errors(param_of(nines + "9")),
             contains("number " + nines + "… is out of range"));
}

TEST_CASE("a number ends where no digit follows its point or exponent", "[lexer]") {
  CHECK_NOTHROW(assembled(".const c = 1.5" + kOneLoad));
  CHECK_NOTHROW(assembled(".const c = 15e-1 + 1E+2 + 2e3" + kOneLoad));
  CHECK_THAT(assembly_errors(".const c = 2e" + kOneLoad), contains("found 'e'"));
  CHECK_THAT(assembly_errors(".const c = 2e-" + kOneLoad), contains("found 'e'"));
  CHECK_NOTHROW(assembled("for i in 0..2\nfor j in 1..2\nend\nend" + kOneLoad));
}

TEST_CASE("bytes that belong to no word are told once for each run", "[lexer]") {
  struct Bytes {
    std::string line, what;
  };
  const Bytes cases[] = {{"!", "1:1: error: unexpected '!'"},
                         {"  ~~ ", "1:3: error: unexpected '~'"},
                         {"\x1F", "1:1: error: unexpected control character 0x1F"},
                         {"\x7F", "1:1: error: unexpected control character 0x7F"},
                         {"\x80\xFF", "1:1: error: unexpected character outside ASCII"},
                         {". x", "1:1: error: unexpected '.'"}};
  for (const Bytes& bytes : cases) {
    CAPTURE(bytes.what);
    const std::string errors = assembly_errors(bytes.line + kOneLoad);
    CHECK_THAT(errors, contains("p.toy:" + bytes.what + "\n"));
    CHECK(errors.find("unexpected") == errors.rfind("unexpected"));
  }
}

TEST_CASE("characters of web pages are named, and are the only error of their line", "[lexer]") {
  struct Pasted {
    std::string line, what;
  };
  const Pasted cases[] = {
      {"LOAD x[0\u00A01], R0", "1:9: error: unexpected U+00A0, a no-break space\n"},
      {"LOAD\u00A0x[0],\u00A0R0", "1:5: error: unexpected U+00A0, a no-break space\n"},
      {"LO\u200BAD x[0], R0", "1:3: error: unexpected U+200B, a zero-width space\n"},
      {"LOAD x[1\u20130], R0", "1:9: error: unexpected U+2013, an en dash\n"},
      {"LOAD x[0]\uFF0C R0", "1:10: error: unexpected U+FF0C, a full-width comma\n"},
      {"LOAD x[0], \uFF320", "1:12: error: unexpected U+FF32, a full-width 'R'\n"},
      {"LOAD x[0], R0 \uFF1B see n, m", "1:15: error: unexpected U+FF1B, a full-width semicolon\n"},
      {"LOAD x[\u00E9], R0", "1:8: error: unexpected character outside ASCII, U+00E9\n"},
      {"LOAD x[\U0001F600], R0", "1:8: error: unexpected character outside ASCII, U+1F600\n"},
      {"LOAD x[0], R0 // see n", "1:15: error: unexpected '//'\n"},
      {"LOAD x[0], R0 /* n */", "1:15: error: unexpected '/*'\n"},
      {"// a program of n", "1:1: error: unexpected '//'\n"}};
  for (const Pasted& pasted : cases) {
    CAPTURE(pasted.what);
    const std::string errors = assembly_errors(pasted.line + "\n.input x[2]\nLOAD x[1], R1\n");
    CHECK_THAT(errors, contains("p.toy:" + pasted.what));
    CHECK(errors.find("error") == errors.rfind("error"));
  }
  CHECK_THAT(assembly_errors("LOAD x[0\u00A01], R0\n.input x[2]"), contains("expected a blank"));
  CHECK_THAT(assembly_errors("LOAD x[0], R0 // n\n.input x[2]"),
             contains("';', with which comments begin"));
}

TEST_CASE("signs of ASCII that no word has hide no other error of their line", "[lexer]") {
  const std::string errors = assembly_errors(".reg Q[asm(\"exit\")]\n" + std::string(kOneLoad));
  CHECK_THAT(errors, contains("unexpected '\"'") && contains("there is no function 'asm'"));
}

TEST_CASE("a declaration with characters of web pages still declares", "[lexer]") {
  const std::string errors = assembly_errors(
      ".param n\u00A0= 4\n.input x[n\u22121]\nfor i\u00A0in 0\u2026n\u20091\nLOAD x[i], R0\nend");
  for (const char* const named : {"U+00A0", "U+2212", "U+2026", "U+2009"}) {
    CHECK_THAT(errors, contains(named));
  }
  CHECK_THAT(errors, !contains("'n'") && !contains("'x'") && !contains("'i'") && !contains("end"));
}

TEST_CASE("a long word is shown by its first 40 letters", "[language]") {
  CHECK_THAT(assembly_errors(std::string(40, 'a') + kOneLoad),
             contains("'" + std::string(40, 'a') + "'\n"));
  CHECK_THAT(assembly_errors(std::string(41, 'a') + kOneLoad),
             contains("'" + std::string(40, 'a') + "…'\n"));
}

TEST_CASE("functions have as many arguments as they take", "[language]") {
  for (const char* const right : {"min(1, 2)", "max(3, 2, 1)", "ceildiv(3, 2)", "floordiv(3, 2)",
                                  "floor(1)", "tiles(x)", "extent(x, 0)"}) {
    CHECK_NOTHROW(assembled(param_of(right)));
  }
  struct Wrong {
    const char *call, *what, *expected;
  };
  const Wrong cases[] = {{"min(1)", "'min' has 1 arguments", "expected 2 or more\n"},
                         {"max(1)", "'max' has 1 arguments", "expected 2 or more\n"},
                         {"ceildiv(1)", "'ceildiv' has 1 arguments", "expected 2\n"},
                         {"floordiv(1, 2, 3)", "'floordiv' has 3 arguments", "expected 2\n"},
                         {"sqrt(1, 2)", "'sqrt' has 2 arguments", "expected 1\n"},
                         {"mim(1, 2)", "there is no function 'mim'", "did you mean min?"},
                         {"registers()", "there is no function 'registers'", "min(a, b)"},
                         {"tiles(n)", "'n' is not an array", "an array's name"},
                         {"sum(j in 0..2: j)", "'sum' over a range is not allowed here", ".name"},
                         {"x[0]", "the cell 'x' is used in an expression", ".name"},
                         {"x", "the array 'x' is used without an index", "a parameter"},
                         {"(1", "found the end of the line", "')'"}};
  for (const Wrong& wrong : cases) {
    const std::string errors = assembly_errors(param_of(wrong.call));
    CHECK_THAT(errors, contains(wrong.what));
    CHECK_THAT(errors, contains(wrong.expected));
  }
}

TEST_CASE("a second declaration says where the first is, and changes nothing of it", "[language]") {
  const std::string program =
      ".isa softmax\n.registers 2\n.param n = 4\n.input x[n]\n.output y[n]\n";
  const std::string uses = "for i in 0..n\n  LOAD x[i], R0\n  STORE R0, y[i]\nend\n";
  const auto only_error = [&](const std::string& second) {
    const std::string errors = assembly_errors(program + second + "\n" + uses);
    CAPTURE(errors);
    CHECK(errors.find(": error: ", errors.find(": error: ") + 1) == std::string::npos);
    return errors;
  };
  CHECK_THAT(only_error(".input x[n, n]"), contains("p.toy:6:8: error: 'x' is declared twice, "
                                                    "first in line 4"));
  CHECK_THAT(only_error(".temp x(n, n) tile (1, n)"), contains("first in line 4"));
  CHECK_THAT(only_error(".param n = x"),
             contains("6:8: error: 'n' is declared twice, first in line 3"));
  CHECK_THAT(only_error(".const y = nothing"), contains("first in line 5"));
  CHECK_THAT(only_error(".registers 3"), contains("is given twice, first in line 2"));
  CHECK_THAT(only_error("for n in 0..2\nend"),
             contains("'n' already has a meaning here, from line 3"));
}

TEST_CASE("what can be said once is refused the second time", "[language]") {
  for (const char* const line : {".isa softmax\n", ".operands any\n", ".registers 4\n"}) {
    CHECK_NOTHROW(assembled(line + kOneLoad));
    CHECK_THAT(assembly_errors(std::string(line) + line + kOneLoad),
               contains("p.toy:2:1: error: '" + std::string(line, std::string(line).find(' ')) +
                        "' is given twice"));
  }
  CHECK_NOTHROW(assembled(".input y[1]\n.param a = 1\n.param b = 2" + kOneLoad));
}

TEST_CASE("loops and passes are refused with the place where they go wrong", "[language]") {
  struct Wrong {
    const char *text, *what;
  };
  const Wrong cases[] = {
      {"for i 0..2\nend", "1:7: error: found '0'"},
      {"for R1 in 0..2\nend", "1:5: error: found 'R1'"},
      {"for 2 in 0..2\nend", "1:5: error: found '2'"},
      {"for i in 0, 2\nend", "1:11: error: found ','"},
      {"for i in 0..2 3\nend", "1:15: error: found '3'"},
      {"for i in 0..2\nend end", "2:5: error: found 'end' after 'end'"},
      {"for x in 0..2\nend", "1:5: error: 'x' already has a meaning here"},
      {"for i in 0..2\n.pass Inside\nend", "2:1: error: '.pass' is inside a loop"},
      {"for i in 0..2\n.param n = 2\nend", "2:1: error: '.param' is inside a loop"},
      {".pass", "1:1: error: this pass has no title"},
      {".pass ; nothing", "1:1: error: this pass has no title"},
      {".passes Get", "1:1: error: unknown directive '.passes'"},
      {"end", "1:1: error: this 'end' closes nothing"}};
  for (const Wrong& wrong : cases) {
    CAPTURE(wrong.text);
    CHECK_THAT(assembly_errors(wrong.text + kOneLoad), contains(wrong.what));
  }
}

TEST_CASE("every word of the language is refused as a name", "[language]") {
  for (const char* const word : {"for", "in", "end", "step", "inf", "R", "r", "R0", "r12", "min",
                                 "max", "sum", "tiles", "extent", "registers", "log"}) {
    CAPTURE(word);
    CHECK_THAT(assembly_errors(".param " + std::string(word) + " = 1" + kOneLoad),
               contains("1:8: error: '" + std::string(word) + "' cannot be declared"));
  }
  for (const char* const name : {"Rx", "R1x", "fo", "_", "infinity", "X1"}) {
    CAPTURE(name);
    CHECK_NOTHROW(assembled(".param " + std::string(name) + " = 1" + kOneLoad));
  }
}

TEST_CASE("a constant's row of costs is a sum of cycles and of work", "[costs]") {
  const auto costs = [](const char* text, const char* mnemonic) {
    CostTable table;
    CHECK(table.parse(text));
    const std::size_t row = *find_instruction(mnemonic);
    return std::pair(table.cycles(row), table.per_work(row));
  };
  using Costs = std::pair<std::int64_t, std::int64_t>;
  CHECK(costs("", "LOAD") == Costs(1, 0));
  CHECK(costs("LOAD=0", "LOAD") == Costs(0, 0));
  CHECK(costs("LOAD=1000000000", "LOAD") == Costs(1'000'000'000, 0));
  CHECK(costs("LOAD=100+2/element", "LOAD") == Costs(100, 2));
  CHECK(costs("LOAD=3/element", "LOAD") == Costs(0, 3));
  CHECK(costs("ADD=2+3", "ADD") == Costs(5, 0));
  CHECK(costs("MAC=3/flop", "MAC") == Costs(0, 6));  // two FLOPs for each product
  CHECK(costs("ROWSUM=3/flop", "ROWSUM") == Costs(0, 3));
  CHECK(costs("LOAD=7,EXP=4", "EXP") == Costs(4, 0));
  CHECK(costs("LOAD=7,EXP=4", "ADD") == Costs(1, 0));
}

TEST_CASE("costs that make no sense are refused with what was expected", "[costs]") {
  struct Wrong {
    const char *text, *what, *expected;
  };
  const std::string range =
      "whole numbers from 0 to 1000000000 such as 4, 2/element or 100+2/element";
  const Wrong cases[] = {
      {"LOAD=1000000001", "cost 'LOAD=1000000001' is not a number of cycles", range.c_str()},
      {"LOAD=", "cost 'LOAD=' is not a number of cycles", range.c_str()},
      {"LOAD=1+", "cost 'LOAD=1+' is not a number of cycles", range.c_str()},
      {"LOAD=1x", "cost 'LOAD=1x' is not a number of cycles", range.c_str()},
      {"LOAD=1,,EXP=2", "cost '' has no value", "MNEMONIC=CYCLES"},
      {"load=2,LOAD=3", "cost for LOAD is given twice", "one cost each"},
      {"MAC=1/element", "cost 'MAC=1/element' has the unit 'element'", "cycles/flop for MAC"},
      {"LOAD=1/flop", "cost 'LOAD=1/flop' has the unit 'flop'", "cycles/element for LOAD"},
      {"EXP=1/", "cost 'EXP=1/' has the unit ''", "cycles/element for EXP"}};
  for (const Wrong& wrong : cases) {
    CostTable table;
    const auto result = table.parse(wrong.text);
    REQUIRE_FALSE(result);
    CHECK(result.diagnostics[0].what == wrong.what);
    CHECK(result.diagnostics[0].expected == wrong.expected);
    CHECK(result.diagnostics[0].fault == Fault::kRequest);
  }
}

}  // namespace flashlab::toy
