// The whole course from its first exercise to its last, as `flashlab next` leads, and what is kept on
// the way: results, a board, predictions.
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "tests/cli/command.hpp"

namespace {

using namespace flashlab::test;
namespace exercises = flashlab::exercises;

/// A learner with a home of its own and the built-in exercises.
class Course {
 public:
  Outcome shell(const std::string& line) const {
    return place_.shell("export HOME=\"$PWD\"\nunset XDG_DATA_HOME FLASHLAB_EXERCISES\n" + line);
  }
  void write(const std::string& name, const std::string& text) const { place_.write(name, text); }
  std::string read(const std::string& name) const { return place_.read(name); }

  /// Copies a program of the exercise to its work file, or to another one.
  void take(const std::string& id, const std::string& program, const std::string& file = {}) const {
    place_.write(file.empty() ? id + ".toy" : file, read_source(id + "/" + program));
  }
  static std::string read_source(const std::string& name) {
    for (const auto& source : exercises::builtin_exercises()) {
      if (name.starts_with(source.id + "/"))
        return source.files.at(name.substr(source.id.size() + 1));
    }
    FAIL("there is no exercise of " << name);
    return {};
  }

 private:
  Workplace place_;
};

exercises::Exercise exercise_of(const exercises::ExerciseSource& source) {
  auto read = exercises::read_exercise(source.id, source.files);
  REQUIRE(read.exercise);
  return std::move(*read.exercise);
}

/// The right program or the right answers.
std::string solved(const exercises::Exercise& exercise) {
  return exercise.kind == exercises::Kind::kProgram
             ? std::string(exercise.program.solution->source->text())
             : exercises::model_answers(exercise.questions);
}

}  // namespace

TEST_CASE("next leads through the whole course, each exercise once, without an error",
          "[learner]") {
  const Course course;
  std::set<std::string> seen;
  const std::regex start("flashlab exercises start [0-9]+");
  const auto all = exercises::all_exercises({});
  for (const auto& source : all) {
    CAPTURE(source.id);
    const Outcome next = course.shell("flashlab next");
    REQUIRE(next.code == 0);
    REQUIRE(next.err.empty());
    const exercises::Exercise exercise = exercise_of(source);
    CHECK_THAT(next.out, contains("Wrote " + exercise.work_file() + "."));
    if (source.id == "02_c00") CHECK_THAT(next.out, !contains(" comes after "));
    if (source.id == "28_flash2") {
      CHECK_THAT(next.out,
                 contains("Exercise 28 comes after 15: the order is that of the chapters"));
    }
    for (std::sregex_iterator match(next.out.begin(), next.out.end(), start), end; match != end;
         ++match) {
      CHECK(course.shell(match->str()).code == 0);  // as the task says
    }
    course.write(exercise.work_file(), solved(exercise));
    const Outcome check = course.shell("flashlab check");
    REQUIRE(check.code == 0);
    CHECK_THAT(check.out, contains("full marks"));
    CHECK(seen.insert(source.id).second);
  }
  CHECK(seen.size() == exercises::builtin_exercises().size());
  const Outcome done = course.shell("flashlab next");
  CHECK(done.code == 0);
  CHECK_THAT(done.out, contains("Every exercise is done"));
  CHECK_THAT(course.shell("flashlab exercises list").out,
             contains(std::to_string(all.size()) + " of " + std::to_string(all.size())));
}

TEST_CASE("what was left behind is said by check, by next and where the learner is", "[learner]") {
  const Course course;
  for (const char* id : {"01_demo_product", "08_online_softmax"}) {
    course.take(id, "solution.toy");
    REQUIRE(course.shell("flashlab check " + std::string(id)).code == 0);
  }
  const std::string behind =
      "Left behind: 02_c00, 03_full_product, 04_outer_product, 05_inner_six_registers, "
      "06_safe_softmax and 1 more";
  const std::string check = course.shell("flashlab check 8 --width 200").out;
  CHECK_THAT(check, contains("Next: flashlab start 09_numerical_safety\n" + behind));
  CHECK_THAT(course.shell("flashlab next --width 200").out, contains(behind));
  CHECK_THAT(course.shell("flashlab next --where --width 200").out, contains(behind));
  CHECK_THAT(course.shell("flashlab check 1 --width 200").out, !contains("Left behind"));
}

