// What bad input gets: a message on standard error that says what is wrong, and the right exit
// code.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// A wrong command line; parts of the message it must get.
struct WrongCall {
  const char* line;
  int code;
  std::vector<const char*> says;
};

void check(const Workplace& place, const std::vector<WrongCall>& cases) {
  for (const WrongCall& wrong : cases) {
    CAPTURE(wrong.line);
    const Outcome outcome = place.shell(wrong.line);
    CHECK(outcome.code == wrong.code);
    CHECK(outcome.out == "");
    for (const char* part : wrong.says) CHECK_THAT(outcome.err, contains(part));
  }
}

TEST_CASE("a file that breaks off while it is read is no empty program") {
  if (!std::filesystem::exists("/proc/self/mem")) FLASHLAB_SKIP("no file here fails to be read");
  const Outcome outcome = Workplace().shell("flashlab run /proc/self/mem");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("cannot be read"));
}

TEST_CASE("a wrong command or flag is answered with a near miss") {
  check(Workplace(),
        {{"flashlab rum x", 2, {"there is no command 'rum'", "did you mean run?"}},
         {"flashlab run matmul_c00 --jsn", 2, {"unexpected argument '--jsn'", "mean --json?"}},
         {"flashlab trace a b", 2, {"unexpected argument 'b'"}},
         {"flashlab compare --again nosuch",
          2,
          {"unexpected argument 'nosuch': --again takes no value",
           "expected --again: predict the rows of --measured FILE"}},
         {"flashlab run matmul_c00 --color blue", 2, {"--color", "blue"}},
         {"flashlab run matmul_c00 --precision half", 2, {"--precision", "half"}},
         {"flashlab run matmul_c00 --max-steps 0", 2, {"--max-steps"}},
         {"flashlab run matmul_c00 --ascii --unicode", 2, {"--ascii", "--unicode"}},
         {"flashlab isa --level sofmax", 2, {"--level", "sofmax"}}});
}

TEST_CASE("a missing argument is named with the command's usage") {
  check(Workplace(),
        {{"flashlab diff naive --outputs",
          2,
          {"the argument 'second' is missing", "expected flashlab diff PROGRAM PROGRAM"}},
         {"flashlab run",
          2,
          {"the argument 'program' is missing", "expected flashlab run PROGRAM [FLAG ...]"}},
         {"flashlab grade", 2, {"the argument 'exercise' is missing", "flashlab grade ID"}}});
}

TEST_CASE("a value that is no number is named with its flag") {
  check(Workplace(),
        {{"flashlab attention --packed 5,x",
          2,
          {"--packed 5,x: 'x' is not a number", "expected N,...: lengths of sequences"}},
         {"flashlab attention --n 1k", 2, {"--n 1k: '1k' is not", "expected SIZE"}},
         {"flashlab run matmul_c00 --max-steps x", 2, {"--max-steps x: 'x' is not a number"}},
         {"flashlab run matmul_c00 --max-steps", 2, {"--max-steps has no value", "expected N: "}}});
}

TEST_CASE("a flag without a value refuses one, and its message names the flag") {
  check(Workplace(),
        {{"flashlab read 3 --answers=maybe",
          2,
          {"--answers takes no value, but found 'maybe'", "expected --answers without '=maybe'"}},
         {"flashlab run matmul_c00 --json=1", 2, {"--json takes no value, but found '1'"}},
         {"flashlab grade 3 x --quiet=no", 2, {"--quiet takes no value, but found 'no'"}}});
}

TEST_CASE("a message names the flag as it was typed") {
  check(Workplace(),
        {{"flashlab projections -N 1e9",
          2,
          {"error: -N 1e9: '1e9' is not a whole number",
           "expected SIZE: rows of X in a batch entry"}},
         {"flashlab projections -N=1e9", 2, {"error: -N =1e9: '=1e9' is not a number"}},
         {"flashlab projections --n=1e9", 2, {"error: --n 1e9: '1e9' is not a whole number"}},
         {"flashlab projections -N 4 --n 1e9", 2, {"error: --n 4,1e9: '1e9' is not"}},
         {"flashlab attention -Nx", 2, {"error: -N x: 'x' is not a number"}},
         {"flashlab attention -N", 2, {"error: -N has no value"}}});
}

TEST_CASE("a report that cannot be read is not called a program") {
  check(Workplace(),
        {{"flashlab exercises summary --class /dev/null",
          2,
          {"'/dev/null' is a device", "expected a file that `flashlab grade --json` wrote"}},
         {"flashlab exercises summary --class none.json",
          2,
          {"there is no file 'none.json'", "expected a file that `flashlab grade --json` wrote"}}});
}

