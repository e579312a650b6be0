// What the grader says of wrong programs, and where: on tiles, of factors, terms and empty loops. And that it is true
// elsewhere.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/explain/own_hint.hpp"
#include "exercises/grader/grade/failing_run.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/prove/remarks.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

Finding finding_of(const std::string& id, const Changes& changes) {
  const auto exercise = exercise_named(id);
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(*exercise, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

const Changes kTileNumbers{{"MASK S, i*B, j*Bk, S", "MASK S, i, j, S"}};

}  // namespace

TEST_CASE("of lines whose change makes results right, one is named whose change is accepted, too",
          "[verdicts]") {
  // R2 = 0 in line 19 would be right, too, with one load too many.
  const Finding finding = finding_of("08_online_softmax", {{"for i in 1..n", "for i in 0..n"}});
  CHECK(finding.line == 21);
}

TEST_CASE("that the old maximum is lost is not called an exchange of sources", "[verdicts]") {
  // The factor is e^(m' - s). With its sources exchanged, SUB would compute another value of the solution.
  const Finding finding = finding_of(
      "13_attention_update",
      {{"  MOV M, A                      ; keep the old maximum: the factor needs both\n", ""},
       {"SUB A, M, A", "SUB M, S, A"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 32);
  CHECK_FALSE(says(finding, "the negative of"));
}

TEST_CASE("a mask at tile numbers is found at its line, with the value that it should leave",
          "[verdicts]") {
  const Finding finding = finding_of("29_flash2_causal", kTileNumbers);
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 31);
  CHECK(finding.step > 0);
  CHECK(says(finding, "it lies in tile o[1][0], which step "));
  CHECK(says(finding, "(line 31) is the first wrong step: it makes ["));
  CHECK(says(finding, "counts elements, not tiles. Line 31 has i where i*B belongs"));
}

TEST_CASE("the failing run of a tile program opens at its first wrong step", "[verdicts]") {
  const auto exercise = exercise_named("29_flash2_causal");
  const std::string text = changed(*exercise, kTileNumbers);
  const Verdict verdict = Grader(exercise).grade("mine.toy", text);
  const auto run = failing_run(*exercise, toy::SourceText("mine.toy", text), verdict);
  REQUIRE(run);
  CHECK(run->step == verdict.findings.front().step);
  CHECK(run->why.find("should be") != std::string::npos);
}

TEST_CASE("of two mistakes on tiles one is explained, and the line of the other is named",
          "[verdicts]") {
  const Finding finding = finding_of("29_flash2_causal", {kTileNumbers[0], {"MUL L, A, L\n", ""}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 40);
  CHECK(finding.step > 0);
  CHECK(says(finding,
             "Something is missing before line 40: a MUL that writes L. There is a second "
             "mistake: look at line 31, too."));
}

TEST_CASE("a hint on one of two mistakes names the words of its line", "[verdicts]") {
  const auto exercise = exercise_named("37_fast_attention");
  const toy::SourceText text(
      "mine.toy", changed(*exercise, {{"ROWSUM P, X", "ROWSUM S, X"}, {"DIV O, L, O\n", ""}}));
  const Verdict verdict = Grader(exercise).grade(text);
  CHECK(own_hint(verdict, text, 2).find("Look at line 30") == 0);
  CHECK(own_hint(verdict, text, 3) == "In line 30, `S` is not what belongs there.");
}

TEST_CASE("two lines that are wrong together are named with what belongs there", "[verdicts]") {
  const Finding finding = finding_of(
      "21_backward_onepass",
      {{"LOAD lse[i][0], X", "LOAD delta[i][0], X"}, {"LOAD delta[i][0], D", "LOAD lse[i][0], D"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 51);
  CHECK(says(finding, "Line 51 has delta[i][0] where lse[i][0] belongs."));
  CHECK(says(finding, "look at line 60, too"));
}

TEST_CASE("a line that stands in the wrong place is named with the right one", "[verdicts]") {
  const Finding finding = finding_of(
      "34_fewest_bytes", {{"  FILL 0, L\n", ""}, {"\nfor i in", "\nFILL 0, L\nfor i in"}});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding, "stands in the wrong place: it belongs before line "));
}

TEST_CASE("lines that differ from the solution without harm are no mistakes", "[verdicts]") {
  const Finding finding =
      finding_of("28_flash2", {{"  FILL -inf, M\n  FILL 0, L\n", "  FILL 0, L\n  FILL -inf, M\n"},
                               {"MAC Q[c], K^T, S, S", "MAC Q[c], K, S, S"},
                               {"LOG L, L\n", "LOG M, L\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 53);
  CHECK(says(finding,
             "Line 53 has M where L belongs. There is a second mistake: look at line 31, too."));
}

TEST_CASE("on several machines the word that belongs in a line is named", "[verdicts]") {
  const Finding finding =
      finding_of("40_softmax_over_machines", {{"SEND state[1], next", "SEND state[0], next"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 43);
  CHECK(says(finding, "Line 43 has state[0] where state[1] belongs"));
}

TEST_CASE("on scalars the word that belongs in a line is not told", "[verdicts]") {
  const Finding finding = finding_of("08_online_softmax", {{"MAX R1, R0, R1", "ADD R1, R0, R1"}});
  CAPTURE(finding.what, finding.details);
  CHECK_FALSE(says(finding, "belongs"));
}

TEST_CASE("a sum that is used before its last term is named", "[verdicts]") {
  const Finding finding =
      finding_of("30_fused_softmax",
                 {{"    ADD L, X, L\n  end\n  for j in 0..tiles(s, 1)\n", "    ADD L, X, L\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 30);
  CHECK(says(finding, "step 20 (line 30) uses L too early: it is complete only after step 31"));
}

TEST_CASE("a size that does not bind is compared with the solution's", "[verdicts]") {
  const Finding finding =
      finding_of("28_flash2",
                 {{"for c in 0..tiles(q, 1)\n      LOAD k", "for c in 0..tiles(q)\n      LOAD k"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 29);
  CHECK(says(finding, "tiles(q) where tiles(q, 1) belongs"));
}

TEST_CASE("an elementwise maximum in place of a row maximum is found at its line", "[verdicts]") {
  const Finding finding = finding_of("28_flash2", {{"ROWMAX S, X", "MAX S, M, X"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 33);
}

TEST_CASE("a loop that runs no round is named", "[verdicts]") {
  const Finding finding = finding_of("29_flash2_causal", {{"ceildiv(min(n, i*B + B), Bk)", "i"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 25);
  CHECK(says(finding, "the loop in line 25 runs no round"));
}

TEST_CASE("a missing factor is named", "[verdicts]") {
  const Finding finding =
      finding_of("21_backward_onepass",
                 {{"  FILL scale, X\n  for c in 0..tiles(k, 1)\n    MUL dK[c], X, dK[c]",
                   "  for c in 0..tiles(k, 1)\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding, "every element of dk is 1/scale times what it should be"));
}

TEST_CASE("a missing term is named", "[verdicts]") {
  const Finding finding =
      finding_of("04_outer_product", {{"LOAD b[1][0], R1\nMAC R0, R1, R2, R2\n", ""}});
  CAPTURE(finding.what, finding.details);
  CHECK(says(finding, "the term a[0][1]*b[1][0] is missing"));
}

TEST_CASE("a wrong initial value is named where it is made", "[verdicts]") {
  const Finding finding =
      finding_of("08_online_softmax", {{"SUB R0, R1, R0                  ; 0 ...\nEXP R0, R0       "
                                        "               ; ... and e^0 = 1, "
                                        "without a constant\nMOV R0, R2",
                                        "MOV R0, R2"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 18);
  CHECK(says(finding, "it computes x[0]; it should compute 1"));
}

TEST_CASE("what is true of two numbers alone is not said", "[verdicts]") {
  // Half of the squared distance of two numbers is their variance, so at n = 2 another register has it.
  const Finding finding = finding_of("12_online_variance", {{"SUB COUNT, ONE, COUNT", ""}});
  CAPTURE(finding.what, finding.details);
  CHECK_FALSE(says(finding, "stores another register"));
  CHECK(says(finding, "variance[0] is (n - 1)/n times what it should be"));
  // With one query and one key of one number, the score is the logarithm of the sum.
  const Finding lse = finding_of("28_flash2", {{"  ADD M, L, L\n", ""}});
  CAPTURE(lse.details);
  CHECK_FALSE(says(lse, "overwrote S"));
  CHECK(lse.line == 54);
}

TEST_CASE("the order of operands is not said to be wrong where another line must change too",
          "[verdicts]") {
  const Finding finding = finding_of(
      "05_inner_six_registers",
      {{"MAC_Z R2, R4, R5 ", "MAC R1, R0, R5, R5 "}, {"MAC R4, R0, R5, R5", "MAC R1, R3, R5, R5"}});
  CAPTURE(finding.what, finding.details);
  CHECK_FALSE(says(finding, "the destination comes last"));
}

TEST_CASE("a hint names the learner's line and the words in it that are wrong", "[verdicts]") {
  const auto exercise = exercise_named("29_flash2_causal");
  const toy::SourceText text("mine.toy", changed(*exercise, kTileNumbers));
  const Verdict verdict = Grader(exercise).grade(text);
  CHECK(own_hint(verdict, text, 1).find("o[2][0] is wrong") == 0);
  CHECK(own_hint(verdict, text, 2).find("Look at line 31") == 0);
  CHECK(own_hint(verdict, text, 3) == "In line 31, `i` and `j` are not what belongs there.");
  const toy::SourceText right("mine.toy", changed(*exercise, {}));
  CHECK(own_hint(Grader(exercise).grade(right), right, 1).empty());
}

TEST_CASE("values that hide a wrong index at the displayed sizes are not said to make all right",
          "[verdicts]") {
  const auto claims_values = [](const Finding& finding) {
    return std::any_of(finding.claims.begin(), finding.claims.end(),
                       [](const Claim& claim) { return claim.kind == Claim::Kind::kValues; });
  };
  // The index is out of range where it counts more columns than there are workers or queries; and a tile
  // of fewer columns does not fit the one before it.
  CHECK_FALSE(claims_values(finding_of(
      "32_split_kv_merge",
      {{"MUL X, W, X\n      MUL O[c], A, O[c]", "MUL X, W, W\n      MUL O[c], A, O[c]"}})));
  CHECK_FALSE(claims_values(
      finding_of("32_split_kv_merge", {{"LOAD num[0][i][c], O[c]", "LOAD num[c][i][c], O[c]"}})));
  CHECK_FALSE(claims_values(
      finding_of("24_dx_stream", {{"LOAD do[i][c], dO[c]", "LOAD do[c][c], dO[c]"}})));
  CHECK_FALSE(
      claims_values(finding_of("16_loop_orders", {{"    STORE M, m[i]", "    STORE V[i], m[i]"}})));
}

TEST_CASE("no remark on a mutant is false at other sizes and inputs", "[verdicts]") {
  for (const char* id : {"07_online_step", "08_online_softmax", "12_online_variance"}) {
    RemarkOptions options;
    options.seed = 20261128;
    options.every = 5;
    const RemarkReport report = check_remarks(exercise_named(id), options);
    CAPTURE(id, options.seed, report.remarks, report.decided);
    CHECK(report.decided > 10);
    for (const FalseRemark& one : report.wrong) {
      CAPTURE(one.mutant.line, one.mutant.what, one.claim.name, one.claim.line,
              to_string(one.size));
      CHECK(false);
    }
  }
}
