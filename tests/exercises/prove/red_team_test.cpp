// The red team: programs made from a solution that want points without the idea of the exercise.
#include "exercises/grader/prove/red_team.hpp"

#include <algorithm>

#include "exercises/grader/prove/lint.hpp"
#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

Files changed_template(const std::string& from, const std::string& to) {
  Files files = template_exercise().files;
  std::string& text = files.at("exercise.toml");
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return files;
}

std::vector<Strategy> of_family(const std::vector<Strategy>& all, StrategyFamily family) {
  std::vector<Strategy> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Strategy& one) { return one.family == family; });
  return found;
}

const Strategy& called(const std::vector<Strategy>& all, const std::string& part) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Strategy& one) {
    return one.name.find(part) != std::string::npos;
  });
  if (found == all.end()) FAIL("no strategy is called " << part);
  return *found;
}

const Gain* gain_called(const RedTeamReport& report, const std::string& part) {
  for (const Gain& gain : report.gains) {
    if (gain.name.find(part) != std::string::npos) return &gain;
  }
  return nullptr;
}

TEST_CASE("a strategy leaves work out where a parameter is larger than any displayed size",
          "[red_team]") {
  const auto all = strategies(dot_product()->program);
  const Strategy& one = called(all, "does nothing unless n <= 16");
  CHECK_THAT(one.text, contains(".param keep_ = max(0, min(1, 17 - n))") &&
                           contains("for i in 1..(1) + keep_*((n) - (1))"));
  CHECK(one.rule == StrategyRule::kNoPoints);
}

/// The sum of a matrix, with this line about its drawn sizes.
std::shared_ptr<const Exercise> matrix_sum(const std::string& drawn) {
  Files files = template_exercise().files;
  files["exercise.toml"] = R"(title = "A sum"
[machine]
level = "softmax"
registers = 2
arrays = [".input x[n][d]", ".output s[1]"]
sizes = [{ n = 1, d = 1 }, { n = 2, d = 3 }]
)" + drawn + R"(
[expect]
reference = "reference.toy"
[cost]
full = { loads = "n*d + 1" }
[[wrong]]
file = "wrong/forgets_the_last.toy"
)";
  const std::string head =
      ".isa softmax\n.registers 2\n.param n = 2, d = 3\n.input x[n][d]\n.output s[1]\n";
  files["solution.toy"] = head +
                          "LOAD x[0][0], R0\nSUB R0, R0, R0\nfor i in 0..n\n  for c in 0..d\n"
                          "    LOAD x[i][c], R1\n    ADD R0, R1, R0\n  end\nend\nSTORE R0, s[0]\n";
  files["reference.toy"] = files["solution.toy"];
  files["starter.toy"] = head + "LOAD x[0][0], R0\n";
  files["wrong/forgets_the_last.toy"] = files["starter.toy"];
  ReadResult read = read_exercise("sum", files);
  INFO(format(read.errors, files));
  REQUIRE(read.exercise);
  return std::make_shared<const Exercise>(std::move(*read.exercise));
}

TEST_CASE("a strategy is wrong at pairs of halves and odd values, which few draws do not cover",
          "[red_team]") {
  const std::string ranges = "drawn = { n = [4, 12], d = [5, 13] }";
  RedTeamOptions options;
  options.seeds = 6;
  std::size_t pairs = 0;
  for (const Strategy& one : strategies(matrix_sum(ranges)->program)) {
    pairs += one.name.find("not (d in the upper half and n odd)") != std::string::npos ? 1 : 0;
  }
  CHECK(pairs > 0);
  const RedTeamReport all = attack(matrix_sum(ranges), options);
  CHECK(gain_called(all, " unless not (") == nullptr);
  const RedTeamReport few = attack(matrix_sum(ranges + "\ndraws = 3"), options);
  const Gain* gain = gain_called(few, " unless not (");
  REQUIRE(gain != nullptr);
  CHECK_THAT(gain->why, contains("wrong at d = "));
}

TEST_CASE("each family has a program against the example, and all of them assemble or are tricks",
          "[red_team]") {
  const auto exercise = dot_product();
  const auto all = strategies(exercise->program);
  const Grader grader(exercise, {1, false});
  for (std::size_t f = 0; f < kNumStrategyFamilies; ++f) {
    const auto family = static_cast<StrategyFamily>(f);
    INFO(to_string(family));
    CHECK(parse_strategy_family(to_string(family)) == family);
    const auto some = of_family(all, family);
    CHECK_FALSE(some.empty());
    if (family != StrategyFamily::kLessWork && family != StrategyFamily::kFewRounds) continue;
    for (const Strategy& one : some) {
      INFO(one.name << "\n" << one.text);
      CHECK(grade_text(grader, one.text).outcome != Outcome::kRejected);
    }
  }
}