TEST_CASE("a program that cannot be read is a wrong request") {
  Workplace place;
  place.write("mine.toy", "");
  check(place, {{"flashlab run softmx_safe", 2, {"no file 'softmx_safe'", "mean softmax_safe?"}},
                {"flashlab run mien.toy", 2, {"no file 'mien.toy'", "did you mean mine.toy?"}},
                {"flashlab run ./matmul_c00", 2, {"no file './matmul_c00'"}},
                {"mkdir folder; flashlab run folder", 2, {"'folder' is a directory"}},
                {"mkfifo pipe; flashlab run pipe", 2, {"'pipe' is a pipe"}},
                {"flashlab run /dev/zero", 2, {"'/dev/zero' is a device"}},
                {"flashlab programs sofmax_safe", 2, {"did you mean softmax_safe?"}}});
  if (geteuid() != 0) {
    check(place, {{"echo > no.toy; chmod 0 no.toy; flashlab run no.toy", 2, {"cannot be read"}}});
  }
}

TEST_CASE("a program that asks for too much hits a limit") {
  Workplace place;
  std::string comment(10'000'000, 'x');  // NOLINT(bugprone-string-constructor): it is meant
  comment.front() = ';';
  place.write("long.toy", comment);
  check(place, {{"flashlab run long.toy", 3, {"longer than 1048576 bytes", "--max-source"}},
                {"flashlab run - < /dev/zero", 3, {"longer than 1048576 bytes"}},
                {"flashlab run softmax_safe -D n=100 --max-steps 10", 3, {"--max-steps"}},
                {"flashlab run softmax_safe -D n=1000000000000", 3, {"--max-array-bytes"}},
                {"flashlab run matmul_blocked --max-nesting 2", 3, {"--max-nesting"}}});
  const Outcome rows = place.shell("flashlab trace softmax_safe -D n=100 --max-trace-rows 50");
  CHECK(rows.code == 3);
  CHECK_THAT(rows.err, contains("--max-trace-rows"));
}

TEST_CASE("odd bytes in a program are answered with a place, and harmless ones are read") {
  Workplace place;
  place.write("nul.toy", std::string("LOAD x[0]\0, R0\n", 15));
  const Outcome nul = place.shell("flashlab run nul.toy");
  CHECK(nul.code == 1);
  CHECK_THAT(nul.err, contains("nul.toy:1:"));
  CHECK(nul.err.find('\0') == std::string::npos);

  const std::string text =
      ".registers 1\r\n.input x[1]\r\n.output o[1]\r\nLOAD x[0], R0\r\n"
      "STORE R0, o[0] ; \xC3\xA4\r\n";
  place.write("windows.toy", "\xEF\xBB\xBF" + text);
  CHECK(json_of(place.shell("flashlab run windows.toy --json"))["cycles"] == 2);
  CHECK(place.shell("cat windows.toy | flashlab run -").code == 0);

  place.write("empty.toy", "");
  const Outcome empty = place.shell("flashlab run empty.toy");
  CHECK(empty.code == 1);
  CHECK_THAT(empty.err, contains("the program has no instruction"));
}

TEST_CASE("a wrong -D, --registers or --cost says what would be right") {
  check(Workplace(),
        {{"flashlab run softmax_safe -D n", 2, {"'n'", "-D NAME=NUMBER"}},
         {"flashlab run softmax_safe -D n=", 2, {"not a value for 'n'", "a whole number"}},
         {"flashlab run softmax_safe -D n=4.5", 2, {"'4.5'", "a whole number"}},
         {"flashlab run softmax_safe -D n=99999999999999999999", 2, {"a whole number"}},
         {"flashlab run flash2 --score soft_cap -D cap=3x",
          2,
          {"'3x'", "'cap'", "a whole number, for a .const any number, or for a sweep a range"}},
         {"flashlab run flash2 --registers 3x", 2, {"'3x'", "expected a whole number, or for a"}},
         {"flashlab run flash2 --score soft_capp", 2, {"'soft_capp'", "did you mean soft_cap?"}},
         {"flashlab run flash2 --score ''", 2, {"there is no score function ''"}},
         {"flashlab run flash2+soft_capp", 2, {"did you mean soft_cap?"}},
         {"flashlab run softmax_safe --score soft_cap", 1, {"softmax_safe.toy: error", ".score"}},
         {"flashlab run flash2 --score 'MUL S, 2, M'", 1, {"--score:1:11", "'M' is a register"}},
         {"flashlab optimal softmax:n=1 --score soft_cap", 2, {"--score", "a .toy file"}},
         {"flashlab run softmax_safe -D n=4 -D n=5", 2, {"'n' is given twice"}},
         {"flashlab run softmax_safe -D n=4..8", 2, {"several values", "flashlab sweep"}},
         {"flashlab run softmax_safe -D m=4", 2, {"'m'"}},
         {"flashlab run softmax_safe --registers many", 2, {"'registers'", "a whole number"}},
         {"flashlab run softmax_safe --registers 2", 1, {"softmax_safe.toy:", "register"}},
         {"flashlab run softmax_safe --cost LAOD=3", 2, {"LAOD", "did you mean LOAD?"}},
         {"flashlab run softmax_safe --cost LOAD", 2, {"MNEMONIC=CYCLES"}},
         {"flashlab run softmax_safe --cost LOAD=-1", 2, {"'LOAD=-1'", "whole number"}},
         {"flashlab sweep softmax_safe", 2, {"no parameter has a range"}},
         {"flashlab sweep softmax_safe -D n=8..4", 2, {"'8..4'"}},
         {"flashlab sweep softmax_safe -D n=1..99999999", 2, {"at most 10 000"}},
         {"flashlab sweep softmax_safe -D n=1..4 --y lods", 2, {"did you mean loads?"}}});
}

