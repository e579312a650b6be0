// Exercises that cannot be avoided: sizes that nobody sees, .temp that is counted, submissions that
// try.
#include <set>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/grade/failing_run.hpp"
#include "exercises/grader/prove/lint.hpp"
#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

/// The template with `from` in its exercise.toml replaced.
Files with_toml(const std::string& from, const std::string& to) {
  Files files = template_exercise().files;
  std::string& text = files.at("exercise.toml");
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return files;
}

std::string lint_text(const Files& files) {
  std::string text;
  for (const LintProblem& problem : lint({"01_dot", {}, files}))
    text += problem.file + ": " + problem.what;
  return text;
}

constexpr const char* kDrawn = "drawn = { n = [17, 40] }";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

const Check& row_of(const Verdict& verdict, const std::string& name) {
  for (const Check& check : verdict.checks) {
    if (check.name == name) return check;
  }
  FAIL("there is no row " << name);
  return verdict.checks.front();
}

/// Loads each element beyond the sixteenth once more, which costs nothing at a size that is seen.
std::string costly_when_large() {
  return replaced(dot_solution(), "STORE R2, s[0]",
                  "for i in 16..n\n  LOAD x[i], R0\nend\nSTORE R2, s[0]");
}

/// A copy of x in a .temp array of its own.
std::string with_copy() {
  return replaced(dot_solution(), "LOAD x[0], R0",
                  ".temp copy[n]\nfor i in 0..n\n  LOAD x[i], R0\n  STORE R0, copy[i]\nend\n"
                  "LOAD copy[0], R0");
}

}  // namespace

TEST_CASE("sizes are drawn from their ranges by the seed, and are none that everybody sees",
          "[drawn]") {
  const auto exercise = dot_product(with_toml(kDrawn, "drawn = { n = [14, 18] }\ndraws = 3"));
  std::set<Size> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Size> sizes = drawn_sizes(exercise->program, seed);
    CHECK(sizes == drawn_sizes(exercise->program, seed));
    CHECK(std::set<Size>(sizes.begin(), sizes.end()).size() == 3);
    seen.insert(sizes.begin(), sizes.end());
  }
  CHECK(seen == std::set<Size>{{{"n", 14}}, {{"n", 15}}, {{"n", 17}}, {{"n", 18}}});
}

TEST_CASE("eight sizes are drawn unless the exercise says", "[drawn]") {
  CHECK(drawn_sizes(dot_product()->program, 1).size() == 8);
  const auto exercise = dot_product(with_toml(kDrawn, "drawn = { n = [18, 20] }"));
  CHECK(drawn_sizes(exercise->program, 1) ==
        std::vector<Size>{{{"n", 18}}, {{"n", 19}}, {{"n", 20}}});
}

TEST_CASE("a range of known sizes alone is drawn from all the same", "[drawn]") {
  const auto exercise = dot_product(with_toml(kDrawn, "drawn = { n = 16 }"));
  CHECK(drawn_sizes(exercise->program, 1) == std::vector<Size>{{{"n", 16}}});
}

TEST_CASE("a program that is right at the displayed sizes alone is wrong, and is told where",
          "[drawn]") {
  const Grader grader(dot_product());
  const Verdict verdict =
      grade_text(grader, template_exercise().files.at("avoids/displayed_sizes.toy"));
  CHECK(verdict.outcome == Outcome::kWrong);
  CHECK(verdict.points == 0);
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK_THAT(verdict.findings[0].what, contains("s[0] is wrong at n = "));
  CHECK(row_of(verdict, "results at n = 16").passed);
  CHECK_FALSE(row_of(verdict, "results at drawn sizes").passed);
  CHECK(row_of(verdict, "cycles").message == kNotCounted);
}

TEST_CASE("every verdict has the row of the drawn sizes, and its rows add up", "[drawn]") {
  const Grader grader(dot_product());
  for (const std::string& text :
       {dot_solution(), dot_costly(), dot_mistake(), costly_when_large()}) {
    const Verdict verdict = grade_text(grader, text);
    row_of(verdict, "results at drawn sizes");
    double points = 0, most = 0;
    for (const Check& check : verdict.checks) {
      points += check.points;
      most += check.max_points;
    }
    CHECK(points == Approx(verdict.points));
    CHECK(most == Approx(10));
  }
}

TEST_CASE("what costs more at a drawn size loses points, and is told the size", "[drawn]") {
  const Grader grader(dot_product());
  const Verdict verdict = grade_text(grader, costly_when_large());
  CHECK(verdict.outcome == Outcome::kCostly);
  CHECK(verdict.points < 10);
  CHECK(verdict.points > 6);
  CHECK(verdict.costs.at(0).value == verdict.costs.at(0).full);  // at n = 16
  CHECK(verdict.costs.at(0).share < 1);
  const std::string& message = row_of(verdict, "loads").message;
  CHECK_THAT(message, contains(" loads at n = ") && contains("full marks"));
  CHECK_THAT(message, !contains("n = 16"));
}

