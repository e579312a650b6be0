// Exercises whose programs run on several machines.
#include <filesystem>
#include <memory>
#include <string>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/prove/prove.hpp"
#include "tests/catch_shim.hpp"
#include "tests/exercises/class_folder.hpp"
#include "tests/source_files.hpp"

namespace {

using namespace flashlab::exercises;
using namespace flashlab::test;

constexpr const char* kToml = R"(title = "Swap"
unavoidable = "a test"
[machine]
level = "matmul"
machines = "rank of ranks"
arrays = [".input x[n]", ".output o[n]"]
temporaries = "ranks"
sizes = [{ ranks = 2, n = 1 }, { ranks = 4, n = 3 }]
[expect]
reference = "reference.toy"
[cost]
full = { sends = "ranks*n" }
[[wrong]]
file = "wrong/a.toy"
)";

/// Each machine wants the numbers of its neighbour, the machine with the other last bit.
constexpr const char* kHead =
    ".isa matmul\n.machines rank of ranks = 2\n.param n = 1\n"
    ".param other = rank + 1 - 2*(rank - 2*floordiv(rank, 2))\n.input x[n]\n.output o[n]\n";
constexpr const char* kSwap = "for i in 0..n\n  SEND x[i], other\n  RECV other, o[i]\nend\n";

Files swap_files(const std::string& toml = kToml) {
  return {{"exercise.toml", toml},
          {"problem.md", "Swap."},
          {"hints.md", "## Concept\na\n## Place\nb\n## Operand\nc\n## Solution\nd\n"},
          {"solution.toy", std::string(kHead) + kSwap},
          {"starter.toy", std::string(kHead) + "LOAD x[0], R0\n"},
          {"reference.toy",
           ".isa matmul\n.param ranks = 2, n = 1\n.input x[ranks][n]\n.output o[ranks][n]\n"
           "for r in 0..floordiv(ranks, 2)\n  for i in 0..n\n"
           "    LOAD x[2*r][i], R0\n    STORE R0, o[2*r + 1][i]\n"
           "    LOAD x[2*r + 1][i], R0\n    STORE R0, o[2*r][i]\n  end\nend\n"},
          {"wrong/a.toy", std::string(kHead) + "LOAD x[0], R0\nSTORE R0, o[0]\n"}};
}

std::string errors_of_toml(const std::string& from, const std::string& to) {
  std::string toml = kToml;
  toml.replace(toml.find(from), from.size(), to);
  const Files files = swap_files(toml);
  return format(read_exercise("swap", files).errors, files);
}

Verdict verdict_of(const std::string& text) {
  static const Grader grader = [] {
    ReadResult read = read_exercise("swap", swap_files());
    REQUIRE(read.errors.empty());
    return Grader(std::make_shared<const Exercise>(std::move(*read.exercise)), {});
  }();
  return grader.grade("mine.toy", text);
}

/// The first finding and its details.
std::string said(const Verdict& verdict) {
  REQUIRE_FALSE(verdict.findings.empty());
  std::string all = verdict.findings.front().what;
  for (const std::string& line : verdict.findings.front().details) all += "\n" + line;
  return all;
}

std::string body(const std::string& text) { return kHead + text; }

}  // namespace

TEST_CASE("a program for several machines earns full marks, and its messages are counted",
          "[machines]") {
  const Verdict verdict = verdict_of(body(kSwap));
  CHECK(verdict.outcome == Outcome::kFull);
  REQUIRE(verdict.costs.size() == 1);
  CHECK(verdict.costs.front().key == "sends");
  CHECK(verdict.costs.front().value == 12);  // of four machines with three numbers each
}

TEST_CASE("a wrong output names its machine", "[machines]") {
  const Verdict verdict =
      verdict_of(body("for i in 0..n\n  LOAD x[i], R0\n  STORE R0, o[i]\nend\n"));
  CHECK(verdict.outcome == Outcome::kWrong);
  CHECK_THAT(said(verdict), contains("o[0][0] is wrong at n = 1, ranks = 2") &&
                                contains("it should hold  x[1][0]"));
  CHECK(verdict.findings.front().step == 0);  // no player shows several machines
}