TEST_CASE("a wrong --input says which value of which file") {
  Workplace place;
  place.write("x.csv", "1,2\n3,4o\n");
  place.write("ragged.csv", "1,2\n3\n");
  place.write("x.json", "[1,\n {}]");
  place.write("big.csv", std::string(1 << 20, '1'));
  const std::string run = "flashlab run softmax_safe -D n=3 --input ";
  const auto wrong = [&](const std::string& input, const std::string& says) {
    CAPTURE(input);
    const Outcome outcome = place.shell(run + input);
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    CHECK_THAT(outcome.err, contains(says));
  };
  wrong("x", "names no array");
  wrong("x=", "input is empty");
  wrong("y=[1]", "the program has no input 'y'");
  wrong("out=[1]", "the program writes it");
  wrong("x=rondom:7", "did you mean random:?");
  wrong("x=random:seven", "'seven' is not a whole number");
  wrong("x=random:1:2", "random:SEED:LOW:HIGH");
  wrong("x=random:1:2:1", "empty or infinite");
  wrong("x=constant:inf", "+inf is not a value");
  wrong("x=constant:nan", "NaN is not a value");
  wrong("'x=[1,2]'", "3 values, as x[n] holds with n = 3");
  wrong("'x=[1,2,nan]'", "list:1:6: NaN");
  wrong("'x=[1,2,1e39]'", "input x[2] = 1e+39 does not fit");
  wrong("'x=[1,2,1e999]'", "does not fit into a double");
  wrong("'x=[1,[2],3]'", "found a list instead of a number");
  wrong("'x=[1,2,3'", "a list is not closed");
  wrong("'x=[1,2,3] 4'", "something follows the list");
  wrong("x=no.csv", "there is no file 'no.csv'");
  wrong("x=x.csv", "x.csv: line 2, column 2: '4o' is not a number");
  wrong("x=ragged.csv", "line 2 has 1 values, the rows before 2");
  wrong("x=x.json", "x.json:2:2: '{}' is not a number");
  wrong("x=big.csv", "too large for the values");
  wrong("x=[1,2,3] --input x=[1,2,3]", "'x' is given twice");
  place.shell("mkdir folder.csv; mkfifo pipe.csv");
  wrong("x=folder.csv", "not a regular file");
  wrong("x=pipe.csv", "not a regular file");
}

TEST_CASE("a program that goes wrong while it runs names line and step") {
  Workplace place;
  place.write("unwritten.toy", ".registers 2\n.output o[1]\nSTORE R1, o[0]\n");
  const Outcome unwritten = place.shell("flashlab run unwritten.toy");
  CHECK(unwritten.code == 1);
  CHECK_THAT(unwritten.err, contains("unwritten.toy:3:"));
  CHECK_THAT(unwritten.err, contains("step 1"));
  const Outcome overflow =
      place.shell("flashlab run softmax_unsafe_rescale --input 'x=[100,101,102,103]'");
  CHECK(overflow.code == 1);
  CHECK_THAT(overflow.err, contains("inf"));
}

TEST_CASE("an internal limit of memory is no crash") {
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
  FLASHLAB_SKIP("AddressSanitizer itself reserves more address space than the limit leaves");
#endif
  const Outcome outcome = Workplace().shell(
      "ulimit -v 1000000; flashlab run softmax_safe -D n=100000000 --max-array-bytes "
      "1000000000000");
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, contains("memory"));
}

}  // namespace
}  // namespace flashlab::test
