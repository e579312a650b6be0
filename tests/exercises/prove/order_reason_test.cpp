// Why a line must stand where it belongs: what is said of a mask after the exponential, and of lines that were moved.
#include <string>

#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

Finding moved_in(const std::string& id, const Changes& changes) {
  const auto exercise = exercise_named(id);
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(*exercise, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

const std::string kScoresMask = "    MASK S, i*B, j*Bk, S\n";
const std::string kWeights = "    EXP S, P\n";

}  // namespace

TEST_CASE("a mask after the exponential is told that masked keys have a weight", "[verdicts]") {
  const Finding finding =
      moved_in("29_flash2_causal", {{kScoresMask, ""}, {kWeights, kWeights + kScoresMask}});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding,
             "MASK stands after EXP (line 37), so the weights of masked keys are not 0: "
             "only before it does -inf become 0, as e^-inf."));
  CHECK(says(finding, "ROWMAX (line 31) must leave masked keys out, too."));
}

TEST_CASE("a mask of the weights is told that it belongs on the scores", "[verdicts]") {
  const Finding finding = moved_in(
      "29_flash2_causal", {{kScoresMask, ""}, {kWeights, kWeights + "    MASK P, i*B, j*Bk, P\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding,
             "Line 38 stands in the wrong place: a MASK that writes S belongs before line "
             "31. MASK stands after EXP (line 37), so the weights of masked keys are -inf"));
  CHECK_FALSE(says(finding, "second mistake"));
}

TEST_CASE("a mask between the row maximum and the exponential is told the row maximum",
          "[verdicts]") {
  const Finding next = moved_in(
      "29_flash2_causal", {{kScoresMask + "    ROWMAX S, X\n", "    ROWMAX S, X\n" + kScoresMask}});
  CAPTURE(next.what, next.details);
  CHECK(says(next, "ROWMAX (line 31) must leave masked keys out, too."));
  const Finding later =
      moved_in("29_flash2_causal",
               {{kScoresMask, ""}, {"    SUB S, M, S\n", "    SUB S, M, S\n" + kScoresMask}});
  CAPTURE(later.what, later.details);
  CHECK(says(later, "ROWMAX (line 31) must leave masked keys out, too."));
  CHECK_FALSE(says(later, "stands after EXP"));
}

TEST_CASE("of a line that was moved it is told which line needs the other order", "[verdicts]") {
  const std::string maximum = "    MAX M, X, M                 ; m'\n";
  const Finding late =
      moved_in("31_flash1", {{maximum, ""}, {"    SUB S, M, S\n", maximum + "    SUB S, M, S\n"}});
  CAPTURE(late.what, late.details);
  CHECK(says(late, "it belongs before line 51. Line 51 reads M before line 54 has changed it."));
  const Finding early =
      moved_in("28_flash2",
               {{"    MUL L, A, L\n", ""}, {"    EXP A, A ", "    MUL L, A, L\n    EXP A, A "}});
  CAPTURE(early.what, early.details);
  CHECK(says(early, "It reads A before line 38 has changed it."));
}
