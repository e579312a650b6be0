// What the grader says of wrong programs, and where: on tiles, of factors, terms and empty loops. And that it is true
// elsewhere.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/explain/own_hint.hpp"
#include "exercises/grader/grade/failing_run.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/prove/remarks.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

std::shared_ptr<const Exercise> exercise_named(const std::string& id) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    return std::make_shared<const Exercise>(std::move(*read.exercise));
  }
  throw std::runtime_error("there is no exercise " + id);
}

using Changes = std::vector<std::pair<std::string, std::string>>;

/// The exercise's solution with texts replaced.
std::string changed(const Exercise& exercise, const Changes& changes) {
  std::string text = exercise.program.solution->source->text();
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  return text;
}

Finding finding_of(const std::string& id, const Changes& changes) {
  const auto exercise = exercise_named(id);
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(*exercise, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

bool says(const Finding& finding, const std::string& text) {
  return std::any_of(finding.details.begin(), finding.details.end(),
                     [&](const auto& detail) { return detail.find(text) != std::string::npos; });
}

const Changes kTileNumbers{{"MASK S, i*B, j*Bk, S", "MASK S, i, j, S"}};

}  // namespace

TEST_CASE("a mask at tile numbers is found at its line, with the value that it should leave",
          "[verdicts]") {
  const Finding finding = finding_of("29_flash2_causal", kTileNumbers);
  CAPTURE(finding.what, finding.details);
  CHECK(finding.line == 31);
  CHECK(finding.step > 0);
  CHECK(says(finding, "it lies in tile o[1][0], which step "));
  CHECK(says(finding, "(line 31) is the first wrong step: it makes ["));
  CHECK(says(finding, "counts elements, not tiles"));
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

TEST_CASE("two mistakes on tiles are named by a step that the solution does not have",
          "[verdicts]") {
  const Finding finding = finding_of("29_flash2_causal", {kTileNumbers[0], {"MUL L, A, L\n", ""}});
  CAPTURE(finding.what, finding.details);
  CHECK((finding.line == 31 || finding.line == 40));
  CHECK(finding.step > 0);
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
