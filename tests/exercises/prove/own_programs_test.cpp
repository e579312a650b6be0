// What the grader says of wrong programs that are written in another way than the solution: with the learner's own
// registers and order of lines, so that no line of the solution stands in the place of the wrong one.
#include <memory>
#include <string>

#include "exercises/grader/grade/failing_run.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/report/reports.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

Verdict verdict_on_own(const std::string& id, const Changes& changes) {
  return Grader(exercise_named(id)).grade("mine.toy", changed(own_program(id), changes));
}

Finding finding_on_own(const std::string& id, const Changes& changes) {
  const Verdict verdict = verdict_on_own(id, changes);
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

const std::string kMask = "    MASK S, i*B, j*Bk, S\n";

}  // namespace

TEST_CASE("the learner's own programs get full marks", "[verdicts]") {
  for (const char* id : {"06_safe_softmax", "08_online_softmax", "13_attention_update", "28_flash2",
                         "29_flash2_causal", "31_flash1"}) {
    CAPTURE(id);
    CHECK(verdict_on_own(id, {}).outcome == Outcome::kFull);
  }
}

TEST_CASE("a mask behind the row maximum, wrong on huge inputs alone, is found where it stands",
          "[verdicts]") {
  const Changes late{{kMask + "    ROWMAX S, X\n", "    ROWMAX S, X\n" + kMask}};
  const Finding finding = finding_on_own("29_flash2_causal", late);
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 28);
  CHECK(says(finding, "The order is wrong at lines 28 and 29: line 28 reads S too early"));
}

TEST_CASE("a change that is right on plain inputs alone is not said to make the program right",
          "[verdicts]") {
  const Changes two{{kMask + "    ROWMAX S, X\n", "    ROWMAX S, X\n" + kMask},
                    {"ADD M, L, L", "ADD L, M, M"}};
  const Finding finding = finding_on_own("29_flash2_causal", two);
  CAPTURE(finding.what, finding.details);
  CHECK_FALSE(says(finding, "makes the program right"));
  // Of one row alone, a score is the logarithm of the sum.
  CHECK_FALSE(says(finding, "overwrote S"));
}

