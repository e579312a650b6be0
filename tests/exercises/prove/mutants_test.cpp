// Mutants of solutions: graded, and those that pass proved equal.
#include "exercises/grader/prove/mutants.hpp"

#include <algorithm>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/judge/equality.hpp"
#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;

std::shared_ptr<const Exercise> exercise_from(Files files) {
  ReadResult read = read_exercise("exercise", std::move(files));
  REQUIRE(read.exercise);
  return std::make_shared<const Exercise>(std::move(*read.exercise));
}

Files softmax_files() {
  Files files = template_exercise().files;
  files["exercise.toml"] = R"(title = "Softmax"
[machine]
level = "softmax"
registers = 3
arrays = [".input x[n]", ".output out[n]"]
sizes = [{ n = 1 }, { n = 2 }, { n = 5 }, { n = 16 }]
[expect]
reference = "builtin:softmax"
range_safe = true
[cost]
full = { cycles = "100*n" }
[[wrong]]
file = "wrong/forgets_the_last.toy"
)";
  files["solution.toy"] = R"(; Safe softmax
.isa softmax
.registers 3
.param n = 4
.input x[n]
.output out[n]
LOAD x[0], R0
for i in 1..n
  LOAD x[i], R1
  MAX R0, R1, R0
end
LOAD x[0], R1
SUB R1, R0, R1
EXP R1, R2
for i in 1..n
  LOAD x[i], R1
  SUB R1, R0, R1
  EXP R1, R1
  ADD R2, R1, R2
end
for i in 0..n
  LOAD x[i], R1
  SUB R1, R0, R1
  EXP R1, R1
  DIV R1, R2, R1
  STORE R1, out[i]
end
)";
  files["starter.toy"] = ".isa softmax\n.param n = 4\n.input x[n]\n.output out[n]\nLOAD x[0], R0\n";
  files["wrong/forgets_the_last.toy"] = files["starter.toy"];
  return files;
}

std::shared_ptr<const toy::Program> with(const ProgramTask& task, const std::string& from,
                                         const std::string& to) {
  std::string text = task.solution->source->text();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  auto program = toy::assemble(std::make_shared<const toy::SourceText>("mine.toy", text));
  REQUIRE(program);
  return std::make_shared<const toy::Program>(std::move(*program));
}

}  // namespace

TEST_CASE("every mutant of the dot product is rejected or proved equal", "[mutants]") {
  const MutantReport report = test_mutants(exercise_from(template_exercise().files));
  CHECK(report.mutants.size() > 50);
  CHECK(report.count(Fate::kRejected) > 50);
  CHECK(report.count(Fate::kSurvivor) == 0);
  CHECK(report.count(Fate::kCostlier) == 0);
}

TEST_CASE("loading one operand before the other makes the same floats", "[mutants]") {
  const MutantReport report = test_mutants(exercise_from(template_exercise().files));
  const auto swapped = std::find_if(
      report.mutants.begin(), report.mutants.end(),
      [](const Mutant& mutant) { return mutant.edit.what == "lines 13 and 14 swapped"; });
  REQUIRE(swapped != report.mutants.end());
  CHECK(swapped->fate == Fate::kSameFloats);
}

TEST_CASE("a report is the same whatever the number of jobs is", "[mutants]") {
  const auto exercise = exercise_from(template_exercise().files);
  MutantOptions three;
  three.jobs = 3;
  const MutantReport a = test_mutants(exercise), b = test_mutants(exercise, three);
  REQUIRE(a.mutants.size() == b.mutants.size());
  for (std::size_t i = 0; i < a.mutants.size(); ++i) {
    CHECK(a.mutants[i].edit.what == b.mutants[i].edit.what);
    CHECK(a.mutants[i].fate == b.mutants[i].fate);
    CHECK(a.mutants[i].named_line == b.mutants[i].named_line);
  }
}

TEST_CASE("a softmax without its maximum is rejected and equal formulas do not save it",
          "[mutants]") {
  const auto exercise = exercise_from(softmax_files());
  const MutantReport report = test_mutants(exercise);
  CHECK(report.count(Fate::kSurvivor) == 0);
  CHECK(report.count(Fate::kSameForms) == 0);
  const auto dropped =
      std::find_if(report.mutants.begin(), report.mutants.end(), [](const Mutant& mutant) {
        return mutant.edit.kind == EditKind::kDrop && mutant.edit.line == 10;
      });
  REQUIRE(dropped != report.mutants.end());
  CHECK(dropped->fate == Fate::kRejected);
}

TEST_CASE("a maximum over one element twice is the same float", "[mutants]") {
  const auto exercise = exercise_from(softmax_files());
  const ProgramTask& task = exercise->program;
  CHECK(prove_equal(task, with(task, "for i in 1..n", "for i in 0..n")) == Proof::kSameFloats);
  CHECK(prove_equal(task, with(task, "  MAX R0, R1, R0\n", "")) == Proof::kNone);
}

TEST_CASE("sums in another order are proved by formulas", "[mutants]") {
  const auto exercise = exercise_from(template_exercise().files);
  const ProgramTask& task = exercise->program;
  const auto backwards =
      with(task, "LOAD x[i], R0\n  LOAD y[i], R1", "LOAD x[n - i], R0\n  LOAD y[n - i], R1");
  CHECK(prove_equal(task, backwards) == Proof::kSameForms);
}

TEST_CASE("the place of a dropped line is beside it", "[mutants]") {
  const auto exercise = exercise_from(template_exercise().files);
  const toy::Program& solution = *exercise->program.solution;
  Edit drop;
  drop.kind = EditKind::kDrop;
  drop.line = 13;
  CHECK(is_place_of(drop, 12, solution));
  CHECK(is_place_of(drop, 14, solution));
  CHECK_FALSE(is_place_of(drop, 15, solution));
  CHECK_FALSE(is_place_of(drop, 0, solution));
  drop.kind = EditKind::kRegister;
  CHECK_FALSE(is_place_of(drop, 14, solution));
}
