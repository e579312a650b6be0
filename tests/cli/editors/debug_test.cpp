// The debugger, on a terminal and by a script.
#include <algorithm>
#include <sstream>

#include "tests/cli/command.hpp"
#include "tests/cli/editors/pseudo_terminal.hpp"

namespace flashlab::test {
namespace {

Outcome scripted(const std::string& arguments, const std::string& commands) {
  const Workplace place;
  place.write("commands", commands);
  return place.shell("flashlab debug " + arguments + " --commands commands");
}

/// Checks that a frame fills the window.
void check_fills(const std::string& frame, std::size_t rows, std::size_t columns) {
  std::istringstream lines(frame);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    INFO(line);
    CHECK(line.size() == columns);
  }
  CHECK(count == rows);
}

}  // namespace

TEST_CASE("a script steps forwards and backwards and says where it is", "[debug]") {
  const Outcome outcome = scripted("matmul_c00", "next 2\nback\n# a comment\n\nstep 7\nb 99\nb\n");
  CHECK(outcome.code == 0);
  CHECK(outcome.out ==
        "> next 2\nstep 2 of 7, next: line 14: MAC_Z R0, R1, R2\n"
        "> back\nstep 1 of 7, next: line 13: LOAD b[0][0], R1\n"
        "> step 7\nat the end\nstep 7 of 7, at the end\n"
        "> b 99\nstep 0 of 7, next: line 12: LOAD a[0][0], R0\n"
        "> b\nat the start\nstep 0 of 7, next: line 12: LOAD a[0][0], R0\n");
}

TEST_CASE("breakpoints stop both ways, and who asks for the writer of a cell", "[debug]") {
  const Outcome outcome =
      scripted("softmax_online -D n=8",
               "break out[2] is written\nbreak 24 if R0 > 0.4\ncontinue\nwho r1\nc\nc\nprint "
               "out[2]\nreverse\ndelete 2\nr\nwho out[2]\nwho x[1]\nline 41\nback-line 24\n");
  CHECK(outcome.code == 0);
  std::istringstream text(outcome.out);
  std::vector<std::string> said;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(">") && !line.starts_with("step")) said.push_back(line);
  }
  REQUIRE(said.size() == 12);
  CHECK(said[0] == "breakpoint 1: out[2] is written");
  CHECK(said[1] == "breakpoint 2: line 24 if R0 > 0.4");
  CHECK(said[2] == said[1]);
  CHECK_THAT(said[3], contains("R1 was written by step "));
  CHECK(said[4] == said[1]);
  CHECK(said[8] == "deleted breakpoint 2");
  CHECK(said[9] == "at the start");
  CHECK(said[10] == "out[2] was not written before this step");
  CHECK(said[11] == "x[1] is an input: no step wrote it");
}

TEST_CASE("registers are shown as formulas if that is asked for, and known", "[debug]") {
  const Outcome outcome = scripted(
      "matmul_c00", "symbols\nstep 6\nprint R2\nback 2\nprint R2\nprint R1\nsymbols\nprint R2\n");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("registers are formulas\n"));
  CHECK_THAT(outcome.out, contains("R2 = c00\n") && contains("R2 = a00*b00\n") &&
                              contains("R1 = b00\n") && contains("registers are values\n"));
  CHECK_THAT(outcome.out.substr(outcome.out.rfind("R2 = ")), contains("0."));
  const Outcome large = scripted("matmul_naive -D m=600,k=600,n=600", "symbols\n");
  CHECK_THAT(large.out, contains("at most 1000000 elements, after at most 20000 steps"));
}

TEST_CASE("with many registers formulas have the names of the trace, and say what they are",
          "[debug]") {
  const Outcome outcome =
      scripted("flash2 -D n=4 -D B=2", "symbols\nstep 28\nprint S\nprint M\nprint A\nprint Q[0]\n");
  CHECK_THAT(outcome.out, contains("S = S@25 = q00*0.5*k10^T\n") &&
                              contains("M = M@28 = max(M@12, X@26)\n") && contains("A = M@12\n") &&
                              contains("Q[0] = q00*0.5\n"));
}

TEST_CASE("the last steps say what was made from what, and comments get the room that is there",
          "[debug]") {
  PseudoTerminal terminal(40, 140, {"debug", "flash2", "--step", "28", "--color", "never"});
  if (!terminal.is_possible()) FLASHLAB_SKIP("no pseudo-terminal here");
  const std::string frame = terminal.frame_with("step 28 of");
  check_fills(frame, 40, 140);
  CHECK_THAT(frame, contains("M = max(M@12, X@26) = 2 x 1: ") && contains("(i = 0, j = 1)"));
  CHECK_THAT(frame, contains("; keep the old maximum: the factor needs both"));
  terminal.type("q");
  CHECK(terminal.exit_code() == 0);
}

