// What the grader says of wrong programs that are the solution in other words: P in the place of S, another bound of the
// same value. Only the mistake is named; of three learners, each met sentences about lines that were right.
#include <regex>
#include <string>
#include <vector>

#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

/// The solution of exercise 28 as the starter's registers suggest it, with these changes.
Finding finding_in_other_words(const Changes& mistakes) {
  const auto exercise = exercise_named("28_flash2");
  Changes changes{{"SUB S, M, S", "SUB S, M, P"},
                  {"EXP S, P", "EXP P, P"},
                  {"for c in 0..tiles(v, 1)", "for c in 0..tiles(o, 1)"}};
  const std::string text = exercise->program.solution->source->text();
  REQUIRE(Grader(exercise).grade("mine.toy", changed(text, changes)).outcome == Outcome::kFull);
  changes.insert(changes.end(), mistakes.begin(), mistakes.end());
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(text, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

/// The verdict on a program for exercise 8.
Finding finding_on_online(const Changes& changes) {
  const auto exercise = exercise_named("08_online_softmax");
  const Verdict verdict = Grader(exercise).grade(
      "mine.toy", changed(exercise->program.solution->source->text(), changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

/// The solution of exercise 28 with other loop variables, two of them for the three loops of c, and this change.
Finding finding_with_other_loops(const std::string& from, const std::string& to) {
  const auto exercise = exercise_named("28_flash2");
  const auto renamed = [](const std::string& text, const std::string& name, const char* other) {
    return std::regex_replace(text, std::regex("\\b" + name + "\\b"), other);
  };
  const std::string& text = exercise->program.solution->source->text();
  const std::size_t body = text.find("for i in"), second = text.find("    for c in 0..tiles(v");
  std::string first_part = renamed(text.substr(body, second - body), "c", "col");
  std::string program = renamed(renamed(first_part + text.substr(second), "i", "row"), "j", "t");
  program = text.substr(0, body) + program;
  REQUIRE(Grader(exercise).grade("mine.toy", program).outcome == Outcome::kFull);
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(program, {{from, to}}));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

}  // namespace

TEST_CASE("a mistake is named in a program that has other loop variables than the solution",
          "[verdicts]") {
  struct Mistake {
    const char *from, *to, *says;
  };
  const Mistake mistakes[] = {
      {"LOAD v[t][c], V", "LOAD v[row][c], V", " has v[row][c] where v[t][c] belongs"},
      {"LOAD k[t][col], K", "LOAD k[t][row], K", " has k[t][row] where k[t][col] belongs"},
      {"MUL O[c], A, O[c]", "MUL O[c], X, O[c]", " has X where A belongs"},
      {"      MUL O[c], A, O[c]\n", "", ": a MUL that writes O[c] makes the program right"},
      {"ROWSUM P, X", "ROWMAX P, X", " has ROWMAX where ROWSUM belongs"},
      {"      LOAD v[t][c], V\n", "", ": a LOAD that writes V makes the program right"},
      {"      LOAD k[t][col], K\n", "", ": a LOAD that writes K makes the program right"},
      {"    LOAD q[row][col], Q[col]\n", "", ": a LOAD that writes Q[col] makes the program right"},
      {"    FILL 0, O[col]\n", "", ": a FILL that writes O[col] makes the program right"},
      {"LOAD q[row][col], Q[col]", "LOAD q[row][0], Q[col]", "q[row][0] where"},
      {"      MAC Q[col], K^T, S, S\n", "", "a MAC that writes S makes"},
      {"    STORE O[c], o[row][c]\n", "", "a STORE that"},
      {"    ROWSUM P, X\n    MUL L, A, L\n    ADD L, X, L\n", "", "ROWSUM that"},
      {"    SUB S, M, S\n    EXP S, P\n", "    SUB S, M, P\n", "EXP that"},
      {"    EXP S, P\n    ROWSUM P, X\n", "    ROWSUM P, X\n    EXP S, P\n", "order"},
      {"      MUL O[c], A, O[c]\n      MAC P, V, O[c], O[c]\n",
       "      MAC P, V, O[c], O[c]\n      MUL O[c], A, O[c]\n", "order"},
  };
  for (const Mistake& mistake : mistakes) {
    const Finding finding = finding_with_other_loops(mistake.from, mistake.to);
    CAPTURE(mistake.from, mistake.to, finding.details);
    CHECK(says(finding, mistake.says));
  }
}

TEST_CASE("a wrong word is named beside lines that are right in other words", "[verdicts]") {
  struct Mistake {
    const char *from, *to, *says;
  };
  const Mistake mistakes[] = {
      {"LOAD v[j][c], V", "LOAD v[i][c], V", " has v[i][c] where v[j][c] belongs"},
      {"LOAD v[j][c], V", "LOAD v[j][0], V", " has v[j][0] where v[j][c] belongs"},
      {"ROWSUM P, X", "ROWSUM S, X", " has S where P belongs"},
      {"SUB S, M, P", "SUB S, X, P", " has X where M belongs"},
      {"SUB A, M, A", "SUB A, X, A", " has X where M belongs"},
      {"    EXP P, P\n    ROWSUM P, X\n", "    ROWSUM P, X\n    EXP P, P\n", "The order is wrong"},
      {"    ROWSUM P, X\n", "", ": a ROWSUM that writes X makes the program right"},
      {"    EXP P, P\n", "", ": an EXP that writes P makes the program right"},
      {"      LOAD v[j][c], V\n", "", ": a LOAD that writes V makes the program right"},
  };
  for (const Mistake& mistake : mistakes) {
    const Finding finding = finding_in_other_words({{mistake.from, mistake.to}});
    CAPTURE(mistake.from, mistake.to, finding.details);
    CHECK(says(finding, mistake.says));
    CHECK_FALSE(says(finding, "not what belongs there"));
    CHECK_FALSE(says(finding, "mistake: look at"));
    CHECK_FALSE(says(finding, "bound"));
  }
}

TEST_CASE("a step that has the right value is not called wrong", "[verdicts]") {
  // Behind it, the EXP is missing, or the SUB of the factor.
  for (const char* missing :
       {"  EXP R3, R3                    ; the factor\n", "  SUB R3, R1, R3\n"}) {
    const Finding finding = finding_on_online({{missing, ""}});
    CAPTURE(missing, finding.details);
    CHECK_FALSE(says(finding, "is the first wrong step"));
    CHECK(says(finding, "Something is missing before line"));
  }
  // The maximum overwrites x, so that the difference after it is 0 or too large, and not negative.
  const Finding finding = finding_on_online({{"  MAX R1, R0, R1\n", "  MAX R0, R1, R0\n"}});
  CAPTURE(finding.details);
  CHECK_FALSE(says(finding, "the negative of what it should be"));
  CHECK(says(finding, "Look at line"));
}

TEST_CASE("a line that may miss has any registers, before a change that costs too much",
          "[verdicts]") {
  const Finding finding =
      finding_on_online({{"SUB R0, R1, R0                  ; 0 ...\nEXP R0, R0                     "
                          " ; ... and e^0 = 1, without a "
                          "constant\nMOV R0, R2\n",
                          "SUB R0, R1, R2\n"}});
  CAPTURE(finding.details);
  CHECK(says(finding, "Something is missing after line"));
  CHECK_FALSE(says(finding, "one change there"));
}

TEST_CASE("a line that belongs elsewhere with other operands is not said to belong there as it is",
          "[verdicts]") {
  const auto exercise = exercise_named("13_attention_update");
  const Verdict verdict = Grader(exercise).grade(
      "mine.toy", changed(*exercise, {{"MAC S, X, NUM[c], NUM[c]",
                                       "MUL S, X, X\n    MAC X, NUM[c], NUM[c], NUM[c]"}}));
  REQUIRE_FALSE(verdict.findings.empty());
  CAPTURE(verdict.findings.front().details);
  CHECK(says(verdict.findings.front(), ", with other operands."));
}
