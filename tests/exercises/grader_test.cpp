// The template exercise, from its folder to verdicts.
#include "exercises/grader/grade/grader.hpp"

#include <algorithm>
#include <regex>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;

std::shared_ptr<const Exercise> template_as_it_is() {
  const ExerciseSource& source = template_exercise();
  ReadResult read = read_exercise(source.id, source.files);
  INFO(format(read.errors, source.files));
  REQUIRE(read.exercise);
  return std::make_shared<const Exercise>(std::move(*read.exercise));
}

/// An exercise of the course, in which some files have another text.
std::shared_ptr<const Exercise> changed_exercise(const std::string& id, const Files& changed = {}) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    Files files = source.files;
    for (const auto& [file, text] : changed) files[file] = text;
    ReadResult read = read_exercise(id, files);
    REQUIRE(read.exercise);
    return std::make_shared<const Exercise>(std::move(*read.exercise));
  }
  throw std::runtime_error("no exercise " + id);
}

Grader changed_grader(const std::string& id, const Files& changed = {}) {
  return Grader(changed_exercise(id, changed));
}

}  // namespace

TEST_CASE("the template's solution earns full marks", "[grader]") {
  const Grader grader(template_as_it_is());
  const Verdict verdict = grader.grade("solution.toy", grader.exercise().files.at("solution.toy"));
  CHECK(verdict.outcome == Outcome::kFull);
  CHECK(verdict.points == verdict.max_points);
}

TEST_CASE("the template's starter and its mistake are wrong", "[grader]") {
  const Grader grader(template_as_it_is());
  CHECK_FALSE(grader.grade("starter.toy", grader.exercise().starter()).passed());
  const std::string& mistake = grader.exercise().files.at("wrong/forgets_the_last.toy");
  CHECK(grader.grade("mistake.toy", mistake).outcome == Outcome::kWrong);
}

TEST_CASE("a share of the points for cost falls from full marks to the naive cost", "[grader]") {
  const auto share = [](int value) { return cost_share({"cycles", value, 22, 22, 28}); };
  CHECK(share(21) == 1);
  CHECK(share(22) == 1);
  CHECK(share(25) == 0.5);
  CHECK(share(28) == 0);
  CHECK(share(1000) == 0);
}

TEST_CASE("where full marks want none of something, any of it earns nothing", "[grader]") {
  CHECK(cost_share({"exps", 0, 0, 0, 0}) == 1);
  CHECK(cost_share({"exps", 1, 0, 0, 0}) == 0);
}

TEST_CASE("outer products without reuse of operands are a bare pass", "[grader]") {
  const Grader grader = changed_grader("04_outer_product");
  const Verdict verdict = grader.grade("mine.toy", grader.exercise().files.at("naive.toy"));
  CHECK(verdict.outcome == Outcome::kCostly);
  CHECK(verdict.points == 6);
  CHECK(verdict.costs.front().value == 28);
}

TEST_CASE("a naive program may take more registers than the exercise's machine has", "[grader]") {
  const std::string few = changed_grader("04_outer_product").exercise().files.at("naive.toy");
  std::string many = std::regex_replace(few, std::regex("R2"), "R7");
  many = std::regex_replace(many, std::regex("registers 3"), "registers 8");
  const Grader grader = changed_grader("04_outer_product", {{"naive.toy", many}});
  CHECK(grader.grade("mine.toy", few).points == 6);
}

TEST_CASE("a naive program that costs no more than full marks takes no points away", "[grader]") {
  const std::string solution =
      changed_grader("04_outer_product").exercise().files.at("solution.toy");
  const Grader grader = changed_grader("04_outer_product", {{"naive.toy", solution}});
  const Verdict verdict = grader.grade("mine.toy", grader.exercise().files.at("solution.toy"));
  CHECK(verdict.points == verdict.max_points);
}

TEST_CASE("an instruction that costs too much is named in the line that makes up the excess",
          "[grader]") {
  const Grader grader = changed_grader("06_safe_softmax");
  // A sum that starts at m - m costs one SUB more than one that starts with its first term. Other
  // lines have SUB, too, and come later.
  const Verdict verdict = grader.grade("mine.toy",
                                       ".isa softmax\n.registers 3\n.param n = 4\n"
                                       ".input  x[n]\n.output out[n]\n"
                                       "LOAD x[0], R1\n"
                                       "for i in 1..n\n  LOAD x[i], R0\n  MAX R0, R1, R1\nend\n"
                                       "SUB R1, R1, R2\n"
                                       "for i in 0..n\n  LOAD x[i], R0\n  SUB R0, R1, R0\n"
                                       "  EXP R0, R0\n  ADD R2, R0, R2\nend\n"
                                       "for i in 0..n\n  LOAD x[i], R0\n  SUB R0, R1, R0\n"
                                       "  EXP R0, R0\n  DIV R0, R2, R0\n  STORE R0, out[i]\nend\n");
  REQUIRE(verdict.findings.size() == 1);
  CHECK_THAT(verdict.findings[0].what, Catch::Contains("SUB is executed 33 times; 32 suffice"));
  CHECK(verdict.findings[0].line == 11);
}

