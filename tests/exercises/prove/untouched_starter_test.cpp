// What the grader says of a submission in which the learner has written nothing yet.
#include "exercises/grader/explain/untouched_starter.hpp"

#include <string>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

Finding finding_on(const std::string& id, const std::string& text) {
  const Verdict verdict = Grader(exercise_named(id)).grade("mine.toy", text);
  CHECK_FALSE(verdict.passed());
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

std::string starter_of(const std::string& id) { return exercise_named(id)->starter(); }

/// The text without comments, and with other spaces.
std::string bare(const std::string& text) {
  std::string result;
  const toy::SourceText source("bare", text);
  for (std::uint32_t line = 1; line <= source.num_lines(); ++line) {
    const std::string_view all = source.line(line);
    const std::string code(all.substr(0, all.find_first_of(";#")));
    if (code.find_first_not_of(' ') != code.npos) result += "  " + code + "\n";
  }
  return result;
}

constexpr const char* kNothing = "nothing is written yet: this is the starter, unchanged";

}  // namespace

TEST_CASE("an untouched starter is told that nothing is written yet, and where to begin",
          "[verdicts]") {
  const Finding flash = finding_on("28_flash2", starter_of("28_flash2"));
  CAPTURE(flash.what, flash.details);
  CHECK(flash.what == kNothing);
  CHECK(flash.line == 24);
  CHECK(says(flash,
             "Begin at line 24, where the starter says: \"for each tile of keys: S = Q K^T, "));
  CHECK(says(flash, "P, L and O then O / L to o[i][c], and M + log L to lse[i][0]\""));
  CHECK_FALSE(says(flash, "STORE"));
}

TEST_CASE("of several places where something is to be written, the further ones are named",
          "[verdicts]") {
  const Finding safe = finding_on("06_safe_softmax", starter_of("06_safe_softmax"));
  CAPTURE(safe.what, safe.details);
  CHECK(safe.line == 14);
  CHECK(says(safe, "Begin at line 14, where the starter says: \"R1 = max(R0, R1): "));
  CHECK(says(safe, "More is to be written at line 19 and line 22."));
}

TEST_CASE("a starter whose comments are gone and whose spaces are others is still unchanged",
          "[verdicts]") {
  for (const char* id : {"13_attention_update", "28_flash2", "29_flash2_causal", "31_flash1"}) {
    CAPTURE(id);
    const Finding finding = finding_on(id, bare(starter_of(id)));
    CAPTURE(finding.details);
    CHECK(finding.what == kNothing);
    CHECK(says(finding, "Begin below line "));
    CHECK(says(finding, ", where the starter says: \""));
  }
}

TEST_CASE("one line more than the starter, and the run is explained", "[verdicts]") {
  const Finding finding = finding_on(
      "13_attention_update",
      changed(starter_of("13_attention_update"), {{"  ; after the other.\n", "  MOV M, A\n"}}));
  CAPTURE(finding.what);
  CHECK(finding.what != kNothing);
  CHECK_FALSE(finding.inputs.empty());
}

TEST_CASE("a whole program that is to be changed keeps what is wrong with it", "[verdicts]") {
  const Finding finding = finding_on("09_numerical_safety", starter_of("09_numerical_safety"));
  CAPTURE(finding.what, finding.details);
  CHECK(finding.what != kNothing);
  CHECK_FALSE(finding.inputs.empty());
  CHECK(says(finding, kStarterUnchanged));
}

TEST_CASE("every starter with something missing in it is told so, with a line", "[verdicts]") {
  for (const ExerciseSource& source : builtin_exercises()) {
    const auto exercise = exercise_named(source.id);
    if (exercise->kind != Kind::kProgram) continue;
    const Verdict verdict = Grader(exercise).grade("mine.toy", exercise->starter());
    if (verdict.passed() || verdict.outcome == Outcome::kTooCostly) continue;
    CAPTURE(source.id);
    REQUIRE_FALSE(verdict.findings.empty());
    const Finding& finding = verdict.findings.front();
    CAPTURE(finding.what, finding.details);
    CHECK((finding.what == kNothing || says(finding, kStarterUnchanged)));
    if (finding.what == kNothing) CHECK(finding.line > 0);
  }
}