TEST_CASE("an exercise that draws no sizes is beaten, and the seed and the size are named",
          "[red_team]") {
  const auto exercise =
      dot_product(changed_template("drawn = { n = [17, 40] }", "drawn = { n = 16 }"));
  // Sizes of 16 alone: nothing is drawn that is not displayed.
  CHECK(attack(exercise).gains.empty());
  const auto narrow = dot_product(
      changed_template("drawn = { n = [17, 40] }", "drawn = { n = [17, 400] }\ndraws = 1"));
  RedTeamOptions options;
  options.seeds = 8;
  const RedTeamReport report = attack(narrow, options);
  const Gain* const half = gain_called(report, "unless n in the lower half of 17 to 400");
  REQUIRE(half != nullptr);
  CHECK(half->points == 10);
  CHECK(half->seeds < 8);
  CHECK_THAT(half->why, contains("wrong at n = "));
}

TEST_CASE("a sum in DRAM gains where its accesses have no price", "[red_team]") {
  const std::string cost = "full = { cycles = \"3*n + 1\", loads = \"2*n\" }";
  CHECK(attack(dot_product()).families[static_cast<std::size_t>(StrategyFamily::kDramSums)].gains ==
        0);
  const RedTeamReport report =
      attack(dot_product(changed_template(cost, "full = { cycles = \"9*n\" }")));
  REQUIRE(gain_called(report, "by STORE") != nullptr);
  CHECK(gain_called(report, "by STORE")->why == "it costs more and keeps all points");
}

TEST_CASE("a family is excused by a sentence, and an unknown family is reported", "[red_team]") {
  const std::string cost = "full = { cycles = \"3*n + 1\", loads = \"2*n\" }\n";
  const std::string cheap = "full = { cycles = \"9*n\" }\n";
  const std::string excuse = "[[excused]]\nfamily = \"dram_sums\"\nbecause = \"It is allowed.\"\n";
  const RedTeamReport report = attack(dot_product(changed_template(cost, cheap + excuse)));
  CHECK(gain_called(report, "by STORE") == nullptr);
  const FamilyCounts& counts = report.families[static_cast<std::size_t>(StrategyFamily::kDramSums)];
  CHECK(counts.gains > 0);
  CHECK(counts.excused == "It is allowed.");
  const Files files = changed_template(
      cost, cost + "[[excused]]\nfamily = \"magic\"\nbecause = \"It is allowed.\"\n");
  std::string problems;
  for (const LintProblem& problem : lint({"01_dot", {}, files})) problems += problem.what;
  CHECK_THAT(problems, contains("no family of strategies: 'magic'"));
}

TEST_CASE("no strategy gains a point against three exercises of the course", "[red_team]") {
  // .ci/full attacks all exercises with three seeds.
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != "08_online_softmax" && source.id != "30_fused_softmax" &&
        source.id != "40_softmax_over_machines") {
      continue;
    }
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    const auto exercise = std::make_shared<const Exercise>(std::move(*read.exercise));
    RedTeamOptions options;
    options.seeds = 2;
    const RedTeamReport report = attack(exercise, options);
    CHECK(report.strategies() > 60);
    for (const Gain& gain : report.gains)
      FAIL_CHECK(source.id << ": " << gain.name << ", " << gain.why);
    const FamilyCounts& less = report.families[static_cast<std::size_t>(StrategyFamily::kLessWork)];
    CHECK(less.wrong > less.strategies / 2);  // they are told from the solution, not refused
  }
}

TEST_CASE("no more than five families are excused in the built-in exercises", "[red_team]") {
  std::size_t excused = 0;
  for (const ExerciseSource& source : builtin_exercises()) {
    const ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    excused += read.exercise->program.excused.size();
  }
  CHECK(excused <= 5);
}

TEST_CASE("the report is the same whatever the number of threads", "[red_team]") {
  RedTeamOptions options;
  options.seeds = 2;
  const RedTeamReport one = attack(dot_product(), options);
  options.jobs = 3;
  const RedTeamReport three = attack(dot_product(), options);
  REQUIRE(one.gains.size() == three.gains.size());
  for (std::size_t f = 0; f < kNumStrategyFamilies; ++f) {
    CHECK(one.families[f].wrong == three.families[f].wrong);
    CHECK(one.families[f].equal == three.families[f].equal);
  }
}

}  // namespace
}  // namespace flashlab::test