TEST_CASE("a result better than full marks is said, and kept in the history", "[learner]") {
  const Course course;
  course.take("07_online_step", "solution.toy");
  std::string best = Course::read_source("07_online_step/solution.toy");
  // The hint of the text: the step alone needs one instruction less, if m' is stored from R0.
  course.write("short.toy",
               ".isa softmax\n.registers 4\n.input x[1]\n.input m[1]\n.input s[1]\n"
               ".output m1[1]\n.output s1[1]\n"
               "LOAD m[0], R1\nLOAD s[0], R2\nLOAD x[0], R0\n"
               "MAX R0, R1, R3\nSUB R1, R3, R1\nSUB R0, R3, R0\nEXP R1, R1\nEXP R0, R0\n"
               "MUL R2, R1, R2\nADD R2, R0, R2\nSTORE R3, m1[0]\nSTORE R2, s1[0]\n");
  REQUIRE(course.shell("flashlab check 7").code == 0);
  const Outcome better = course.shell("flashlab check 7 short.toy");
  CHECK(better.code == 0);
  CHECK_THAT(better.out, contains("12 cycles: one fewer than our solution."));
  const auto verdict = json_of(course.shell("flashlab check 7 short.toy --json"));
  CHECK(verdict["record"] == "12 cycles: one fewer than our solution.");
  CHECK(verdict["records"][0]["key"] == "cycles");
  CHECK(verdict["records"][0]["value"] == 12);
  CHECK(verdict["records"][0]["beaten"] == 13);
  CHECK(verdict["records"][0]["below"] == "solution");
  REQUIRE(course.shell("flashlab check 7 short.toy --html page.html").code == 0);
  CHECK_THAT(course.read("page.html"), contains("12 cycles: one fewer than our solution."));

  REQUIRE(course.shell("flashlab check 7 07_online_step.toy").code == 0);
  const std::string history = course.shell("flashlab history 7 --width 100").out;
  CAPTURE(history);
  CHECK(std::regex_search(history, std::regex("\n   .*10/10 +13 .*07_online_step.toy\n"
                                              "  \\* .*10/10 +12 .*short.toy\n"
                                              "    .*10/10 +13 .*07_online_step.toy\n"
                                              "  \\* the best\n")));
  CHECK(widest_line(course.shell("flashlab history 7 --width 80").out) <= 80);
  const auto json = json_of(course.shell("flashlab exercises history 7 --json"));
  REQUIRE(json[0]["results"].size() == 3);
  CHECK(json[0]["results"][1]["best"] == true);
  CHECK(json[0]["results"][1]["costs"]["cycles"] == 12);
  CHECK(json[0]["results"][2]["best"] == false);
  CHECK_THAT(course.shell("flashlab history").out, contains("07_online_step"));
}

TEST_CASE("without results, history and board say how to get one", "[learner]") {
  const Course course;
  CHECK_THAT(course.shell("flashlab history").out, contains("No results are kept yet"));
  CHECK_THAT(course.shell("flashlab history 4").out,
             contains("No result of 04_outer_product is kept yet: flashlab check 04"));
  const Outcome board = course.shell("flashlab exercises board 36");
  CHECK(board.code == 0);
  CHECK_THAT(board.out, contains("No result of 36_fast_product is kept yet"));
}

TEST_CASE("the board of a fast program compares files by their time, beside the one to beat",
          "[learner]") {
  const Course course;
  course.take("36_fast_product", "given.toy", "given_again.toy");
  course.take("36_fast_product", "solution.toy", "mine.toy");
  REQUIRE(course.shell("flashlab check 36 given_again.toy").code == 0);
  REQUIRE(course.shell("flashlab check 36 mine.toy").code == 0);
  const std::string board = course.shell("flashlab exercises board 36 --width 100").out;
  CAPTURE(board);
  const auto at = [&](const std::string& name) {
    const std::size_t found = board.find(name);
    REQUIRE(found != std::string::npos);
    return found;
  };
  CHECK(at("predicted time") < at("mine.toy"));
  CHECK(at("our solution") < at("given.toy"));
  const auto json = json_of(course.shell("flashlab exercises board 36 --json"));
  REQUIRE(json["results"].size() == 2);
  const auto first = json["results"][0]["costs"]["predicted_ns"].get<double>();
  const auto second = json["results"][1]["costs"]["predicted_ns"].get<double>();
  CHECK(first <= second);
  CHECK(json["others"].size() == 2);
  CHECK(json["others"][0]["costs"]["predicted_ns"].get<double>() == second);
}

