// From a wrong answer to its guilty step.
#include "tests/cli/command.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {
namespace {

/// The solution of exercise 2 with one text replaced by another.
void write_broken(const Workplace& place, const std::string& from, const std::string& to) {
  std::string text = read_source(kSourceRoot / "exercises/02_c00/solution.toy");
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  place.write("02_c00.toy", text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("a wrong answer names the command that opens its run at the guilty line", "[debug]") {
  const Workplace place;
  write_broken(place, "LOAD b[1][0], R1", "LOAD b[1][1], R1");
  const std::string home = "export HOME=$PWD; ";
  const Outcome check = place.shell(home + "flashlab exercises check 2 02_c00.toy --html p.html");
  CHECK(check.code == 1);
  CHECK_THAT(check.out,
             contains("line 13") &&
                 contains("See it happen: flashlab exercises debug 02_c00 02_c00.toy\n") &&
                 contains("Wrote p.html"));
  CHECK_THAT(place.read("p.html"), contains("<html") && contains("b[1][1]"));
  const Outcome debug =
      place.shell(home + "echo next | flashlab exercises debug 02_c00 02_c00.toy --commands -");
  CHECK(debug.code == 0);
  CHECK_THAT(debug.out, contains("step 5 of 7, next: line 14: MAC R0, R1, R2, R2"));
}

TEST_CASE("the debugger says why it opens at the guilty step, and what the value should be",
          "[debug]") {
  const Workplace place;
  write_broken(place, "LOAD b[1][0], R1", "LOAD b[1][1], R1");
  const std::string home = "export HOME=$PWD; ";
  const Outcome debug =
      place.shell(home + "echo y | flashlab exercises debug 2 02_c00.toy --commands -");
  CHECK(debug.code == 0);
  CHECK(debug.out.starts_with("Opened before step 5: "));
  CHECK_THAT(debug.out, contains("it should hold  a[0][0]*b[0][0] + a[0][1]*b[1][0]"));
  CHECK(debug.out.find(" | ") == std::string::npos);  // the source is on the screen
  const std::size_t again = debug.out.find("> y\nOpened before step 5: ");
  CHECK(again != std::string::npos);
  place.shell(home + "flashlab exercises check 2 02_c00.toy --html p.html");
  CHECK_THAT(place.read("p.html"), contains("id=\"trace-why\">\"") && contains("it should hold"));
  const Outcome other = place.shell("echo why | flashlab debug matmul_c00 --commands -");
  CHECK_THAT(other.out, contains("> why\nit was opened by hand"));
}

TEST_CASE("a run that fails is opened at the step of its error", "[debug]") {
  const Workplace place;
  write_broken(place, "LOAD a[0][0], R0\n", "");
  const std::string home = "export HOME=$PWD; ";
  const Outcome check = place.shell(home + "flashlab exercises check 2 02_c00.toy");
  CHECK_THAT(check.out, contains("See it happen: "));
  const Outcome debug = place.shell(
      home + "printf 'next 0\\nstep 99\\n' | flashlab exercises debug 2 02_c00.toy --commands -");
  CHECK_THAT(debug.out, contains("failed: line 10: MAC_Z R0, R1, R2"));
}

TEST_CASE("a right answer has no guilty step", "[debug]") {
  const Workplace place;
  write_broken(place, "", "");
  const std::string home = "export HOME=$PWD; ";
  CHECK(place.shell(home + "flashlab exercises check 2 02_c00.toy").out.find("See it") ==
        std::string::npos);
  const Outcome debug =
      place.shell(home + "flashlab exercises debug 2 02_c00.toy --commands /dev/null");
  CHECK(debug.code == 2);
  CHECK_THAT(debug.err, contains("no step of 02_c00.toy is known to be wrong"));
}

}  // namespace flashlab::test
