// What a learner reads about a right program that costs too much, and about the exercise.
#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

Outcome at_home(const Workplace& place, const std::string& command) {
  return place.shell("export HOME=$PWD; unset XDG_DATA_HOME; flashlab exercises " + command);
}

}  // namespace

TEST_CASE("what is right, but too costly, is called so, and no step of it is to be debugged") {
  const Workplace place;
  at_home(place, "start 36");
  const Outcome checked = at_home(place, "check 36");
  CHECK(checked.code != 0);
  CHECK_THAT(checked.out, contains("x right, but too costly: 0 of 10 points") &&
                              contains("19 516 are accepted") && !contains("See it happen"));
  CHECK_THAT(at_home(place, "check 36 --json").out,
             contains("\"outcome\": \"right, but too costly\""));
}

TEST_CASE("loads that full marks allow are not made out to be the reason of a cost") {
  const Workplace place;
  // A sum that starts at m - m has one SUB more than is needed; its loads are those of full marks.
  place.write("06_safe_softmax.toy",
              ".isa softmax\n.registers 3\n.param n = 4\n.input  x[n]\n.output out[n]\n"
              "LOAD x[0], R1\n"
              "for i in 1..n\n  LOAD x[i], R0\n  MAX R0, R1, R1\nend\n"
              "SUB R1, R1, R2\n"
              "for i in 0..n\n  LOAD x[i], R0\n  SUB R0, R1, R0\n"
              "  EXP R0, R0\n  ADD R2, R0, R2\nend\n"
              "for i in 0..n\n  LOAD x[i], R0\n  SUB R0, R1, R0\n"
              "  EXP R0, R0\n  DIV R0, R2, R0\n  STORE R0, out[i]\nend\n");
  const Outcome checked = at_home(place, "check 6 --explain");
  CHECK(checked.code == 0);
  CHECK_THAT(checked.out, contains("SUB is executed 33 times; 32 suffice") &&
                              contains("9.9 of 10 points") &&
                              contains("Full marks allow these 48"));
}

TEST_CASE("an exercise whose tiles are free shows no tile, and says what a level of code is") {
  const Workplace place;
  const Outcome shown = at_home(place, "show 36");
  CHECK_THAT(shown.out, contains(".input a(n, k)") && !contains("tile (1, 1)") &&
                            contains("(--level 1)") && contains("227 KiB"));
}

}  // namespace flashlab::test