TEST_CASE("an old progress file is read as before, and one with results by the same rules",
          "[learner]") {
  const Course course;
  course.shell("mkdir -p .local/share/flashlab");
  course.write(
      ".local/share/flashlab/progress.txt",
      "current: 04_outer_product\n"
      "03_full_product   full    points 10   checks 2   hints 1\n"
      "04_outer_product  started points 0    checks 1   hints 0  file 04_outer_product.toy\n");
  CHECK_THAT(course.shell("flashlab exercises list").out, contains("1 of 42 exercises done"));
  course.take("04_outer_product", "solution.toy");
  const Outcome check = course.shell("flashlab check");
  CHECK(check.code == 0);
  CHECK(check.err.empty());
  course.write(
      ".local/share/flashlab/progress.txt",
      course.read(".local/share/flashlab/progress.txt") + "result: 04_outer_product 2026\n");
  const Outcome damaged = course.shell("flashlab history 4");
  CHECK(damaged.code == 0);
  CHECK(std::count(damaged.err.begin(), damaged.err.end(), '\n') == 1);
  CHECK_THAT(damaged.err, contains("cannot be read; it is kept as it is"));
  REQUIRE(course.shell("flashlab check 4").code == 0);
  CHECK_THAT(course.read(".local/share/flashlab/progress.txt"),
             contains("result: 04_outer_product 2026\n"));
}

TEST_CASE("predictions are kept, and a right program is compared with them", "[learner]") {
  const Course course;
  const Outcome predicted = course.shell("flashlab predict 4 --answer loads=12 --answer cycles=22");
  CHECK(predicted.code == 0);
  CHECK_THAT(predicted.out, contains("You predict 12 loads, 22 cycles for exercise 04."));
  course.take("04_outer_product", "wrong/transposed_sums.toy");
  CHECK_THAT(course.shell("flashlab check 4").out, !contains("predicted"));
  course.take("04_outer_product", "solution.toy");
  const std::string text = course.shell("flashlab check 4").out;
  CHECK_THAT(text, contains("You predicted 12 loads; your program makes 10."));
  CHECK_THAT(text, contains("You predicted 22 cycles, and that is what your program takes."));
  const auto json = json_of(course.shell("flashlab check 4 --json"));
  REQUIRE(json["predictions"].size() == 2);
  CHECK(json["predictions"][0]["key"] == "loads");
  CHECK(json["predictions"][0]["predicted"] == 12);
  CHECK(json["predictions"][0]["counted"] == 10);
  CHECK(json["predictions"][0]["right"] == false);
  CHECK(json["predictions"][1]["right"] == true);
}

TEST_CASE("predict reads a line for each count from a pipe", "[learner]") {
  const Course course;
  CHECK_THAT(course.shell("printf '2n\\n\\n14n - 4\\n' | flashlab predict 8").out,
             contains("You predict 2n loads, 14n - 4 cycles for exercise 08."));
  const auto refused = [&](const std::string& line) {
    const Outcome outcome = course.shell(line);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 3);
    return outcome.err;
  };
  CHECK_THAT(refused("printf 'many\\n' | flashlab predict 8"), contains("'many'"));
  CHECK_THAT(refused("flashlab predict 8 < /dev/null"), contains("nothing was predicted"));
  CHECK_THAT(refused("flashlab predict 8 --answer load=3"), contains("loads"));
  CHECK_THAT(refused("flashlab predict 8 --answer loads"), contains("COUNT=NUMBER"));
  CHECK_THAT(refused("flashlab predict 17 --answer loads=3"),
             contains("exercise 17 has no counts to predict"));
  CHECK_THAT(refused("flashlab predict 36 < /dev/null"), contains("no counts to predict"));
}

TEST_CASE("what is to be predicted is not shown before the exercise is passed", "[learner]") {
  const Course course;
  const std::string before = course.shell("flashlab exercises show 8 --width 80").out;
  CHECK_THAT(before, contains("flashlab predict 08"));
  CHECK_THAT(before, !contains("<= 2 n"));
  CHECK_THAT(before, !contains("<= 14"));
  course.take("08_online_softmax", "solution.toy");
  REQUIRE(course.shell("flashlab check 8").code == 0);
  const std::string after = course.shell("flashlab exercises show 8 --width 80").out;
  CHECK_THAT(after, contains("loads <= 2"));
}

TEST_CASE("check without a name goes on with what was checked last, as its help says",
          "[learner]") {
  const Course course;
  course.take("04_outer_product", "solution.toy");
  course.take("05_inner_six_registers", "starter.toy");
  REQUIRE(course.shell("flashlab start 3").code == 0);
  REQUIRE(course.shell("flashlab check 5").code == 1);
  REQUIRE(course.shell("flashlab check 4").code == 0);
  CHECK_THAT(course.shell("flashlab check").out, contains("04_outer_product.toy"));
  CHECK_THAT(course.shell("flashlab check --help").out, contains("started or checked"));
}
