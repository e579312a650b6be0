// The template exercise, from its folder to verdicts.
#include "exercises/grader/grader.hpp"

#include "exercises/grader/catalogue.hpp"
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
