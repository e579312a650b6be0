// Points are tenths, rounded down, and what is stated adds up.
#include "exercises/grader/exercise/points.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/grade/check_rows.hpp"
#include "exercises/grader/grade/course.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/report/reports.hpp"
#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

double rounded(double points, double most = 10) { return rounded_points(points, most, false); }

/// A task with results at so many sizes, and so many counters.
ProgramTask task_of(std::size_t sizes, std::size_t counters, Points points) {
  ProgramTask task;
  task.points = points;
  task.sizes.clear();
  for (std::size_t i = 0; i < sizes; ++i) {
    task.sizes.push_back({{"n", static_cast<std::int64_t>(i + 1)}});
  }
  task.drawn.ranges.clear();
  task.counted.ranges.clear();
  for (std::size_t i = 0; i < counters; ++i) task.cost.full["counter" + std::to_string(i)] = {};
  return task;
}

/// The verdict on a right program whose counters earn these shares.
Verdict right_verdict(const ProgramTask& task, const std::vector<double>& shares) {
  Verdict verdict;
  verdict.max_points = added_points(task.points.correct, task.points.cost);
  verdict.outcome = Outcome::kFull;
  for (const std::string& name : result_names(task))
    verdict.checks.push_back({name, true, 0, 0, ""});
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CostLine line{"counter" + std::to_string(i), 0, 0, 0, 0};
    line.share = shares[i];
    if (line.share < 1) verdict.outcome = Outcome::kCostly;
    verdict.checks.push_back({line.key, line.share >= 1, 0, 0, ""});
    verdict.costs.push_back(line);
  }
  complete_checks(task, verdict);
  return verdict;
}

/// The sums of the rows: points, and the most.
std::pair<double, double> sums_of_rows(const Verdict& verdict) {
  std::pair<double, double> sums;
  for (const Check& check : verdict.checks) {
    sums.first = added_points(sums.first, check.points);
    sums.second = added_points(sums.second, check.max_points);
  }
  return sums;
}

/// A sheet of questions with the answer 1, each for these points.
Exercise sheet_of(const std::vector<double>& points) {
  Exercise sheet;
  sheet.id = "sheet";
  sheet.kind = Kind::kQuestions;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Question question;
    question.id = "q" + std::to_string(i);
    question.ask = "How many?";
    question.kind = AnswerKind::kNumber;
    question.answer = "1";
    question.points = points[i];
    sheet.questions.questions.push_back(std::move(question));
  }
  return sheet;
}

/// The verdict on a sheet whose first answers are right.
Verdict graded(const Exercise& sheet, std::size_t right) {
  std::string text;
  for (const Question& question : sheet.questions.questions) {
    text += question.id + (right > 0 ? ": 1\n" : ": 2\n");
    right -= right > 0 ? 1 : 0;
  }
  return grade_answers(sheet, toy::SourceText("sheet.txt", text));
}

template <class Write>
std::string text_of(Write write, const ClassReport& report) {
  std::ostringstream out;
  write(out, report);
  return out.str();
}

}  // namespace

TEST_CASE("points are rounded down to tenths", "[points]") {
  CHECK(rounded(9.99) == 9.9);
  CHECK(rounded(9.9) == 9.9);
  CHECK(rounded(9.8999) == 9.8);
  CHECK(rounded(0.0999) == 0);
  CHECK(rounded(0) == 0);
  CHECK(rounded(3.99, 4) == 3.9);
}

TEST_CASE("all points are for full marks alone, however close others come", "[points]") {
  CHECK(rounded_points(10, 10, true) == 10);
  CHECK(rounded_points(9.999999999999999, 10, true) == 10);  // a sum that doubles made smaller
  CHECK(rounded_points(10.25, 10.25, true) == 10.25);
  CHECK(rounded(9.999999999999999) == 9.9);
  CHECK(rounded(10) == 9.9);
  CHECK(rounded(12.5, 12.5) == 12.4);
  CHECK(rounded(10.25, 10.25) == 10.2);
  CHECK(rounded(0.1, 0.1) == 0);
}

TEST_CASE("a tenth that doubles fall short of is that tenth", "[points]") {
  double sum = 0;
  for (int tenths = 0; tenths < 10'000; ++tenths) {
    INFO(tenths);
    const double exact = tenths / 10.0;
    CHECK(rounded(tenths * 0.1, 1e6) == exact);
    CHECK(rounded(sum, 1e6) == exact);
    CHECK(rounded(6 + 4 * ((exact - 6) / 4), 1e6) == exact);
    sum += 0.1;
  }
  CHECK(rounded(0.3 * 10) == 3);
  CHECK(rounded((0.1 + 0.7) * 10) == 8);  // 7.999999999999999
}

TEST_CASE("a cost above that for full marks is less than full, also among huge counts",
          "[points]") {
  const toy::Count full("100000000000000000000"), naive = 2 * full;
  CHECK(cost_share({"cycles", full, full, full, naive}) == 1);
  CHECK(cost_share({"cycles", full + 1, full, full, naive}) < 1);
  const ProgramTask task = task_of(1, 1, {6, 4});
  const double share = cost_share({"cycles", full + 1, full, full, naive});
  CHECK(right_verdict(task, {share}).points == 9.9);
}