TEST_CASE("what costs more at a drawn size alone is shown a line and steps of that size, or none",
          "[drawn]") {
  const Grader grader(dot_product());
  const Verdict verdict = grade_text(grader, costly_when_large());
  REQUIRE(verdict.findings.size() > 1);
  CHECK_THAT(verdict.findings[0].what, contains("it costs too much at another size: "));
  CHECK(verdict.findings[0].line == 0);
  std::size_t lines = 0;
  for (const Finding& finding : verdict.findings) {
    if (finding.line == 0) continue;
    ++lines;
    INFO(finding.what << ", " << finding.inputs);
    CHECK(finding.line == 18);  // the load that is repeated beyond n = 16
    CHECK_THAT(finding.inputs, contains("n = ") && !contains("n = 16"));
  }
  CHECK(lines > 0);
}

TEST_CASE("what is not accepted at a drawn size is not accepted", "[drawn]") {
  const auto files = with_toml("[cost]\n", "[cost]\nmost = { loads = \"2*n\" }\n");
  const Grader grader(dot_product(files));
  CHECK(grade_text(grader, dot_solution()).points == 10);
  const Verdict verdict = grade_text(grader, costly_when_large());
  CHECK(verdict.outcome == Outcome::kTooCostly);
  CHECK_FALSE(verdict.passed());
  CHECK(verdict.points == 0);
  CHECK(guilty_step(verdict) == nullptr);  // no step of a right program is wrong
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK_THAT(verdict.findings[0].what, contains("costs more than this exercise accepts"));
  REQUIRE(verdict.findings[0].details.size() == 1);
  CHECK_THAT(verdict.findings[0].details[0],
             contains(" loads at n = ") && contains("are accepted"));
}

TEST_CASE("the elements of .temp can be limited, and their traffic counted", "[drawn]") {
  const std::string level = "level = \"matmul\"\n";
  const Grader free(dot_product(with_toml(level, level + "temporaries = true\n")));
  CHECK(grade_text(free, with_copy()).passed());
  const Grader enough(dot_product(with_toml(level, level + "temporaries = \"n\"\n")));
  CHECK(grade_text(enough, with_copy()).passed());
  const Grader few(dot_product(with_toml(level, level + "temporaries = \"n - 1\"\n")));
  const Verdict refused = grade_text(few, with_copy());
  CHECK(refused.outcome == Outcome::kRejected);
  REQUIRE_FALSE(refused.findings.empty());
  CHECK(refused.findings[0].what == "the .temp arrays have 1 elements together at n = 1");
  CHECK(grade_text(few, dot_solution()).points == 10);

  const auto counted = [&](const std::string& most) {
    Files files = with_toml(level, level + "temporaries = true\n");
    std::string& toml = files.at("exercise.toml");
    toml = replaced(toml, "[cost]\n", "[cost]\nmost = { \"temp.stores\" = \"" + most + "\" }\n");
    return grade_text(Grader(dot_product(files)), with_copy()).outcome;
  };
  CHECK(counted("n") == Outcome::kCostly);
  CHECK(counted("n - 1") == Outcome::kTooCostly);
}

TEST_CASE("an array of a scalar exercise may not be larger than it allows", "[drawn]") {
  const std::string level = "level = \"matmul\"\n";
  const Grader grader(dot_product(with_toml(level, level + "temporaries = true\n")));
  const std::string text =
      replaced(dot_solution(), "LOAD x[0], R0", ".temp zz[50000000]\nLOAD x[0], R0");
  const Verdict verdict = grade_text(grader, text);
  CHECK(verdict.outcome == Outcome::kLimit);
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK_THAT(verdict.findings[0].what, contains("zz") && contains("16777216 bytes"));
}

TEST_CASE("lint wants sizes that are drawn, and two submissions that avoid the exercise",
          "[drawn]") {
  CHECK(lint_text(template_exercise().files).empty());
  CHECK_THAT(lint_text(with_toml(kDrawn, "")),
             contains("at the sizes of [machine] alone would pass"));
  CHECK_THAT(lint_text(with_toml("[[avoids]]\nfile = \"avoids/all_in_registers.toy\"\n"
                                 "says = \"register\"\n",
                                 "")),
             contains("1 submissions try to pass") && contains("avoids/all_in_registers.toy") &&
                 contains("nothing refers to this file"));
}

TEST_CASE("lint tells of an avoiding submission that is accepted, or told something else",
          "[drawn]") {
  Files files = template_exercise().files;
  files.at("avoids/displayed_sizes.toy") = dot_costly();
  CHECK_THAT(lint_text(files), contains("this submission avoids the exercise and is accepted"));
  CHECK_THAT(lint_text(with_toml("says = \"register\"", "says = \"elephant\"")),
             contains("the verdict does not say 'elephant'"));
}

