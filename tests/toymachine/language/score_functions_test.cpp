// Functions of the scores: what their lines may be, what their names mean, and that a program without
// one does not notice its marks.
#include <filesystem>
#include <regex>
#include <string>

#include "tests/source_files.hpp"
#include "tests/toymachine/assembled.hpp"

namespace flashlab::toy {
namespace {

using test::contains;

/// A program with one mark, on one tile of 4 x 3.
const std::string kMarkedProgram =
    "; A tile of scores\n.isa attention\n.param n = 4, nk = 3, B = 4, Bk = 3, d = 2\n.const scale "
    "= "
    "0.5\n.input s(n, nk) tile (B, Bk)\n.output o(n, nk) tile (B, Bk)\n.reg S, X\nfor i in "
    "0..tiles(s)\n  for j in 0..tiles(s, 1)\n    LOAD s[i][j], S\n    .score S, i, j of (n, nk) "
    "tile "
    "(B, Bk)\n    STORE S, o[i][j]\n  end\nend\n";

std::shared_ptr<const SourceText> function_in_program(const std::string& function,
                                                      const std::string& program = kMarkedProgram) {
  return std::make_shared<const SourceText>("p.toy", program,
                                            std::make_shared<const SourceText>("f.toy", function));
}

std::string text_of(const std::string& function) {
  const auto source = function_in_program(function);
  const auto program = assemble(source);
  INFO(function << format(program.diagnostics, *source));
  REQUIRE(program);
  return disassemble(*program);
}

std::string errors_of(const std::string& function, const std::string& program = kMarkedProgram) {
  const auto source = function_in_program(function, program);
  const auto result = assemble(source);
  REQUIRE_FALSE(result);
  CHECK(result.diagnostics.size() == 1);
  return format(result.diagnostics, *source);
}

TEST_CASE("a score function's lines stand at the mark", "[score]") {
  const std::string text = text_of("; Cap\n.const cap = 30\nMUL S, 1/cap, S\nTANH S, S\n");
  CHECK_THAT(text, contains("; A tile of scores; the scores: Cap\n.isa attention, TANH\n"
                            ".operands constants\n"));
  CHECK_THAT(text, contains(".const cap = 30\n"));
  CHECK_THAT(text,
             contains("    LOAD s[i][j], S\n    MUL S, 1/cap, S\n    TANH S, S\n    STORE S"));
}

TEST_CASE("the names of a score function say where its tile is", "[score]") {
  const std::string text = text_of(
      ".param w = 2\n.input bias(n, nk) tile (B, Bk)\n.reg T\nLOAD bias[i][j], T\nROW S, row, "
      "T\nCOL S, col, T\nWINDOW S, row - w, col, S\n");
  CHECK_THAT(text,
             contains("LOAD bias[i][j], T\n    ROW S, i*B, T\n    COL S, j*Bk, T\n    WINDOW S, "
                      "i*B - w, j*Bk, S\n"));
  CHECK_THAT(text, contains(".input bias(n, nk) tile (B, Bk) float\n"));
  // A program may call everything otherwise.
  const std::string other =
      ".param m = 4\n.output o[m]\n.reg P\nfor t in 0..m\nFILL 1, P\n.score P, m - 1 - t, t of (m, "
      "2*m) "
      "tile (1, 1)\nSTORE P, o[t]\nend\n";
  const auto program = assemble(
      function_in_program(".input b(n, nk) tile (B, Bk)\nLOAD b[i][j], S\nROW S, row, S\n", other));
  REQUIRE(program);
  CHECK_THAT(disassemble(*program), contains("LOAD b[m - 1 - t][t], P\n  ROW P, m - 1 - t, P\n"));
  CHECK_THAT(disassemble(*program), contains(".input b(m, 2*m) tile (1, 1) float\n"));
}

TEST_CASE("a score function's registers are its own", "[score]") {
  const std::string text = text_of(".reg X, T\nMUL S, 2, X\nADD X, S, T\nMOV T, S\n");
  CHECK_THAT(text, contains(".reg S\n.reg X\n.reg score_X\n.reg T\n"));
  CHECK_THAT(text, contains("MUL S, 2, score_X\n    ADD score_X, S, T\n    MOV T, S\n"));
  CHECK(disassemble(*test::assembled(text)) == text);
}

TEST_CASE("what a score function may not contain is one line", "[score]") {
  struct Case {
    const char* function;
    const char* message;
  };
  const std::string kLines = "  expected instructions that work element by element";
  const Case cases[] = {
      {"MOV S, X\n",
       "f.toy:1:8: error: 'X' is a register of the program\n  1 | MOV S, X\n    |        "
       "^\n  expected S, or a register of the score function: .reg T\n"},
      {"MUL S, 2, R0\n", "f.toy:1:11: error: 'R0' is a register of the program\n"},
      {"MUL S, R[1], S\n", "f.toy:1:8: error: 'R' is a register of the program\n"},
      {"ADD S, Y, S\n", "f.toy:1:8: error: found 'Y'\n"},
      {"ROWMAX S, S\n", "f.toy:1:1: error: ROWMAX does not work element by element on registers\n"},
      {"MAC S, S, S, S\n", "f.toy:1:1: error: MAC does not work element by element on registers\n"},
      {"STORE S, o[0][0]\n", "f.toy:1:1: error: STORE does not work element by element"},
      {"for t in 0..2\n", "f.toy:1:1: error: a score function has no loops\n"},
      {".pass More\nMOV S, S\n", "f.toy:1:1: error: '.pass' is no line of a score function\n"},
      {".isa attention, TANH\nTANH S, S\n",
       "f.toy:1:1: error: '.isa' is no line of a score function\n"},
      {".use flash2\nMOV S, S\n", "begins with .use"},
      {"LOAD s[i][j], S\n", "f.toy:1:6: error: there is no array 's'\n"},
      {"FROB S, S\n", "f.toy:1:1: error: unknown instruction 'FROB'\n"},
      {"; nothing\n", "p.toy: error: the score function has no instruction\n"},
      {".const scale = 2\nMUL S, scale, S\n",
       "f.toy:1:8: error: 'scale' is declared twice, first in line 4 of p.toy\n"},
      {".param row = 2\nMUL S, 2, S\n",
       "f.toy:1:8: error: 'row' cannot be declared: it has a meaning in every score function\n"},
      {".param tiles2 = 2, j2 = i\nMUL S, 2, S\n", "f.toy:1:25: error: unknown name 'i'\n"},
      {"MUL S, row, S\n", "f.toy:1:8: error: 'row' is used where only constants are allowed\n"},
      {"ADD 1, 2, S\n", "f.toy:1:5: error: all operands of ADD are constants\n"},
  };
  for (const Case& one : cases) {
    INFO(one.function);
    if (std::string(one.function).starts_with(".use")) {
      CHECK_THAT(errors_of(one.function), contains("'.use' is no line of a score function\n"));
    } else {
      CHECK_THAT(errors_of(one.function), contains(one.message));
    }
  }
}

TEST_CASE("a long score function is refused, and a program without a mark", "[score]") {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "MUL S, 2, S\n";
  CHECK_THAT(errors_of(lines),
             contains("f.toy:257:1: error: the score function has more than 256 instructions\n"));
  const std::string unmarked =
      std::regex_replace(kMarkedProgram, std::regex("\n *.score[^\n]*"), "");
  CHECK_THAT(
      errors_of("MUL S, 2, S\n", unmarked),
      contains("p.toy: error: the program has no .score line, where a function of the scores "
               "would go\n  expected a program with that line, such as flash2 or naive\n"));
}

TEST_CASE("a wrong mark is an error of the program, with a function and without", "[score]") {
  const auto with_mark = [](const std::string& mark) {
    return std::regex_replace(kMarkedProgram, std::regex("\\.score[^\n]*"), mark);
  };
  struct Case {
    const char* mark;
    const char* message;
  };
  const Case cases[] = {
      {".score", "found the end of the line\n"},
      {".score R0, i, j of (n, nk) tile (B, Bk)", "found 'R0'\n"},
      {".score S, i of (n, nk) tile (B, Bk)", "found 'of'\n"},
      {".score S, i, j of (n, nk)", "found the end of the line\n"},
      {".score S, i, j of (i, nk) tile (B, Bk)", "the loop variable 'i' is used where only"},
      {".score S, i*j, j of (n, nk) tile (B, Bk)", "a product of loop variables"},
  };
  for (const Case& one : cases) {
    INFO(one.mark);
    CHECK_THAT(test::assembly_errors(with_mark(one.mark)), contains("p.toy:11:"));
    CHECK_THAT(test::assembly_errors(with_mark(one.mark)), contains(one.message));
  }
}

TEST_CASE("a text that begins with .use is a function of a bundled program", "[score]") {
  const auto source = std::make_shared<const SourceText>(
      "mine.toy", "; Doubled\n.use flash2\n.const twice = 2\nMUL S, twice, S\n");
  const auto program = assemble(source);
  REQUIRE(program);
  CHECK_THAT(program->title, contains("; the scores: Doubled"));
  CHECK_THAT(disassemble(*program), contains("    MUL S, twice, S\n    ROWMAX S, X\n"));
  CHECK(source->name_of(4) == "mine.toy");
  CHECK(source->name_of(5) == "flash2.toy");
  CHECK(source->number_in_part(6) == 2);
  CHECK_THAT(
      test::assembly_errors(".use flesh2\nMUL S, 2, S\n"),
      contains("p.toy:1:6: error: there is no bundled program 'flesh2'\n  1 | .use flesh2\n"));
  CHECK_THAT(test::assembly_errors(".use flesh2\nMUL S, 2, S\n"), contains("did you mean flash2?"));
  CHECK_THAT(test::assembly_errors(".use\nMUL S, 2, S\n"), contains("this line names no program"));
  CHECK_THAT(test::assembly_errors(".use softmax_safe\nMUL S, 2, S\n"),
             contains("p.toy:1:1: error: the program has no .score line"));
  CHECK_THAT(test::assembly_errors(".param n = 1\n.use flash2\n"),
             contains(".use is not the first"));
}

TEST_CASE("claims about scores without a function are left out, and labels stay", "[score]") {
  const auto source = std::make_shared<const SourceText>("mine.toy", ".use online\nMUL S, 2, S\n");
  const auto program = assemble(source);
  REQUIRE(program);
  CHECK_THAT(disassemble(*program), contains(".name M = m\n"));
}

TEST_CASE("marks change nothing in bundled programs: text, lines, places", "[score]") {
  std::size_t marked = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::kSourceRoot / "toymachine/programs")) {
    INFO(entry.path());
    const std::string text = test::read_source(entry.path());
    // The mark's line stays, so that errors keep their lines.
    const std::string plain = std::regex_replace(text, std::regex("\n *\\.score[^\n]*"), "\n");
    if (text != plain) ++marked;
    const auto with_mark = test::assembled(text), without = test::assembled(plain);
    CHECK(disassemble(*with_mark) == disassemble(*without));
    CHECK_THAT(disassemble(*with_mark), !contains(".score"));
    const auto bound = bind(with_mark, {}), bound_plain = bind(without, {});
    REQUIRE(bool(bound) == bool(bound_plain));
    if (!bound) continue;
    for (std::size_t i = 0; i < bound->instructions.size(); ++i) {
      CHECK(bound->instructions[i].span.line == bound_plain->instructions[i].span.line);
      CHECK(bound->instructions[i].site == bound_plain->instructions[i].site);
    }
  }
  CHECK(marked == 17);
}

}  // namespace
}  // namespace flashlab::toy
