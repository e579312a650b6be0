// Which exercise is next, what a verdict changes in a learner's progress, and what is said of records
// and of predictions.
#include "exercises/grader/grade/course.hpp"

#include <string>
#include <vector>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/judge/predictions.hpp"
#include "exercises/grader/judge/records.hpp"
#include "exercises/grader/prove/lint.hpp"
#include "exercises/grader/prove/told_counts.hpp"
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

Verdict full_marks(std::vector<CostLine> costs) {
  Verdict verdict;
  verdict.outcome = Outcome::kFull;
  verdict.costs = std::move(costs);
  return verdict;
}

Exercise shipped(const std::string& id) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    return std::move(*read.exercise);
  }
  FAIL("there is no exercise " << id);
  return {};
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

TEST_CASE("a result that earns points is kept with its costs, its time and its file") {
  Progress progress;
  Verdict verdict = passed_with(10, Outcome::kFull);
  verdict.costs = {{"cycles", 22, 22, 22, 44}, {"loads", 10, 10, 10, 20}};
  verdict.registers = RegisterUse{5, 6};
  record_verdict(progress, "02_b", passed_with(0, Outcome::kWrong), {"2026-11-28T09:00:00Z", "b"});
  record_verdict(progress, "02_b", verdict, {"2026-11-28T10:00:00Z", "/home/ada/02_b.toy"});
  record_verdict(progress, "02_b", verdict);  // nobody says when
  const auto results = progress.results_of("02_b");
  REQUIRE(results.size() == 1);
  CHECK(results[0].when == "2026-11-28T10:00:00Z");
  CHECK(results[0].file == "/home/ada/02_b.toy");
  CHECK(results[0].costs.at("cycles") == 22);
  CHECK(results[0].costs.at("loads") == 10);
  CHECK(results[0].costs.at("registers") == 5);
}

TEST_CASE("fewer cycles than the solution are said in a sentence", "[records]") {
  CHECK(record_sentence(full_marks({{"cycles", 174, 175, 175, 350}, {"loads", 48, 48, 48, 96}})) ==
        "174 cycles: one fewer than our solution.");
  CHECK(record_sentence(full_marks({{"cycles", 783, 843, 843, 1686}})) ==
        "783 cycles: 60 fewer than our solution.");
}

TEST_CASE("less than full marks allow is said where the solution does as well", "[records]") {
  CHECK(record_sentence(full_marks({{"cycles", 12, 13, 12, 26}})) ==
        "12 cycles: one fewer than full marks allow.");
}

TEST_CASE("loads, bytes, times and registers are compared, too", "[records]") {
  Verdict verdict = full_marks({{"dram_bytes", 4000, 4096, 4096, 8192},
                                {"k.loads", 1, 4, 4, 8},
                                {"predicted_ns", 82'000, 90'000, 85'000, 180'000}});
  verdict.registers = RegisterUse{5, 6};
  CHECK(record_sentence(verdict) ==
        "4000 DRAM bytes: 96 fewer than our solution; 1 load of k: 3 fewer than our solution; "
        "82 µs: 3 µs less than our solution; 5 registers in use at once: one fewer than our "
        "solution.");
}

TEST_CASE("nothing is a record that is as good, or has no full marks", "[records]") {
  CHECK(record_sentence(full_marks({{"cycles", 175, 175, 175, 350}})).empty());
  Verdict costly = full_marks({{"cycles", 174, 175, 175, 350}, {"loads", 60, 48, 48, 96}});
  costly.outcome = Outcome::kCostly;
  CHECK(record_sentence(costly).empty());
}

TEST_CASE("the counts to predict begin with loads and end with cycles", "[predictions]") {
  CHECK(counts_to_predict(shipped("08_online_softmax")) ==
        std::vector<std::string>{"loads", "stores", "cycles"});
  CHECK(counts_to_predict(shipped("04_outer_product")) ==
        std::vector<std::string>{"loads", "cycles"});
  CHECK(counts_to_predict(shipped("17_loop_order_counts")).empty());
}