TEST_CASE("an accepted program gets full marks, or lint says what it gets", "[drawn]") {
  const std::string table =
      "\n[[accepted]]\nfile = \"accepted/other.toy\"\nbecause = \"It is right.\"\n";
  Files files = template_exercise().files;
  files["accepted/other.toy"] = dot_solution();
  CHECK_THAT(lint_text(files), contains("accepted/other.toy: nothing refers to this file") &&
                                   contains("[[accepted]]"));
  files.at("exercise.toml") += table;
  CHECK(lint_text(files).empty());
  files.at("accepted/other.toy") = dot_costly();
  CHECK_THAT(lint_text(files), contains("this submission does not earn full marks"));
  files.erase("accepted/other.toy");
  CHECK_THAT(lint_text(files), contains("there is no file 'accepted/other.toy'"));
  std::string& toml = files.at("exercise.toml");
  toml = replaced(toml, "accepted/other.toy", "wrong/forgets_the_last.toy");
  CHECK_THAT(lint_text(files), contains("accepted/NAME.toy"));
}

TEST_CASE("a valley is large at both ends and small in the middle", "[drawn]") {
  const auto exercise = dot_product(with_toml("[inputs]\n", "[inputs]\nfamilies = [\"valley\"]\n"));
  const auto cases = make_cases(exercise->program, 1, 1);
  const std::vector<double>& x = cases.at(3).cases.at(0).inputs.at("x").values;
  REQUIRE(x.size() == 16);
  for (std::size_t i = 0; i + 1 < 8; ++i) {
    CHECK(x[i] >= x[15 - i]);      // the largest one is at the left end
    CHECK(x[15 - i] >= x[i + 1]);  // the next one at the right end, and so on inwards
  }
}

TEST_CASE("an exercise without sizes says why it cannot be avoided, or is avoided", "[drawn]") {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != "02_c00") continue;
    Files files = source.files;
    std::string& toml = files.at("exercise.toml");
    const std::size_t at = toml.find("unavoidable");
    REQUIRE(at != std::string::npos);
    toml.erase(at, toml.find('\n', at) - at);
    CHECK_THAT(lint_text(files), contains("or unavoidable = \"why there can be none\""));
  }
}

TEST_CASE("ranges that are none are complained of with their place", "[drawn]") {
  const auto errors = [](const std::string& drawn) {
    const Files files = with_toml(kDrawn, drawn);
    const ReadResult read = read_exercise("01_dot", files);
    CHECK_FALSE(read.exercise);
    return format(read.errors, files);
  };
  CHECK_THAT(errors("drawn = { n = [40, 17] }"),
             contains("exercise.toml:9") && contains("'n' has no range"));
  CHECK_THAT(errors("drawn = { n = [17] }"), contains("'n' has no range"));
  CHECK_THAT(errors("drawn = { n = \"many\" }"), contains("'n' has no range"));
  CHECK_THAT(errors("drawn = { m = [17, 40] }"), contains("not the parameters of the sizes"));
  CHECK_THAT(errors("drawn = { n = [17, 40] }\ndraws = 65"), contains("draws"));
  CHECK_THAT(errors("drawn = { n = [17, 40] }\ntemporaries = \"2*m\""), contains("'temporaries'"));
}

TEST_CASE("an ATOMIC_ADD is a load and a store for limits and points", "[drawn]") {
  const std::string level = "level = \"matmul\"\n";
  const std::string in_dram =
      ".isa matmul, ATOMIC_ADD\n.registers 3\n.param n = 4\n.input x[n]\n.input y[n]\n"
      ".output s[1]\nLOAD x[0], R0\nLOAD y[0], R1\nMAC_Z R0, R1, R2\nSTORE R2, s[0]\n"
      "for i in 1..n\n  LOAD x[i], R0\n  LOAD y[i], R1\n  MAC_Z R0, R1, R2\n"
      "  ATOMIC_ADD R2, s[0]\nend\n";
  const auto graded = [&](const std::string& cost) {
    Files files = with_toml(level, level + "extra = [\"ATOMIC_ADD\"]\n");
    std::string& toml = files.at("exercise.toml");
    toml = replaced(toml, "[cost]\n", "[cost]\n" + cost + "\n");
    return grade_text(Grader(dot_product(files)), in_dram);
  };
  const Verdict free = graded("");
  CHECK(free.outcome == Outcome::kCostly);  // n updates are n loads more than 2n
  CHECK(free.costs.at(1).key == "loads");
  CHECK(free.costs.at(1).value == 47);  // at n = 16
  CHECK_THAT(row_of(free, "loads").message, contains(" of them by ATOMIC_ADD) at n = "));
  for (const std::string most : {"stores = 1", "\"s.stores\" = 1", "\"s.loads\" = 0",
                                 "bytes_stored = 4", "bytes_loaded = \"8*n\"", "atomics = 0"}) {
    INFO(most);
    CHECK(graded("most = { " + most + " }").outcome == Outcome::kTooCostly);
  }
  for (const std::string most : {"stores = \"n\"", "\"s.loads\" = \"n - 1\"",
                                 "bytes_stored = \"4*n\"", "bytes_loaded = \"12*n\""}) {
    INFO(most);
    CHECK(graded("most = { " + most + " }").outcome == Outcome::kCostly);
  }
}

}  // namespace flashlab::test
