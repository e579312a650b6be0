// The formulas of a wrong result and of the right one, in the words of a verdict.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

/// What the grader finds in the exercise's solution with `from` replaced by `to`.
Finding finding_of_changed(const std::string& id, const std::string& from, const std::string& to) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    std::string text = read.exercise->program.solution->source->text();
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const Grader grader(std::make_shared<const Exercise>(std::move(*read.exercise)));
    const Verdict verdict = grader.grade("mine.toy", text);
    REQUIRE(verdict.findings.size() == 1);
    return verdict.findings.front();
  }
  throw std::runtime_error("there is no exercise " + id);
}

bool has_detail(const Finding& finding, const std::string& start) {
  return std::any_of(finding.details.begin(), finding.details.end(),
                     [&](const std::string& detail) { return detail.starts_with(start); });
}

}  // namespace

TEST_CASE("a wrong result is shown at a size where its formula is more than a number",
          "[formulas]") {
  // With one key the weights and their sum are 1: "it holds 1 = 1" would say nothing.
  const Finding finding = finding_of_changed("28_flash2", "DIV O[c], L, O[c]", "MOV L, O[c]");
  CAPTURE(finding.details);
  CHECK(finding.what.find("n = 2") != std::string::npos);
  CHECK(finding.line == 50);
  CHECK(has_detail(finding, "it holds        e^("));
  CHECK(has_detail(finding, "it should hold  (v[0][0]*e^("));
}

TEST_CASE("a long formula in a verdict keeps its denominator", "[formulas]") {
  const Finding finding =
      finding_of_changed("13_attention_update", "DIV NUM[c], L, NUM[c]", "MOV L, NUM[c]");
  CAPTURE(finding.details);
  CHECK(has_detail(finding,
                   "it should hold  (v[0][0]*e^(k[0][0]*q[0] + k[0][1]*q[1]) + "
                   "v[1][0]*e^(...))/(e^(k[0][0]*q[0] + k[0][1]*q[1]) + "
                   "e^(k[1][0]*q[0] + k[1][1]*q[1]))"));
}

TEST_CASE("the formula in a sentence closes its parentheses", "[formulas]") {
  const Finding finding =
      finding_of_changed("13_attention_update", "  MUL L, A, L ", "  ADD L, A, L ");
  CAPTURE(finding.details);
  CHECK(has_detail(finding,
                   "step 37 (line 37) is the first wrong step: it computes "
                   "e^(k[0][0]*q[0] + k[0][1]*q[1] - m) + 1; it should compute "));
}