TEST_CASE("two lines that are not needed are named, not a given line that hides them",
          "[verdicts]") {
  const Finding finding = finding_on_own(
      "28_flash2",
      {{"    ROWMAX S, X\n", "    FILL scale, X\n    MUL S, X, S\n    ROWMAX S, X\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 29);
  CHECK(says(finding, "Lines 28 and 29 are not needed"));
}

TEST_CASE("a line inside of a loop is named that belongs behind it", "[verdicts]") {
  const Changes early{
      {"    MAC S, X, NUM[c], NUM[c]\n",
       "    MAC S, X, NUM[c], NUM[c]\n    DIV NUM[c], L, NUM[c]\n"},
      {"  DIV NUM[c], L, X\n  STORE X, o[c]", "  STORE NUM[c], o[c]"},
  };
  const Finding finding = finding_on_own("13_attention_update", early);
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 36);
  CHECK(says(finding, "Line 36 stands in the wrong place: it belongs before line 40."));
  CHECK_FALSE(says(finding, "line 34"));
}

TEST_CASE("a sum that nothing begins is said to lack a line before its loop", "[verdicts]") {
  const Finding finding = finding_on_own(
      "06_safe_softmax",
      {{"LOAD x[0], R2\nSUB R2, R1, R2\nEXP R2, R2\nfor i in 1..n\n", "for i in 0..n\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 17);
  CHECK(says(finding, "Something is missing before line 17: nothing sets R2 before this loop."));
  CHECK_FALSE(says(finding, "is not what belongs there"));
}

TEST_CASE("of a right program, only what costs points is said to be too much", "[verdicts]") {
  const Finding finding = finding_on_own(
      "06_safe_softmax",
      {{"EXP R2, R2\n", "EXP R2, R2\nSTORE R2, out[0]\n"},
       {"  EXP R0, R0\n  ADD R0, R2, R2\n", "  EXP R0, R0\n  STORE R0, out[i]\n  ADD R0, R2, R2\n"},
       {"  LOAD x[i], R0\n  SUB R0, R1, R0\n  EXP R0, R0\n  DIV", "  LOAD out[i], R0\n  DIV"}});
  CAPTURE(finding.what);
  CHECK(finding.what == "out[0] is stored 2 times; 1 suffices");
  CHECK(finding.line == 20);
}

TEST_CASE("a line in the wrong place with the wrong register is found where it belongs",
          "[verdicts]") {
  const Finding finding =
      finding_on_own("29_flash2_causal",
                     {{kMask, ""}, {"    EXP P, P\n", "    EXP P, P\n    MASK P, i*B, j*Bk, P\n"}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 35);
  CHECK(says(finding,
             "Line 35 stands in the wrong place: a MASK that writes S belongs before "
             "line 28."));
}

TEST_CASE("of a wrong bound, it and the rounds that are too many are told, and not the right bound",
          "[verdicts]") {
  const Finding many =
      finding_on_own("29_flash2_causal", {{"ceildiv(min(n, (i+1)*B), Bk)", "i+1"}});
  CAPTURE(many.details);
  CHECK(many.line == 22);
  CHECK(
      says(many, "In line 22 the bound i+1 is wrong: at i = 2 there is a round too many: j = 2."));
  CHECK_FALSE(says(many, "ceildiv"));
}

TEST_CASE("a loop that begins too late is told its first value", "[verdicts]") {
  const Finding late = finding_on_own("29_flash2_causal", {{"for j in 0..", "for j in 1.."}});
  CAPTURE(late.details);
  CHECK(late.line == 22);
  CHECK(says(late, "In line 22 the first value 1 is wrong: at i = 0 a round is missing: j = 0."));
}

TEST_CASE("a right program whose loop runs too often is told the bound, and not the right one",
          "[verdicts]") {
  for (const auto& [bound, rounds] :
       {std::pair{"tiles(k)",
                  "the bound tiles(k) is wrong: at i = 0 there are rounds too many: j = 1 to 4"},
        std::pair{"min(tiles(k), ceildiv((i+1)*B, Bk) + 1)",
                  "the bound min(tiles(k), ceildiv((i+1)*B, Bk) + 1) is wrong: at i = 0 there is "
                  "a round too many: j = 1"}}) {
    const Verdict verdict =
        verdict_on_own("29_flash2_causal", {{"ceildiv(min(n, (i+1)*B), Bk)", bound}});
    CHECK(verdict.outcome == Outcome::kTooCostly);
    REQUIRE(verdict.findings.size() == 2);
    const Finding& finding = verdict.findings.back();
    CHECK(finding.line == 22);
    CHECK(finding.what == rounds);
    CHECK_FALSE(says(finding, "ceildiv(min(n"));
  }
}

TEST_CASE("a line that stands too late by several lines is one mistake, and not a missing line",
          "[verdicts]") {
  const std::string early = "  SUB R1, R3, R1\n";
  const Finding late = finding_on_own("08_online_softmax",
                                      {{early, ""}, {"  MOV R3, R1\n", early + "  MOV R3, R1\n"}});
  CAPTURE(late.what, late.details, late.line);
  CHECK(says(late, " stands in the wrong place: it belongs "));
  CHECK_FALSE(says(late, "missing"));
}

TEST_CASE("a given line that the learner moved is found where it belongs", "[verdicts]") {
  const std::string given = "FILL -inf, M";
  const std::string text = own_program("13_attention_update");
  REQUIRE(text.find(given) != std::string::npos);
  const std::string whole =
      text.substr(text.find(given), text.find('\n', text.find(given)) + 1 - text.find(given));
  const Finding moved = finding_on_own("13_attention_update",
                                       {{whole, ""}, {"  FILL 0, S\n", "  FILL 0, S\n  " + whole}});
  CAPTURE(moved.what, moved.details, moved.line);
  CHECK(says(moved, "stands in the wrong place: it belongs "));
}

TEST_CASE("of a line with one wrong word, the word is named", "[verdicts]") {
  const Finding wrong =
      finding_on_own("08_online_softmax", {{"  ADD R0, R2, R2\n", "  ADD R1, R2, R2\n"}});
  CAPTURE(wrong.what, wrong.details, wrong.line);
  CHECK(says(wrong, "one change there makes the program right. R1 is wrong."));
}

TEST_CASE("a difference from -inf is not shown as a formula", "[verdicts]") {
  const Finding finding = finding_on_own("28_flash2", {{"SUB M, X, A", "SUB X, M, A"}});
  CAPTURE(finding.details);
  CHECK(finding.line == 30);
  CHECK(says(finding, "step 12 (line 30) computes the negative of what it should be"));
  CHECK_FALSE(says(finding, "undefined"));
}

TEST_CASE("formulas show what differs, with a letter for the maximum", "[verdicts]") {
  const Finding online = finding_on_own("08_online_softmax", {{"  MUL R2, R1, R2\n", ""}});
  CAPTURE(online.details);
  CHECK(says(online,
             "it computes e^(x[1] - m) + 1; it should compute e^(x[0] - m) + e^(x[1] - m), "
             "where m = max(x[0], x[1])"));
  const Finding update =
      finding_on_own("13_attention_update", {{"    MUL NUM[c], A, NUM[c]\n", ""}});
  CAPTURE(update.details);
  CHECK(says(update, "it should compute v[0][0]*e^(k[0][0]*q[0] + k[0][1]*q[1] - m)"));
}

TEST_CASE("a size is said once", "[verdicts]") {
  const Finding finding = finding_on_own("08_online_softmax", {{"  MUL R2, R1, R2\n", ""}});
  CHECK(finding.what == "out[0] is wrong at n = 2");
  CHECK(finding_place(finding) == "line 22, step 10, random inputs");
}

TEST_CASE("a copy that is missing at the end of a loop is missed there", "[verdicts]") {
  const Finding finding = finding_on_own("08_online_softmax", {{"  MOV R3, R1\n", ""}});
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 23);
  CHECK(says(finding, "Something is missing after line 23: one more line makes the program right"));
}

TEST_CASE("a run that is opened at a line, and not where it fails, says so", "[verdicts]") {
  const Changes late{{kMask + "    ROWMAX S, X\n", "    ROWMAX S, X\n" + kMask}};
  const toy::SourceText text("mine.toy", changed(own_program("29_flash2_causal"), late));
  const auto exercise = exercise_named("29_flash2_causal");
  const auto run = failing_run(*exercise, text, Grader(exercise).grade(text));
  REQUIRE(run);
  CHECK(run->why.find("the first of line 28, which the check names\nat line 46, i = 0") == 0);
}

TEST_CASE("two missing stores are both told, in the solution and in another program",
          "[verdicts]") {
  const Finding in_solution = [] {
    const auto exercise = exercise_named("31_flash1");
    const Changes changes{{"    STORE M, m[i][0]\n    SUB", "    SUB"},
                          {"    ADD A, X, L                 ; l'\n    STORE L, l[i][0]\n",
                           "    ADD A, X, L                 ; l'\n"}};
    return Grader(exercise).grade("mine.toy", changed(*exercise, changes)).findings.at(0);
  }();
  CAPTURE(in_solution.what, in_solution.details);
  CHECK(says(in_solution, "Something is missing before line 52: a STORE that writes m[i][0]."));
  CHECK(
      says(in_solution, "look before line 59, too: a STORE that writes l[i][0] is missing there."));

  const std::pair<std::string, std::string> no_maximum{"    STORE X, m[i][0]\n", ""},
      no_sum{"    ADD M, S, L\n    STORE L, l[i][0]\n", "    ADD M, S, L\n"},
      no_output{"      DIV O, L, O\n      STORE O, o[i][c]\n", "      DIV O, L, O\n"};
  for (const Changes& changes :
       {Changes{no_maximum, no_sum}, Changes{no_sum, no_output}, Changes{no_maximum, no_output}}) {
    const Finding finding = finding_on_own("31_flash1", changes);
    CAPTURE(finding.what, finding.details);
    CHECK(says(finding, "Something is missing "));
    CHECK(says(finding, "There is a second mistake: look "));
    CHECK(says(finding, ", too: a STORE that writes "));
  }
}
