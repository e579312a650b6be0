#include "toymachine/language/assembler.hpp"

#include <string>

#include "tests/toymachine/assembled.hpp"

using namespace flashlab;
using test::assembled;
using test::assembly_errors;
using test::contains;

TEST_CASE("a program keeps its title, level, passes and sites") {
  const auto program = assembled(
      "; Adds two numbers\n.isa softmax\n.registers 2\n.input x[2]\n.output o[1]\n"
      ".pass Read\nLOAD x[0], R0\nLOAD x[1], r1\n.pass Add\nADD R0, R1, R0\nSTORE R0, o[0]\n");
  CHECK(program->title == "Adds two numbers");
  CHECK(program->level == toy::Level::kSoftmax);
  CHECK(program->passes == std::vector<std::string>{"", "Read", "Add"});
  CHECK(program->num_sites == 4);
}

TEST_CASE("an operand without a comma before it is told so") {
  const std::string head = ".isa softmax\n.input x[2]\n.output o[1]\n";
  CHECK_THAT(assembly_errors(head + "LOAD x[0] R0\n"),
             contains("4:11: error: a comma is missing before 'R0'"));
  CHECK_THAT(assembly_errors(head + "ADD R0, R1 R2\n"),
             contains("4:12: error: a comma is missing before 'R2'"));
  CHECK_THAT(assembly_errors(head + "LOAD x[0]; R0\n"), contains("found the end of the line"));
}

TEST_CASE("a destination that comes first is told to come last") {
  const std::string head = ".input x[2]\n.output o[1]\n.reg m, Q[2]\n.const x1 = 2\n";
  for (const std::string line : {"LOAD m, x[0]", "LOAD Q[0], x[0]", "FILL m, 1"}) {
    CHECK_THAT(assembly_errors(head + line + "\n"), contains(" is a register"));
    CHECK_THAT(assembly_errors(head + line + "\n"), contains("the destination comes last: "));
  }
  CHECK_THAT(assembly_errors(".input a[2][2]\n.output c[1]\nLOAD R0, a[0][0]\n"),
             contains("the destination comes last: LOAD src, Rd"));
  CHECK_THAT(assembly_errors(head + "STORE o[0], m\n"), contains("'o' is an array"));
  CHECK_THAT(assembly_errors(head + "LOAD y[0], m\n"), contains("there is no array 'y'"));
  CHECK_THAT(assembly_errors(head + "ADD o[0], m, m\n"), contains("found 'o'"));
}

TEST_CASE("printing a program and assembling it again gives the same program") {
  const std::string text =
      "; Nested\n.isa attention\n.operands pinned\n.registers 2*b + 3\n.param n = 8\n.param b = "
      "ceildiv(n, 3)\n"
      ".const scale = 1/sqrt(n)\n.input a[n][n] double\n.temp t[n] float\n.output o[n] float\n"
      ".pass One\nfor i in 0..n step b\n  for j in i..min(i + b, n)\n    LOAD a[i][2*j - i], R[2 + "
      "j - i]\n"
      "    .name R[2 + j - i] = v[i] = a[i][j]*scale\n  end\nend\nSTORE R2, o[n - 1]\n";
  const std::string once = toy::disassemble(*assembled(text));
  CHECK(toy::disassemble(*assembled(once)) == once);
  CHECK_THAT(once, contains("for j in i..min(i + b, n)"));
}

TEST_CASE("a size may be used above the line that declares it") {
  CHECK_NOTHROW(assembled(".registers 2*tiles(x) + 1\n.input x[n]\n.param n = 3\nLOAD x[0], R0\n"));
}

TEST_CASE("CRLF, a byte order mark, tabs and UTF-8 in comments are all read") {
  CHECK_NOTHROW(assembled(
      "\xEF\xBB\xBF; größe \xE2\x82\x80\r\n.input x[1]\r\n\tLOAD x[0],\tR0 # \xE2\x88\x9E\r\n"));
}

TEST_CASE("an unknown mnemonic shows place, caret, what was expected and a near miss") {
  CHECK(assembly_errors(".isa softmax\n.input x[1]\nLAOD x[0], R0\n") ==
        "p.toy:3:1: error: unknown instruction 'LAOD'\n"
        "  3 | LAOD x[0], R0\n"
        "    | ^~~~\n"
        "  expected an instruction of the softmax machine, 'for', 'end' or a directive\n"
        "  did you mean LOAD?\n");
}

