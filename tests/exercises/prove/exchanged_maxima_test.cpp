// The old and the new maximum exchanged: what is said of it in programs that are written in other ways.
#include <string>

#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

Finding exchanged_in(const Changes& changes) {
  const auto exercise = exercise_named("08_online_softmax");
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(*exercise, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

const std::string kCopy =
    "  MOV R1, R3                    ; keep the old maximum: the factor needs both\n";

}  // namespace

TEST_CASE("an old and a new maximum in each other's registers are told", "[verdicts]") {
  const Finding finding = exchanged_in({{kCopy, ""}, {"MAX R1, R0, R1", "MAX R1, R0, R3"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 25);
  CHECK(says(finding, "Something is missing before line 25, and the operands of line 25 are not"));
  CHECK(says(finding, "R1 holds what belongs in R3, and R3 what belongs in R1."));
}

TEST_CASE("old and new maximum exchanged in the factor's exponent are told as its negative",
          "[verdicts]") {
  const Finding exponent = exchanged_in({{"SUB R3, R1, R3", "SUB R1, R3, R3"}});
  CAPTURE(exponent.what, exponent.details);
  CHECK(says(exponent, "the negative of what it should be"));
}