TEST_CASE("an array that is missing is shown as it is to be declared", "[grader]") {
  // Its name is a part of its role's.
  Files files = template_exercise().files;
  for (auto& [name, text] : files) {
    for (std::size_t at = text.find(" s["); at != std::string::npos; at = text.find(" s[", at)) {
      text.replace(at, 3, " put[");
    }
  }
  ReadResult read = read_exercise("01_dot", files);
  INFO(format(read.errors, files));
  REQUIRE(read.exercise);
  const Grader grader(std::make_shared<const Exercise>(std::move(*read.exercise)));
  std::string text = files.at("solution.toy");
  for (const char* const start : {".output put[1]", "STORE "}) {
    const std::size_t at = text.find(start);
    REQUIRE(at != std::string::npos);
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  const Verdict verdict = grader.grade("mine.toy", text);
  REQUIRE_FALSE(verdict.findings.empty());
  const auto& details = verdict.findings.front().details;
  CHECK(std::count(details.begin(), details.end(), "  expected .output put[1]") == 1);
}

TEST_CASE("a program with the line ends of an old Mac is read", "[grader]") {
  const Grader grader(template_as_it_is());
  std::string text = grader.exercise().files.at("solution.toy");
  std::replace(text.begin(), text.end(), '\n', '\r');
  CHECK(grader.grade("mac.toy", text).outcome == Outcome::kFull);
}

namespace {

/// What is said about the cost of the template's solution with `added` before its line `before`.
std::string said_of_cost(const std::string& before, const std::string& added) {
  const Grader grader(template_as_it_is());
  std::string text = grader.exercise().files.at("solution.toy");
  REQUIRE(text.find(before) != std::string::npos);
  text.insert(text.find(before), added);
  const Verdict verdict = grader.grade("mine.toy", text);
  REQUIRE(verdict.passed());
  std::string all;
  for (const Finding& finding : verdict.findings) all += finding.what + "\n";
  return all;
}

}  // namespace

TEST_CASE("one load of what a register holds is named without a count", "[grader]") {
  const std::string said = said_of_cost("LOAD y[0], R1\n", "LOAD x[0], R0\n");
  CHECK_THAT(said, Catch::Contains("step 2 (line 10) loads x[0], which R0 still holds\n"));
  CHECK_THAT(said, Catch::Contains("x[0] is loaded 2 times; 1 suffices"));
}

TEST_CASE("a result that nothing uses is named with its step and line", "[grader]") {
  const std::string said = said_of_cost("MAC_Z R0", "MAC_Z R0, R0, R2\n");
  CHECK_THAT(said, Catch::Contains("nothing uses what step 3 (line 11) puts into R2"));
  CHECK_THAT(said, Catch::Contains("MAC_Z is executed 2 times; 1 suffices"));
}

TEST_CASE("what a right program spends too much is said in words", "[grader]") {
  const Grader grader(template_as_it_is());
  std::string text = grader.exercise().files.at("solution.toy");
  const std::string load = "  LOAD y[i], R1\n";
  REQUIRE(text.find(load) != std::string::npos);
  text.insert(text.find(load), load);
  const Verdict verdict = grader.grade("mine.toy", text);
  CHECK(verdict.outcome == Outcome::kCostly);
  std::string all;
  for (const Finding& finding : verdict.findings) {
    CHECK(finding.is_about_cost);
    all += finding.what + "\n";
  }
  CHECK(all.find("which R1 still holds; 15 loads are like that") != std::string::npos);
  CHECK(all.find("is loaded 2 times; 1 suffices") != std::string::npos);
}

TEST_CASE("a solution's own formula is not blamed on rounding if the reference has another value",
          "[grader]") {
  Files files = template_exercise().files;
  std::string& reference = files["reference.toy"];
  reference.insert(reference.find("STORE R2, s[0]"), "ADD R2, R2, R2\n");
  ReadResult read = read_exercise("01_dot", files);
  REQUIRE(read.exercise);
  const Grader grader(std::make_shared<const Exercise>(std::move(*read.exercise)));
  const Verdict verdict = grader.grade("mine.toy", files.at("solution.toy"));
  CHECK(verdict.outcome == Outcome::kWrong);
  std::string said;
  for (const std::string& line : verdict.findings.at(0).details) said += line + "\n";
  CHECK_THAT(said, Catch::Contains("its reference and its solution disagree"));
  CHECK_THAT(said, !Catch::Contains("rounding") && !Catch::Contains("it should hold"));
}

TEST_CASE("a right program that costs too much at a drawn size only is told so", "[grader]") {
  const Grader grader(template_as_it_is());
  std::string text = grader.exercise().files.at("solution.toy");
  text.insert(text.find(".input x[n]"), ".param more = min(1, max(0, n - 16))\n");
  text += "for i in 0..more\n  LOAD x[0], R0\nend\n";
  const Verdict verdict = grader.grade("mine.toy", text);
  CHECK(verdict.outcome == Outcome::kCostly);
  CHECK(verdict.points < verdict.max_points);
  REQUIRE(verdict.costs.size() == 2);
  for (const CostLine& line : verdict.costs) {
    CHECK(line.value == line.full);
    CHECK(line.is_dear());
  }
  REQUIRE(verdict.findings.size() > 2);
  CHECK_THAT(verdict.findings[1].what, Catch::StartsWith("it costs too much at another size: ") &&
                                           Catch::Contains(" loads at n = ") &&
                                           Catch::Contains(", full marks "));
  CHECK_THAT(verdict.findings[1].details.at(0), Catch::Contains("At n = 16 its loads are as few"));
  CHECK(verdict.findings[0].is_about_cost);
  for (std::size_t i = 2; i < verdict.findings.size(); ++i) {
    INFO(verdict.findings[i].what);
    CHECK(verdict.findings[i].line == 20);  // the load that only hidden sizes have
    CHECK_THAT(verdict.findings[i].inputs, Catch::StartsWith("n = ") && !Catch::Contains("n = 16"));
  }
}

TEST_CASE("an index beside the largest integer is a mistake like any other", "[grader]") {
  const Grader grader = changed_grader("06_safe_softmax");
  const std::string most = "9223372036854775807";
  for (const std::string& index : {"n + " + most, "n - " + most, most + " - n", most, "-" + most,
                                   "-" + most + " - n", "n - 0 - " + most}) {
    INFO(index);
    const Verdict verdict = grader.grade("mine.toy",
                                         ".isa softmax\n.registers 4\n.param n = 4\n.input x[n]\n"
                                         ".output out[n]\nLOAD x[" +
                                             index + "], R0\n");
    CHECK(verdict.outcome == Outcome::kRejected);
    CHECK_FALSE(verdict.findings.empty());
  }
}

TEST_CASE("a step beside the largest integer is a mistake like any other", "[grader]") {
  const Grader grader = changed_grader("06_safe_softmax");
  for (const char* range : {"0..n step 9223372036854775807", "1..n step 9223372036854775807",
                            "n - 1..n step 9223372036854775806"}) {
    INFO(range);
    const Verdict verdict = grader.grade(
        "mine.toy", std::string(".isa softmax\n.registers 4\n.param n = 4\n.input x[n]\n") +
                        ".output out[n]\nfor i in " + range +
                        "\nLOAD x[i], R0\nSTORE R0, out[i]\nend\n");
    CHECK(verdict.outcome == Outcome::kWrong);
    CHECK_FALSE(verdict.findings.empty());
  }
}

TEST_CASE("a limit that ends while a wrong result is explained leaves what is wrong", "[grader]") {
  // Wrong at n = 2 already; at n = 16, where it may be easier to understand, it cannot be counted
  // within the limit.
  std::string loops, ends;
  for (char loop = 'b'; loop <= 'g'; ++loop) {
    const std::string outer(1, static_cast<char>(loop - 1)), divisor = std::to_string(loop - 95);
    loops += std::string("for ") + loop + " in floordiv(" + outer + ", " + divisor +
             ")..ceildiv(3*" + outer + " + n, " + std::to_string(loop - 94) + ")\n";
    ends += "end\n";
  }
  const std::string text =
      ".isa softmax\n.registers 4\n.param n = 4\n.input x[n]\n.output out[n]\n"
      "for a in 0..n\n" +
      loops + "LOAD x[0], R0\n" + ends + "end\n";
  for (const std::int64_t milliseconds : {100, 400}) {
    GraderOptions options;
    options.milliseconds = milliseconds;
    const Grader grader(changed_exercise("08_online_softmax"), options);
    const std::int64_t start = flashlab::toy::thread_nanoseconds();
    const Verdict verdict = grader.grade("mine.toy", text);
    const std::int64_t used = (flashlab::toy::thread_nanoseconds() - start) / 1'000'000;
    CHECK(verdict.outcome == Outcome::kWrong);
    REQUIRE(verdict.findings.size() == 1);
    CHECK_THAT(verdict.findings[0].what, Catch::Contains("out[0] is wrong at n = "));
    CHECK_THAT(verdict.findings[0].details.back(),
               Catch::Contains("finding out why takes more than " + std::to_string(milliseconds)));
    CHECK(used <= milliseconds + milliseconds / 10 + 20);
  }
}