TEST_CASE("a cell that is written as texts write it is suggested with its indices") {
  const std::string head = ".isa matmul\n.input a[2][2]\n.input x[9]\n.output ab[2][2]\n";
  CHECK_THAT(assembly_errors(head + "LOAD a00, R0\n"),
             contains("there is no array 'a00'") && contains("did you mean a[0][0]?"));
  CHECK_THAT(assembly_errors(head + "LOAD a01, R0\n"), contains("did you mean a[0][1]?"));
  CHECK_THAT(assembly_errors(head + "LOAD x12, R0\n"), contains("did you mean x[12]?"));
  CHECK_THAT(assembly_errors(head + "STORE R0, ab10\n"), contains("did you mean ab[1][0]?"));
  CHECK_THAT(assembly_errors(head + "LOAD a0, R0\n"), !contains("a[0]"));
}

TEST_CASE("all errors of a file are reported at once, in the order of the file") {
  const std::string errors = assembly_errors(
      ".isa matmul\n.input x[4]\n.output o[4]\nLOAD y[0], R0\nEXP R0, R0\nfor i in 0..m\n"
      "  STORE R0, x[i]\nend\nMAC_Z R0, R1\n");
  CHECK_THAT(errors, contains("4:6: error: there is no array 'y'"));
  CHECK_THAT(errors, contains("5:1: error: EXP is not an instruction of the matmul machine"));
  CHECK_THAT(errors, contains("6:13: error: unknown name 'm'"));
  CHECK_THAT(errors, contains("7:13: error: the input x is written"));
  CHECK_THAT(errors, contains("9:13: error: found the end of the line after 2 operands"));
  CHECK(errors.find("4:6") < errors.find("9:13"));
}

TEST_CASE("twenty errors are shown and the rest are counted") {
  std::string text = ".input x[1]\n";
  for (int i = 0; i < 25; ++i) text += "NOPE\n";
  const std::string errors = assembly_errors(text);
  CHECK_THAT(errors, contains("p.toy:21:1"));
  CHECK_THAT(errors, !contains("p.toy:22:1"));
  CHECK_THAT(errors, contains("5 more messages are not shown"));
}

TEST_CASE("pinned operands name the factor that is not where it must be") {
  const std::string text = ".isa matmul\n.operands pinned\n.input x[2]\nMAC_Z R1, R0, R2\n";
  CHECK_THAT(assembly_errors(text), contains("4:7: error: factor 1 of MAC_Z is not R0"));
}

TEST_CASE("an index must be affine and a bound may hold min, max and divisions") {
  const std::string start = ".input x[64]\nfor i in 0..4\nfor j in 0..4\n";
  const std::string rest = ", R0\nend\nend\n";
  CHECK_THAT(assembly_errors(start + "LOAD x[i*j]" + rest),
             contains("a product of loop variables cannot be an index"));
  CHECK_THAT(assembly_errors(start + "LOAD x[i/2]" + rest),
             contains("a quotient of a loop variable"));
  CHECK_THAT(assembly_errors(start + "LOAD x[min(i, 2)]" + rest),
             contains("min, max or a division"));
  CHECK_THAT(assembly_errors(start + "LOAD x[floordiv(4, j)]" + rest),
             contains("a division by a loop variable"));
  CHECK_NOTHROW(assembled(start + "for k in max(i, j)..ceildiv(i + 2*j, 3)\nLOAD x[2*(i + j) - k]" +
                          rest + "end\n"));
}

TEST_CASE("loops must be closed, closed once, and their variables new") {
  CHECK_THAT(assembly_errors("for i in 0..2\n.input x[1]\n"), contains("this loop is not closed"));
  CHECK_THAT(assembly_errors(".input x[1]\nLOAD x[0], R0\nend\n"),
             contains("this 'end' closes nothing"));
  CHECK_THAT(
      assembly_errors(".input x[1]\nfor i in 0..2\nfor i in 0..2\nLOAD x[0], R0\nend\nend\n"),
      contains("3:5: error: 'i' already has a meaning here"));
}

