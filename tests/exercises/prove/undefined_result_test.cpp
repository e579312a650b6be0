// Where a result that is not a number comes from.
#include <string>
#include <utility>

#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

Finding undefined_in(const std::string& id, const Changes& changes) {
  const auto exercise = exercise_named(id);
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(*exercise, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

}  // namespace

TEST_CASE("the step that makes NaN is told with its values, their lines and the right value",
          "[verdicts]") {
  struct Wrong {
    const char *id, *from, *to, *told;
  };
  const Wrong wrongs[] = {
      {"28_flash2", "    MAX M, X, M                 ; m'\n", "",
       "-inf - -inf is not a number: A (from line 34) and M (from line 25) are both -inf here. M "
       "should be "},
      {"31_flash1", "FILL 0, L", "FILL -inf, L",
       "-inf x 0 is not a number: L (from line 48) is -inf and A (from line 54) is 0 here. L "
       "should "
       "be 0."},
      {"28_flash2", "SUB A, M, A", "SUB A, A, A",
       "-inf - -inf is not a number: A (from line 34) is -inf here."},
      {"30_fused_softmax", "MAX M, X, M", "MOV X, X", " is +inf: S[0] (from line 20) is "},
  };
  for (const Wrong& wrong : wrongs) {
    const Finding finding = undefined_in(wrong.id, {{wrong.from, wrong.to}});
    CAPTURE(wrong.id, finding.what, finding.details);
    CHECK(says(finding, wrong.told));
  }
}

TEST_CASE("a product of tiles that is not a number is told its -inf", "[verdicts]") {
  const Finding finding = undefined_in(
      "29_flash2_causal",
      {{"    MASK S, i*B, j*Bk, S\n", ""}, {"EXP S, P\n", "EXP S, P\n    MASK P, i*B, j*Bk, P\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding,
             "The sum of products has -inf in it: P (from line 38) is -inf in row 0, column 1"));
}

TEST_CASE("a result that is too large is told with the value that it is made of", "[verdicts]") {
  const std::pair<std::string, std::string> unsafe{"SUB R0, R1, R0", "MOV R0, R0"};
  const Finding finding = undefined_in("06_safe_softmax", {unsafe, unsafe, unsafe});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding, " is too large for the machine's numbers: R0 (from line "));
}