TEST_CASE("a command that is wrong is explained and changes nothing", "[debug]") {
  const Outcome outcome =
      scripted("matmul_c00", "nxet\nnext many\nbreak R9 > 0\ndelete 3\nline 99\nwho\nstep\n");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("7 commands were refused, the first in line 1"));
  CHECK_THAT(outcome.out, contains("did you mean 'next'?") && contains("'many' is no number") &&
                              contains("no register or cell 'R9'") && contains("no breakpoint 3") &&
                              contains("after line 99"));
  CHECK(outcome.out.find("step 1 ") == std::string::npos);
}

TEST_CASE("one refused command decides the exit code, a search without result does not",
          "[debug]") {
  const Outcome refused = scripted("matmul_c00", "# a comment\nnext\nprint R9\nnext\n");
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, contains("1 command was refused, the first in line 3"));
  CHECK_THAT(refused.out, contains("step 2 of 7"));
  CHECK(scripted("matmul_c00", "step 7\nline 12\nwho R0\nwho a[0][0]\n").code == 0);
}

TEST_CASE("a run that fails stops at the failing step, and goes back from there", "[debug]") {
  const Workplace place;
  place.write("wrong.toy",
              ".isa softmax\n.registers 2\n.input x[1]\n.output y[1]\nLOAD x[0], R0\n"
              "SUB R0, R0, R1\nDIV R0, R1, R0\nSTORE R0, y[0]\n");
  const Outcome outcome = place.shell(
      "printf 'c\\nprint R0\\nb\\nprint R1\\n' | flashlab debug wrong.toy --input x=constant:1 "
      "--commands -");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("error: ") && contains("step 2 of 4, failed: line 7") &&
                              contains("step 1 of 4, next: line 6") && contains("R1 = unwritten"));
}

TEST_CASE("without a terminal the screen is refused, with what works there", "[debug]") {
  const Outcome outcome = flashlab("debug matmul_c00 </dev/null");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("needs a terminal") && contains("standard output is none") &&
                              contains("--commands"));
  CHECK(flashlab("debug matmul_c00 --break 'R7 > 1' --commands /dev/null").code == 2);
}

TEST_CASE("the screen shows a run and follows keys at 80 x 24 and 120 x 40", "[debug]") {
  for (const auto& [rows, columns] :
       {std::pair<unsigned short, unsigned short>{24, 80}, {40, 120}}) {
    PseudoTerminal terminal(rows, columns, {"debug", "softmax_online", "--color", "never"});
    if (!terminal.is_possible()) FLASHLAB_SKIP("no pseudo-terminal here");
    check_fills(terminal.frame_with("step 0 of 52"), rows, columns);
    terminal.type("nn\x1b[C");
    const std::string frame = terminal.frame_with("step 3 of 52");
    check_fills(frame, rows, columns);
    CHECK_THAT(frame, contains("  1  LOAD x[0], R0   R0 = x0 = -0.8571128") &&
                          contains("loads 1") && contains(">  17 EXP R0, R0") &&
                          contains("out[0]: not written") && contains("x[0]: -0.8571128 ") &&
                          contains("R3     unwritten"));
    terminal.type("b");
    CHECK_THAT(terminal.frame_with("step 2 of 52"), contains("step 2 of 52"));
    terminal.type("tR2 > 1.9\r");
    CHECK_THAT(terminal.frame_with("breakpoint 1"), contains("breakpoint 1: R2 > 1.9"));
    terminal.type("c");
    CHECK_THAT(terminal.frame_with("ADD r2, R0, r2   R2 ="), contains("ADD r2, R0, r2   R2 ="));
    terminal.type("wR1\r");
    CHECK_THAT(terminal.frame_with("was written by"), contains("R1 was written by step"));
    terminal.type("24x\x7f");
    terminal.type("q");
    CHECK(terminal.exit_code() == 0);
    CHECK(terminal.output().ends_with("\x1b[?25h\x1b[?1049l"));
  }
}

TEST_CASE("the screen follows the window's size, and Ctrl-C restores the terminal", "[debug]") {
  PseudoTerminal terminal(24, 80, {"debug", "flash2", "--color", "never"});
  if (!terminal.is_possible()) FLASHLAB_SKIP("no pseudo-terminal here");
  terminal.frame_with("step 0 of");
  terminal.resize(30, 100);
  terminal.type("n");
  check_fills(terminal.frame_with("step 1 of"), 30, 100);
  terminal.resize(10, 40);
  terminal.type("n");
  CHECK_THAT(terminal.frame_with("smaller"), contains("smaller than 60 x 16"));
  terminal.interrupt();
  CHECK(terminal.exit_code() == 130);
  CHECK(terminal.output().ends_with("\x1b[?25h\x1b[?1049l"));
}

}  // namespace flashlab::test
