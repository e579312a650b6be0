// Copies of the template, each broken in one way, and what lint says about them.
#include "exercises/grader/prove/lint.hpp"

#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;
using namespace flashlab::test;

ExerciseSource copy() {
  ExerciseSource source = template_exercise();
  source.id = "copy";
  return source;
}

/// All that lint says, after one stretch of one file has been replaced.
std::string lint_with(const std::string& file, const std::string& from, const std::string& to) {
  ExerciseSource source = copy();
  std::string& text = source.files[file];
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  std::string all;
  for (const LintProblem& problem : lint(source)) all += problem.file + ": " + problem.what;
  return all;
}

std::string toml(const std::string& from, const std::string& to) {
  return lint_with("exercise.toml", from, to);
}

}  // namespace

TEST_CASE("nothing is wrong with the template", "[lint]") { CHECK(lint(copy()).empty()); }

TEST_CASE("nothing is wrong with any exercise of the course", "[lint]") {
  for (const ExerciseSource& source : builtin_exercises()) {
    for (const LintProblem& problem : lint(source)) {
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
      if (problem.what.find("ms of processor time") != std::string::npos)
        continue;  // slower by ten
#endif
      FAIL_CHECK(source.id << "/" << problem.file << ": " << problem.what);
    }
    SUCCEED(source.id);
  }
}

TEST_CASE("lint shows what the reader says", "[lint]") {
  CHECK_THAT(toml("title", "titel"),
             contains("exercise.toml: exercise.toml:2:1: error: unknown key"));
  CHECK_THAT(toml("\"matmul\"", "\"matmull\""), contains("unknown level"));
  CHECK_THAT(toml("{ n = 2 }", "{ n = \"2\" }"), contains("the value of n is not a size"));
  CHECK_THAT(toml("loads = ", "lods = "), contains("there is no counter 'lods'"));
  CHECK_THAT(lint_with("hints.md", "## Operand", "## Operands"), contains("hints.md:11:1"));
  CHECK_THAT(lint_with("solution.toy", "end\n", "\n"), contains("solution.toy: solution.toy:"));
}

TEST_CASE("a naive program must cost more than full marks", "[lint]") {
  CHECK_THAT(toml("full = {", "naive = \"solution.toy\"\nfull = {"),
             contains("solution.toy: the naive program has ") && contains("cycles or fewer") &&
                 contains("loads or fewer"));
}

TEST_CASE("a naive program that does not fit the exercise is shown with its error", "[lint]") {
  ExerciseSource source = copy();
  std::string& text = source.files["exercise.toml"];
  text.replace(text.find("full = {"), 8, "naive = \"naive.toy\"\nfull = {");
  source.files["naive.toy"] = source.files["solution.toy"];
  std::string& naive = source.files["naive.toy"];
  naive.replace(naive.find(".registers 3"), 12, ".registers 1");
  const std::vector<LintProblem> problems = lint(source);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].what, contains("the naive program cannot be counted at n = 1") &&
                                   contains("naive.toy:") && contains("there is no register"));
}

TEST_CASE("a solution without full marks is shown with its verdict", "[lint]") {
  const std::string costly = toml("3*n + 1", "3*n");
  CHECK_THAT(costly, contains("solution.toy: the solution does not earn full marks"));
  CHECK_THAT(costly, contains("cycles: 49, full marks up to 48 at n = 16"));
  CHECK_THAT(lint_with("solution.toy", "LOAD y[i], R1", "LOAD y[i], R1\n  LOAD y[i], R1"),
             contains("the solution does not earn full marks"));
  CHECK_THAT(toml("registers = 3", "registers = 2"),
             contains("the solution does not earn full marks"));
}

TEST_CASE("a reference and a solution that disagree are said to, and rounding is not blamed",
          "[lint]") {
  for (const std::string& said :
       {lint_with("reference.toy", "STORE R2, s[0]", "ADD R2, R2, R2\nSTORE R2, s[0]"),
        lint_with("solution.toy", "1..n", "2..n")}) {
    CHECK_THAT(said, contains("solution.toy: the reference and the solution disagree (n = ") &&
                         contains("random inputs)\n") &&
                         contains("expected the same results of reference.toy and solution.toy") &&
                         contains("  s[0] is ") && contains("in the solution, and ") &&
                         !contains("rounding") && !contains("full marks"));
  }
}

TEST_CASE("a starter that passes or cannot be run is a problem", "[lint]") {
  ExerciseSource source = copy();
  source.files["starter.toy"] = source.files["solution.toy"];
  std::vector<LintProblem> problems = lint(source);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].file == "starter.toy");
  CHECK_THAT(problems[0].what, contains("the starter passes as it is"));
  CHECK_THAT(lint_with("starter.toy", ".input y[n]\n", ".input z[n]\n"), contains("starter.toy"));
}

TEST_CASE("a wrong submission must be explained as exercise.toml says", "[lint]") {
  const std::string moved = toml("line = 11", "line = 12");
  CHECK_THAT(moved, contains("wrong/forgets_the_last.toy: the explanation names line 11"));
  CHECK_THAT(moved, contains("expected line 12, as [[wrong]] says"));
  CHECK_THAT(moved, contains("the grader said: wrong"));
  CHECK_THAT(toml("line = 11", "says = \"abracadabra\""),
             contains("the explanation does not say 'abracadabra'"));
  CHECK_THAT(lint_with("wrong/forgets_the_last.toy", "1..n-1", "1..n"),
             contains("this wrong submission is accepted"));
}

TEST_CASE("a file that nothing refers to is a problem", "[lint]") {
  ExerciseSource source = copy();
  source.files["wrong/other.toy"] = "x";
  source.files["notes.txt"] = "x";
  const std::vector<LintProblem> problems = lint(source);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].file == "notes.txt");
  CHECK(problems[1].file == "wrong/other.toy");
  CHECK_THAT(problems[1].what, contains("a [[wrong]] with file = \"wrong/other.toy\""));
}

TEST_CASE("a hint that repeats another is a problem", "[lint]") {
  ExerciseSource source = copy();
  source.files["hints.md"] = "## Concept\na\n## Place\nb\n## Operand\na\n## Solution\nd\n";
  const std::vector<LintProblem> problems = lint(source);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].what, contains("the hint 'Operand' repeats 'Concept'"));
}

TEST_CASE("a hint of the template below a problem of one's own is a problem", "[lint]") {
  ExerciseSource source = copy();
  source.files["problem.md"] = "Add up x.\n";
  const std::vector<LintProblem> problems = lint(source);
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].file == "hints.md");
  CHECK_THAT(problems[0].what, contains("the hint 'Concept' is still the template's"));
}

TEST_CASE("a reference that does not run is a problem", "[lint]") {
  CHECK_THAT(lint_with("reference.toy", "LOAD x[i], R0", "LOAD x[i + 1], R0"),
             contains("exercise.toml: the exercise cannot be run"));
}