TEST_CASE("a prediction is compared with a right program's count", "[predictions]") {
  const Exercise exercise = shipped("04_outer_product");
  Verdict verdict = full_marks({{"cycles", 22, 22, 22, 44}, {"loads", 10, 10, 10, 20}});
  const auto compared = compare_predictions(exercise, {{"loads", "12"}, {"cycles", "22"}}, verdict);
  REQUIRE(compared.size() == 2);
  CHECK(sentence_of(compared[0]) == "You predicted 12 loads; your program makes 10.");
  CHECK(sentence_of(compared[1]) ==
        "You predicted 22 cycles, and that is what your program takes.");
  verdict.outcome = Outcome::kWrong;
  CHECK(compare_predictions(exercise, {{"loads", "12"}}, verdict).empty());
}

TEST_CASE("a prediction may be a formula in the sizes", "[predictions]") {
  const Exercise exercise = shipped("08_online_softmax");
  Verdict verdict = full_marks({{"cycles", 220, 220, 220, 440}, {"loads", 32, 32, 32, 64}});
  verdict.size = {{"n", 16}};
  const auto compared =
      compare_predictions(exercise, {{"loads", "3n"}, {"cycles", "14n - 4"}}, verdict);
  REQUIRE(compared.size() == 2);
  CHECK(sentence_of(compared[0]) == "You predicted 3n loads, 48 at n = 16; your program makes 32.");
  CHECK(sentence_of(compared[1]) ==
        "You predicted 14n - 4 cycles, 220 at n = 16, and that is what your program takes.");
  CHECK_FALSE(read_prediction(exercise, "3 m"));
  CHECK_FALSE(read_prediction(exercise, "many"));
  CHECK_FALSE(read_prediction(exercise, "-1"));
  CHECK_FALSE(read_prediction(exercise, "n - 1000"));
  CHECK(read_prediction(exercise, "0"));
}

TEST_CASE("no exercise tells what it asks to predict", "[predictions]") {
  std::vector<std::string> asking;
  for (const ExerciseSource& source : builtin_exercises()) {
    const Exercise exercise = shipped(source.id);
    CAPTURE(source.id);
    CHECK(lint_told_counts(exercise).empty());
    if (!exercise.program.cost.predict.empty()) asking.push_back(source.id);
  }
  // Problems 2, 3, 4 and 5 of the source, and its quiz about six registers.
  CHECK(asking == std::vector<std::string>{"03_full_product", "04_outer_product",
                                           "05_inner_six_registers", "06_safe_softmax",
                                           "08_online_softmax"});
}

TEST_CASE("a text that tells a count to predict is found, in whatever layout", "[predictions]") {
  Exercise exercise = shipped("08_online_softmax");
  const auto says = [&](const std::string& text) {
    exercise.problem = text;
    return lint_told_counts(exercise).size();
  };
  CHECK(says("It takes 14n - 4 cycles.") == 1);
  CHECK(says("It takes 14*n\n- 4\ncycles, and n stores.") == 2);
  CHECK(says("12n loads in stores; 2n elements.") == 0);
}

TEST_CASE("lint names an exercise to follow that there is not, and a circle", "[lint]") {
  const auto source = [](const std::string& id, const std::string& after) {
    ExerciseSource made;
    made.id = id;
    made.files["exercise.toml"] = "after = \"" + after + "\"\n";
    return made;
  };
  const std::vector<ExerciseSource> all = {source("01_a", "03_c"), source("02_b", "01_a"),
                                           source("03_c", "02_b"), source("04_d", "01_b")};
  REQUIRE(lint_place(all[3], all).size() == 1);
  CHECK(lint_place(all[3], all)[0].what ==
        "'after' names '01_b', which is no exercise; did you mean '01_a'?");
  REQUIRE(lint_place(all[0], all).size() == 1);
  CHECK(lint_place(all[0], all)[0].what ==
        "the exercise follows itself: 01_a after 03_c after 02_b after 01_a");
  const std::vector<ExerciseSource> course = all_exercises({});
  for (const ExerciseSource& one : course) CHECK(lint_place(one, course).empty());
}
