// Programs that are written in another way than the solution, and wrong by one change of their own text: it is told, and
// nothing else is.
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/prove/changed_programs.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

/// A learner's right program, in the new maximum's register of which the factor is computed.
std::string in_place(const std::string& id) { return own_program(id + "_in_place"); }

Finding finding_of(const std::string& id, const std::string& program) {
  const Verdict verdict = Grader(exercise_named(id)).grade("mine.toy", program);
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

Finding finding_on_solution(const std::string& id, const Changes& changes) {
  const auto exercise = exercise_named(id);
  const Verdict verdict = Grader(exercise).grade("mine.toy", changed(*exercise, changes));
  REQUIRE_FALSE(verdict.findings.empty());
  return verdict.findings.front();
}

/// Whether one change is told, and no second one.
bool tells_one(const Finding& finding, const std::string& text) {
  return says(finding, text) && !says(finding, "mistake") && !says(finding, "not needed");
}

}  // namespace

TEST_CASE("a line that is missing in another program than the solution is told", "[verdicts]") {
  const std::string right = in_place("28_flash2");
  for (const char* line : {"    MUL L, M, L\n", "      MUL O[c], M, O[c]\n", "    MOV A, M\n",
                           "    EXP P, P\n", "    EXP M, M\n", "    ROWMAX S, A\n",
                           "    MAX M, A, A\n", "    SUB S, A, P\n", "    SUB M, A, M\n"}) {
    const Finding finding = finding_of("28_flash2", changed(right, {{line, ""}}));
    CAPTURE(line, finding.what, finding.details);
    const std::string_view text(line);
    const std::vector<std::string> parts = words(text.substr(0, text.size() - 1));
    CHECK(tells_one(finding, " " + parts.front() + " that writes " + parts.back() +
                                 " makes the program right."));
  }
}

TEST_CASE("on scalars the place of a line that is missing is told, and not its operands",
          "[verdicts]") {
  const std::string right = in_place("13_attention_update");
  for (const char* line : {"  MUL L, M, L\n", "    MUL NUM[c], M, NUM[c]\n", "  MOV A, M\n"}) {
    const Finding finding = finding_of("13_attention_update", changed(right, {{line, ""}}));
    CAPTURE(line, finding.what, finding.details);
    CHECK(tells_one(finding, "one more line makes the program right."));
  }
}

TEST_CASE("one change of the learner's own text is told before two departures from the solution",
          "[verdicts]") {
  const std::string output = "    DIV O[c], L, O[c]\n    STORE O[c], o[i][c]\n  end\n";
  const std::string own_output =
      "    DIV O[c], L, O[c]\n  end\n  LOG L, L\n  ADD M, L, L\n"
      "  for c in 0..tiles(o, 1)\n    STORE O[c], o[i][c]\n  end\n";
  const std::string log = "  LOG L, L\n  ADD M, L, L\n";
  const auto wrong = [&](const Changes& more) {
    Changes changes{{output + log, own_output}};
    changes.insert(changes.end(), more.begin(), more.end());
    return finding_on_solution("28_flash2", changes);
  };
  const Finding missing = wrong({{"  LOG L, L\n", ""}});
  CAPTURE(missing.details);
  CHECK(tells_one(missing, "a LOG that writes L makes the program right."));

  const std::string quotient = "  for c in 0..tiles(o, 1)\n    DIV O[c], L, O[c]\n  end\n";
  const Finding loop = wrong({{quotient, ""}});
  CAPTURE(loop.details);
  CHECK(tells_one(loop, ": a loop over c and a DIV that writes O[c]."));

  const Finding late = finding_on_solution(
      "28_flash2", {{"    FILL 0, S\n", ""}, {"      MAC Q", "      FILL 0, S\n      MAC Q"}});
  CAPTURE(late.details);
  CHECK(tells_one(late, " stands in the wrong place: it belongs before line "));

  const std::string state = "  FILL -inf, M\n  FILL 0, L\n";
  const Finding both = finding_on_solution(
      "28_flash2", {{state, ""}, {"    FILL 0, S\n", "    FILL 0, S\n" + state}});
  CAPTURE(both.details);
  CHECK(tells_one(both, " stand in the wrong place: they belong before line 25."));
}

TEST_CASE("a mask in the wrong place is found in another program than the solution", "[verdicts]") {
  const std::string mask = "    MASK S, i*B, j*Bk, S\n";
  const Changes causal{{"param n = 4, nk = 6", "param n = 6"},
                       {"k(nk, d)", "k(n, d)"},
                       {"v(nk, d)", "v(n, d)"},
                       {"0..tiles(k)", "0..ceildiv(min(n, i*B + B), Bk)"}};
  const std::string without = changed(in_place("28_flash2"), causal);
  const Finding forgotten = finding_of("29_flash2_causal", without);
  CAPTURE(forgotten.what, forgotten.details);
  CHECK(tells_one(forgotten, "Something is missing before line 30: a MASK that writes S"));

  const Finding early = finding_of(
      "29_flash2_causal", changed(without, {{"    FILL 0, S\n", "    FILL 0, S\n" + mask}}));
  CAPTURE(early.what, early.details);
  CHECK(early.line == 26);
  CHECK(tells_one(early, "Line 26 stands in the wrong place: it belongs before line 31."));
}

TEST_CASE("a step is not said to compute a negative where exchanging its operands repairs nothing",
          "[verdicts]") {
  const std::string right = in_place("28_flash2");
  const Finding finding =
      finding_of("28_flash2", changed(right, {{"    MAX M, A, A\n    SUB S, A, P\n",
                                               "    MAX M, A, M\n    SUB S, M, P\n"}}));
  CAPTURE(finding.what, finding.details);
  CHECK_FALSE(says(finding, "the negative of what it should be"));
}
