// Which exercise is next, and what a verdict changes in a learner's progress.
#include "exercises/grader/grade/course.hpp"

#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;

const std::vector<std::string> kIds = {"01_a", "02_b", "03_c"};

Verdict passed_with(double points, Outcome outcome) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.points = points;
  return verdict;
}

}  // namespace

TEST_CASE("the next exercise is the current one until it is passed") {
  Progress progress;
  CHECK(next_exercise(kIds, progress) == "01_a");
  progress.set_current("02_b");
  CHECK(next_exercise(kIds, progress) == "02_b");
  progress.entry("02_b").state = ProgressState::kPassed;
  CHECK(next_exercise(kIds, progress) == "03_c");
  progress.set_current("gone");  // an exercise that is no longer there
  CHECK(next_exercise(kIds, progress) == "01_a");
}

TEST_CASE("after the last exercise come those that were left out, then none") {
  Progress progress;
  progress.entry("02_b").state = ProgressState::kFull;
  CHECK(next_after(kIds, progress, "03_c") == "01_a");
  CHECK(next_after(kIds, progress, "01_a") == "03_c");
  progress.entry("01_a").state = ProgressState::kPassed;
  progress.entry("03_c").state = ProgressState::kPassed;
  CHECK(next_after(kIds, progress, "03_c").empty());
}

TEST_CASE("a worse verdict is counted, and takes nothing away") {
  Progress progress;
  record_verdict(progress, "02_b", passed_with(10, Outcome::kFull));
  record_verdict(progress, "02_b", passed_with(3, Outcome::kWrong));
  const ProgressEntry& entry = progress.entry("02_b");
  CHECK(entry.checks == 2);
  CHECK(entry.points == 10);
  CHECK(entry.state == ProgressState::kFull);
  CHECK(progress.current() == "02_b");
}