TEST_CASE("a missing end is one error, of the loop that is indented as if it were closed") {
  const auto only_error = [](const std::string& text) {
    const std::string errors = assembly_errors(text);
    CHECK(errors.find("error: ") == errors.rfind("error: "));
    return errors;
  };
  const std::string load = "LOAD x[0], R0\n";
  CHECK_THAT(only_error(".input x[1]\nfor i in 0..2\n  for c in 0..2\n    " + load +
                        "  for c in 0..2\n    " + load + "  end\nend\n"),
             contains("3:3: error: this loop is not closed") &&
                 contains("'end' line for it, before line 5"));
  CHECK_THAT(only_error(".input x[1]\nfor i in 0..2\n  " + load + ".pass Next\nfor i in 0..2\n  " +
                        load + "end\n"),
             contains("2:1: error: this loop is not closed") && contains("before line 4"));
  CHECK_THAT(only_error(".input x[1]\nfor i in 0..2\n  for c in 0..2\n    " + load + "end\n"),
             contains("3:3: error: this loop is not closed"));
}

TEST_CASE(
    "without indentation, a loop is not closed if a later one inside of it has its variable") {
  const std::string load = "LOAD x[0], R0\n";
  const std::string errors =
      assembly_errors(".input x[1]\nfor c in 0..2\n" + load + "for c in 0..2\n" + load + "end\n");
  CHECK_THAT(errors, contains("2:1: error: this loop is not closed") && contains("before line 4") &&
                         !contains("already has a meaning"));
}

TEST_CASE("a cell as it is written on paper is read as a cell of that array") {
  const std::string arrays = ".input a[2][2]\n.input x[3]\n.output c[2][2]\n";
  CHECK_THAT(assembly_errors(arrays + "LOAD a01, R0\n"),
             contains("there is no array 'a01'") && contains("did you mean a[0][1]?"));
  CHECK_THAT(assembly_errors(arrays + "LOAD x2, R0\n"), contains("did you mean x[2]?"));
  CHECK_THAT(assembly_errors(arrays + "LOAD a[0][0], R0\nSTORE R0, c10\n"),
             contains("did you mean c[1][0]?"));
  for (const char* other : {"a0", "a012", "aij", "b00"}) {
    CHECK_THAT(assembly_errors(arrays + "LOAD " + other + ", R0\n"), !contains("[0]?"));
  }
}

TEST_CASE("declarations are checked: twice, reserved, without size, unknown words") {
  CHECK_THAT(assembly_errors(".input x[1]\n.output x[1]\nLOAD x[0], R0\n"),
             contains("'x' is declared twice"));
  CHECK_THAT(assembly_errors(".input R1[1]\nLOAD R1[0], R0\n"),
             contains("it is a word of the language"));
  CHECK_THAT(assembly_errors(".input x\nLOAD x[0], R0\n"), contains("the array x has no size"));
  CHECK_THAT(assembly_errors(".inptu x[1]\n"), contains("did you mean .input?"));
  CHECK_THAT(assembly_errors(".isa softmx\n"), contains("did you mean softmax?"));
  CHECK_THAT(assembly_errors(".param a = b, b = 1\n.input x[a]\nLOAD x[0], R0\n"),
             contains("'b' is used before it is declared"));
}

TEST_CASE("a name taken by a declaration of another kind is refused and hurts nothing") {
  CHECK_THAT(assembly_errors(".param n = 1\n.input n[2]\n.const n = 3\nLOAD n[0], R0\n"),
             contains("2:8: error: 'n' is declared twice"));
  CHECK_THAT(assembly_errors(".input x[2]\n.param x = 1, y = 2\nLOAD x[y], R0\n"),
             contains("2:8: error: 'x' is declared twice"));
}

TEST_CASE("a constant operand is an expression without loop variables, at its level only") {
  CHECK_NOTHROW(assembled(".param n = 3\n.const s = sqrt(n)\nFILL -2*s + n, R0\nFILL -inf, R1\n"));
  CHECK_THAT(
      assembly_errors("for i in 0..3\nFILL i, R0\nend\n"),
      contains("2:6: error: the loop variable 'i' is used where only constants are allowed"));
  CHECK_THAT(assembly_errors("FILL R1, R0\n"), contains("'R1' is a register"));
  CHECK_THAT(assembly_errors(".isa softmax\nFILL 0, R0\n"),
             contains("FILL is not an instruction of the softmax machine"));
}

TEST_CASE("a level may be followed by single instructions beyond it") {
  const auto program = assembled(
      ".isa softmax, log , Fill\n.registers 2\n.output o[1]\nFILL 2, R0\nlog R0, R1\n"
      "STORE R1, o[0]\n");
  CHECK(program->level == toy::Level::kSoftmax);
  CHECK(program->extra_instructions ==
        std::vector<std::size_t>{*toy::find_instruction("FILL"), *toy::find_instruction("LOG")});
  const std::string once = toy::disassemble(*program);
  CHECK_THAT(once, contains(".isa softmax, FILL, LOG\n"));
  CHECK(toy::disassemble(*assembled(once)) == once);
}

