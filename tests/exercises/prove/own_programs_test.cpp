// What the grader says of wrong programs that are written in another way than the solution: with the learner's own
// registers and order of lines, so that no line of the solution stands in the place of the wrong one.
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

/// A learner's right program.
std::string own_program(const std::string& id) {
  std::ifstream file(FLASHLAB_SOURCE_DIR "/tests/exercises/own_programs/" + id + ".toy");
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Verdict verdict_on_own(const std::string& id, const Changes& changes) {
  return Grader(exercise_named(id)).grade("mine.toy", changed(own_program(id), changes));
}

Finding finding_on_own(const std::string& id, const Changes& changes) {
  const Verdict verdict = verdict_on_own(id, changes);
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

}  // namespace

TEST_CASE("the learner's own programs get full marks", "[verdicts]") {
  for (const char* id : {"06_safe_softmax", "08_online_softmax", "13_attention_update", "28_flash2",
                         "29_flash2_causal"}) {
    CAPTURE(id);
    CHECK(verdict_on_own(id, {}).outcome == Outcome::kFull);
  }
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