TEST_CASE("the rows of a program are tenths and add up to its points", "[points]") {
  for (const Points points : {Points{6, 4}, Points{3, 1}, Points{0, 10}, Points{12.5, 7.3}}) {
    for (std::size_t sizes = 1; sizes < 8; ++sizes) {
      for (const double share : {0.0, 1.0 / 3, 0.5, 0.999999, 1.0}) {
        const Verdict verdict = right_verdict(task_of(sizes, 3, points), {1, share, 1});
        INFO(points.correct << " " << points.cost << " " << sizes << " " << share);
        const auto [sum, most] = sums_of_rows(verdict);
        CHECK(sum == verdict.points);
        CHECK(most == verdict.max_points);
        CHECK((verdict.points == verdict.max_points) == (share == 1));
        for (const Check& check : verdict.checks) {
          CHECK(check.points >= 0);
          CHECK((check.points == check.max_points) == check.passed);
        }
      }
    }
  }
}

TEST_CASE("each counter's points are rounded down by themselves", "[points]") {
  const Verdict verdict = right_verdict(task_of(2, 2, {6, 4}), {0.999, 0.97});
  REQUIRE(verdict.checks.size() == 4);
  CHECK(verdict.checks[0].points == 3);
  CHECK(verdict.checks[2].points == 1.9);  // of 2: 1.998
  CHECK(verdict.checks[3].points == 1.9);  // of 2: 1.94
  CHECK(verdict.points == 9.8);
}

TEST_CASE("a sheet has all of its points if every answer is right, and no digits of doubles",
          "[points]") {
  const Exercise tenths = sheet_of({0.1, 0.2, 0.3, 0.1, 0.7});
  CHECK(tenths.max_points() == 1.4);
  CHECK(graded(tenths, 5).points == 1.4);
  CHECK(graded(tenths, 2).points == 0.3);
  CHECK(graded(tenths, 3).points == 0.6);
  const Exercise quarters = sheet_of({0.25, 0.25, 0.25});
  CHECK(graded(quarters, 3).points == 0.75);
  CHECK(graded(quarters, 2).points == 0.5);
  CHECK(graded(quarters, 1).points == 0.2);
}

TEST_CASE("every report states the same points", "[points]") {
  Verdict verdict = right_verdict(task_of(1, 1, {6, 4}), {0.9999});
  REQUIRE(verdict.points == 9.9);
  const StudentResult student{"anna", std::make_shared<const Verdict>(verdict), {}};
  const ClassReport report = make_class_report(*dot_product(), {student}, {});
  const auto json = nlohmann::json::parse(text_of(write_json, report));
  CHECK(json["students"][0]["points"].dump() == "9.9");
  CHECK(json["students"][0]["checks"][1]["points"].dump() == "3.9");
  CHECK(json["summary"]["mean_points"].dump() == "9.9");
  CHECK_THAT(text_of(write_csv, report), contains("\"anna\",\"costly\",9.9,10,"));
  CHECK_THAT(text_of(write_junit, report), contains("name=\"points\" value=\"9.9\""));
  CHECK_THAT(text_of(write_html, report), contains(">9.9<") && contains("mean 9.9 of 10 points"));
  std::ostringstream gradescope;
  write_gradescope(gradescope, student, {});
  const auto scores = nlohmann::json::parse(gradescope.str());
  CHECK(scores["score"].dump() == "9.9");
  CHECK(scores["tests"][2]["score"].dump() == "3.9");
}

TEST_CASE(
    "a class's mean is that of the stated points, and all of them if everybody has full marks",
    "[points]") {
  const auto student = [](double share) {
    return StudentResult{
        "anna", std::make_shared<const Verdict>(right_verdict(task_of(1, 1, {6, 4}), {share})), {}};
  };
  const auto mean = [&](const std::vector<double>& shares) {
    std::vector<StudentResult> students;
    for (const double share : shares) students.push_back(student(share));
    return make_class_report(*dot_product(), students, {}).mean_points();
  };
  CHECK(mean({1, 1, 1}) == 10);
  CHECK(mean({1, 1, 0.999}) == 9.9);    // of 10, 10 and 9.9
  CHECK(mean({0, 0.025, 0.025}) == 6);  // of 6, 6.1 and 6.1
  CHECK(mean({}) == 0);
}

TEST_CASE("points that an older version stored in hundredths are shown in tenths", "[points]") {
  const Progress progress = Progress::parse(
      "01_a passed points 9.99 checks 1 hints 0\n02_b full points 10.25 checks 1 hints 0\n"
      "03_c passed points 0.3 checks 1 hints 0\n");
  CHECK(progress.find("01_a")->points == 9.9);
  CHECK(progress.find("02_b")->points == 10.25);
  CHECK(progress.find("03_c")->points == 0.3);
}

TEST_CASE("the best points are no more than an exercise has now", "[points]") {
  Progress progress;
  progress.entry("sheet").points = 12;
  CHECK(best_points(progress.find("sheet"), sheet_of({2, 2})) == 4);
  CHECK(best_points(nullptr, sheet_of({2, 2})) == 0);
}

}  // namespace flashlab::test