TEST_CASE("an extra instruction must exist, be missing at the level, and be named once") {
  const std::string rest = "\n.input x[1]\nLOAD x[0], R0\n";
  const std::string unknown = assembly_errors(".isa softmax, FIL" + rest);
  CHECK_THAT(unknown, contains("1:15: error: unknown instruction 'FIL'"));
  CHECK_THAT(unknown, contains("expected an instruction that the softmax machine does not have"));
  CHECK_THAT(unknown, contains("did you mean FILL?"));
  CHECK_THAT(assembly_errors(".isa softmax, EXP" + rest),
             contains("1:15: error: EXP is an instruction of the softmax machine already"));
  CHECK_THAT(assembly_errors(".isa softmax, LOG, FILL, log" + rest),
             contains("1:26: error: LOG is named twice"));
  CHECK_THAT(assembly_errors(".isa softmax, 3" + rest), contains("1:15: error: found '3'"));
  CHECK_THAT(assembly_errors(".isa softmax LOG" + rest),
             contains("1:14: error: found 'LOG' after the level"));
}

TEST_CASE("an extra instruction brings no other of its level") {
  const std::string errors =
      assembly_errors(".isa softmax, MAC\nMAC R0, R1, R2, R2\nMAC_Z R0, R1, R2\n");
  CHECK_THAT(errors, contains("3:1: error: MAC_Z is not an instruction of the softmax machine"));
  CHECK_THAT(errors, contains("expected a program with .isa matmul or attention, or with .isa "
                              "softmax, MAC, MAC_Z"));
  CHECK_THAT(assembly_errors(".isa softmax, MAC\nMAC R0, R1^T, R2, R2\n"),
             contains("2:11: error: found '^'"));
}

TEST_CASE("a claim about an array that is not there names the array and the nearest one") {
  const std::string errors =
      assembly_errors(".input value[2]\nLOAD value[0], R0\n.name R0 = m = vaule[0]\n");
  CHECK_THAT(errors, contains("3:16: error: there is no array 'vaule'"));
  CHECK_THAT(errors, contains("did you mean value?"));
}

TEST_CASE("an empty program, and one of comments only, are errors") {
  CHECK_THAT(assembly_errors(""), contains("the program has no instruction"));
  CHECK_THAT(assembly_errors("; nothing\n\n"), contains("the program has no instruction"));
}

TEST_CASE("hostile text is answered with a message and never printed raw") {
  const std::string nul = assembly_errors(std::string(".input x[1]\nLOAD\0x[0], R0\n", 26));
  CHECK_THAT(nul, contains("control character 0x00"));
  CHECK(nul.find('\0') == std::string::npos);
  const std::string escape = assembly_errors("LOAD \x1b[31mx[0], R0\n");
  CHECK(escape.find('\x1b') == std::string::npos);
  CHECK_THAT(assembly_errors("LOAD x\xC3\xA9[0], R0\n"),
             contains("unexpected character outside ASCII"));
}

TEST_CASE("limits: source size, line length, nesting, expression depth and length") {
  toy::Limits small;
  small.max_source_bytes = 10;
  CHECK_THAT(assembly_errors("; more than ten bytes\n", small), contains("--max-source"));
  CHECK_THAT(assembly_errors("; " + std::string(70'000, 'x') + "\n"),
             contains("this line has 70002 bytes"));
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "for i" + std::to_string(i) + " in 0..1\n";
  toy::Limits large;
  large.max_source_bytes = 1 << 24;
  CHECK_THAT(assembly_errors(nested, large), contains("loops are nested deeper than 64"));
  CHECK_THAT(assembly_errors(".param n = " + std::string(5000, '(') + "1\n"),
             contains("nested too deeply"));
  CHECK_THAT(assembly_errors(".param n = " + std::string(5000, '-') + "1\n"),
             contains("nested too deeply"));
  std::string sum = ".param n = 1";
  for (int i = 0; i < 5000; ++i) sum += "+1";
  CHECK_THAT(assembly_errors(sum + "\n"), contains("this expression is too long"));
  CHECK_THAT(assembly_errors(".param n = 99999999999999999999\n"), contains("out of range"));
}