TEST_CASE("machines that wait for each other are wrong, with line and reason", "[machines]") {
  const Verdict verdict =
      verdict_of(body("for i in 0..n\n  RECV other, o[i]\n  SEND x[i], other\nend\n"));
  CHECK(verdict.outcome == Outcome::kWrong);
  CHECK(verdict.findings.front().line == 8);
  CHECK_THAT(said(verdict), contains("no machine can go on: machine 0 waits in line 8 for a "
                                     "message of machine 1; machine 1 waits in line 8"));
  const Verdict left = verdict_of(body(std::string(kSwap) + "SEND x[0], other\n"));
  CHECK(left.outcome == Outcome::kWrong);
  CHECK(left.findings.front().line == 11);
}

TEST_CASE("a program for another number of machines than the exercise's is refused", "[machines]") {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = body(kSwap);
    text.replace(text.find(from), from.size(), to);
    const Verdict verdict = verdict_of(text);
    CHECK(verdict.outcome == Outcome::kRejected);
    return said(verdict);
  };
  CHECK_THAT(refused(".machines rank of ranks = 2", ".machines me of all = 2\n.param rank = 0"),
             contains("the machines have other names in the exercise") &&
                 contains("expected .machines rank of ranks = 2"));
  const Verdict one = verdict_of(
      ".isa matmul\n.param n = 1\n.input x[n]\n.output o[n]\nLOAD x[0], R0\nSTORE R0, o[0]\n");
  CHECK(one.outcome == Outcome::kRejected);
  CHECK_THAT(said(one),
             contains("the program has one machine") && contains(".machines rank of ranks = 2"));
  CHECK(one.findings.size() == 1);
  const Grader single(
      std::make_shared<const Exercise>(*read_exercise("dot", template_exercise().files).exercise),
      {});
  CHECK_THAT(said(single.grade("mine.toy", ".machines rank of ranks = 2\n" + dot_solution())),
             contains("this exercise has one machine"));
}

TEST_CASE("steps, arrays and .temp of all machines together are limited", "[machines]") {
  const Verdict steps =
      verdict_of(body("for j in 0..30000\n  LOAD x[0], R0\nend\n" + std::string(kSwap)));
  CHECK(steps.outcome == Outcome::kLimit);  // 60 000 on two machines, 120 000 on four
  CHECK_THAT(said(steps), contains("the program takes 120024 steps at n = 3, ranks = 4"));
  CHECK(verdict_of(body(".temp a[1]\n" + std::string(kSwap))).outcome == Outcome::kFull);
  CHECK_THAT(said(verdict_of(body(".temp a[2]\n" + std::string(kSwap)))),
             contains("the .temp arrays have 4 elements together at n = 1, ranks = 2"));
}

TEST_CASE("nothing is proved about several machines, and prove says so", "[machines]") {
  auto exercise = std::make_shared<const Exercise>(*read_exercise("swap", swap_files()).exercise);
  CHECK_THROWS_WITH(prove(exercise), "nothing is proved about programs for several machines");
}

TEST_CASE("what the machines of an exercise must be is said with its place", "[machines]") {
  CHECK(errors_of_toml("title", "title") == "");
  CHECK_THAT(errors_of_toml("rank of ranks", "ranks"),
             contains("exercise.toml:5:") && contains("'ranks' does not name the machines"));
  CHECK_THAT(errors_of_toml("rank of ranks", "rank of rank"),
             contains("does not name the machines"));
  CHECK_THAT(errors_of_toml("rank of ranks", "rank of all"),
             contains("the sizes give no value to all"));
  CHECK_THAT(errors_of_toml("rank of ranks", "n of ranks"),
             contains("the sizes give a value to n"));
}
