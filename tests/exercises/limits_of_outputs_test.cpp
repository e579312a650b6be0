// A tolerance for a single output, a limit that is the solution's count, and inputs in blocks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/judge/cost_score.hpp"
#include "exercises/grader/prove/blanket_sheet.hpp"
#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

Files with_line(const std::string& table, const std::string& line) {
  Files files = template_exercise().files;
  std::string& text = files.at("exercise.toml");
  const std::size_t at = text.find(table + "\n");
  REQUIRE(at != std::string::npos);
  text.insert(at + table.size() + 1, line + "\n");
  return files;
}

std::string errors_with(const std::string& table, const std::string& line) {
  const Files files = with_line(table, line);
  const ReadResult read = read_exercise("01_dot", files);
  CHECK_FALSE(read.exercise);
  return format(read.errors, files);
}

std::shared_ptr<const Exercise> exercise_of_course(const std::string& id) {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    return std::make_shared<const Exercise>(std::move(*read.exercise));
  }
  FAIL("there is no exercise " << id);
  return nullptr;
}

}  // namespace

TEST_CASE("an output has a tolerance of its own, on lanes and in a single run", "[limits]") {
  const Tolerance usual = 1e-3;
  CHECK(usual.of("mean") == 1e-3);
  const auto exercise = exercise_of_course("12_online_variance");
  const ProgramTask& task = exercise->program;
  CHECK(task.tolerance.of("mean") == 1e-5);
  CHECK(task.tolerance.of("variance") == 1e-3);

  const SizedCases sized = cases_at(task, {{"n", 16}}, {Family::kRandom}, 1, 0);
  toy::Binding sizes;
  sizes.params["n"] = 16;
  const auto bound = toy::bind(task.solution, sizes);
  REQUIRE(bound);
  CHECK_FALSE(run_case(*bound, sized.cases[0], task.tolerance));
  for (const char* output : {"mean", "variance"}) {
    SizedCases off = sized;  // by a ten thousandth of the value
    off.cases[0].expected.at(output).values[0] *= 1 + 1e-4;
    const bool is_wrong = std::string(output) == "mean";
    const auto failure = run_case(*bound, off.cases[0], task.tolerance);
    CHECK(failure.has_value() == is_wrong);
    const auto lanes = make_lane_cases(off, *bound, task.tolerance);
    const Attempt attempted = attempt(task, task.solution, off, &lanes[0]);
    CHECK(attempted.failure.has_value() == is_wrong);
  }
}

TEST_CASE("a tolerance of an output that is none, or no number, is complained of", "[limits]") {
  CHECK_THAT(errors_with("[expect]", "tolerances = { t = 1e-3 }"),
             contains("'t' is not an output that is compared") && contains("one of s"));
  CHECK_THAT(errors_with("[expect]", "tolerances = { s = 2 }"),
             contains("the tolerance of 's' is not between 0 and 1"));
  CHECK_THAT(errors_with("[expect]", "tolerances = { s = \"small\" }"),
             contains("the tolerance of 's' is not between 0 and 1"));
  const auto read = dot_product(with_line("[expect]", "tolerances = { s = 1e-3 }"));
  CHECK(read->program.tolerance.of("s") == 1e-3);
}

TEST_CASE("no more of a counter than the solution has is accepted, at each size", "[limits]") {
  const Grader grader(dot_product(with_line("[cost]", "most = { loads = \"solution\" }")));
  CHECK(grade_text(grader, dot_solution()).points == 10);
  const Verdict verdict = grade_text(grader, dot_costly());
  CHECK(verdict.points == 0);
  REQUIRE_FALSE(verdict.findings.empty());
  REQUIRE_FALSE(verdict.findings[0].details.empty());
  CHECK_THAT(verdict.findings[0].details[0], contains(" loads at n = 16, at most 32 are accepted"));
  // One load more beyond n = 16 only.
  std::string text = dot_solution();
  const std::string store = "STORE R2, s[0]";
  text.replace(text.find(store), store.size(),
               "for i in 0..min(1, max(0, n - 16))\n  LOAD x[0], R0\nend\n" + store);
  const Verdict hidden = grade_text(grader, text);
  CHECK(hidden.points == 0);
  REQUIRE_FALSE(hidden.findings.empty());
  REQUIRE_FALSE(hidden.findings[0].details.empty());
  CHECK_THAT(hidden.findings[0].details[0], contains(" are accepted") && !contains("n = 16"));
}

TEST_CASE("'solution' is a limit, not a cost for full marks", "[limits]") {
  Files files = template_exercise().files;
  std::string& toml = files.at("exercise.toml");
  toml.replace(toml.find("\"2*n\""), 5, "\"solution\"");
  const ReadResult read = read_exercise("01_dot", files);
  CHECK_FALSE(read.exercise);
}

TEST_CASE("blocks are runs of equal values of many lengths", "[limits]") {
  const auto exercise = exercise_of_course("10_kahan_sum");
  std::set<std::size_t> numbers;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SizedCases sized = cases_at(exercise->program, {{"n", 3000}}, {Family::kBlocks}, seed, 0);
    const std::vector<double>& x = sized.cases[0].inputs.at("x").values;
    std::vector<std::size_t> lengths{1};
    for (std::size_t i = 1; i < x.size(); ++i) {
      if (x[i] == x[i - 1]) {
        ++lengths.back();
      } else {
        lengths.push_back(1);
      }
    }
    CHECK(lengths.size() > 2);
    CHECK(lengths.size() < 40);
    numbers.insert(lengths.size());
    CHECK(std::set<std::size_t>(lengths.begin(), lengths.end()).size() > 2);
  }
  CHECK(numbers.size() > 4);
}

namespace {

/// The signs of an array's rows: 1 or -1, and 0 for a row that has both.
std::vector<int> signs_of_rows(const NamedArray& array) {
  const auto row = static_cast<std::size_t>(array.extents.back());
  std::vector<int> signs;
  for (std::size_t i = 0; i < array.values.size(); i += row) {
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(i);
    const auto negative = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(row),
                                        [](double value) { return std::signbit(value); });
    signs.push_back(negative == 0 ? 1 : negative == static_cast<std::ptrdiff_t>(row) ? -1 : 0);
  }
  return signs;
}

}  // namespace

TEST_CASE("huge inputs have one sign in each array now and then, and scores far below 0",
          "[limits]") {
  for (const char* id : {"13_attention_update", "16_loop_orders", "28_flash2"}) {
    const auto exercise = exercise_of_course(id);
    const ProgramTask& task = exercise->program;
    std::size_t below = 0, above = 0, mixed = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const SizedCases sized = cases_at(task, task.sizes.back(), {Family::kHuge}, seed, 0);
      const std::vector<int> q = signs_of_rows(sized.cases[0].inputs.at("q"));
      const std::vector<int> k = signs_of_rows(sized.cases[0].inputs.at("k"));
      const bool alike = std::count(q.begin(), q.end(), 0) == 0 && k[0] != 0 &&
                         std::count(k.begin(), k.end(), k[0]) == std::ssize(k);
      if (!alike) ++mixed;
      if (alike && q[0] != k[0]) ++below;
      if (alike && q[0] == k[0]) ++above;
    }
    INFO(id);
    CHECK(below > 8);
    CHECK(mixed > 8);
    CHECK(above < 2);
  }
}

TEST_CASE(
    "among many keys, huge inputs have scores that overflow without a maximum with every seed",
    "[limits]") {
  constexpr double kOverflows = 88.8;  // e^x in a float
  for (const char* id : {"37_fast_attention", "28_flash2", "31_flash1"}) {
    const auto exercise = exercise_of_course(id);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Size size{{"n", 60}, {"nk", 60}, {"d", 4}, {"B", 4}, {"Bk", 4}, {"Bd", 4}};
      const SizedCases sized = cases_at(exercise->program, size, {Family::kHuge}, seed, 0);
      const std::vector<double>& q = sized.cases[0].inputs.at("q").values;
      const std::vector<double>& k = sized.cases[0].inputs.at("k").values;
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < 60; ++i) {
        for (std::size_t j = 0; j < 60; ++j) {
          double score = 0;
          for (std::size_t c = 0; c < 4; ++c) score += q[4 * i + c] * k[4 * j + c];
          largest = std::max(largest, score / 2);
        }
      }
      INFO(id << ", seed " << seed);
      CHECK(largest > kOverflows);
    }
  }
}

TEST_CASE("with every seed, a maximum that begins at 0 is wrong", "[limits]") {
  for (const char* id : {"13_attention_update", "16_loop_orders", "28_flash2", "31_flash1"}) {
    const auto exercise = exercise_of_course(id);
    std::string text = exercise->program.solution->source->text();
    const std::string start = "FILL -inf, M";
    REQUIRE(text.find(start) != std::string::npos);
    text.replace(text.find(start), start.size(), "FILL 0, M");
    for (std::uint64_t seed = 100; seed < 112; ++seed) {
      GraderOptions options;
      options.seed = seed;
      options.explain = false;
      INFO(id << ", seed " << seed);
      CHECK(grade_text(Grader(exercise, options), text).points == 0);
    }
  }
}

TEST_CASE("a blanket sheet has the letter and the formula that are right most often", "[limits]") {
  const auto question = [](AnswerKind kind, const std::string& answer, double points) {
    Question one;
    one.id = "q" + answer;
    one.kind = kind;
    one.answer = answer;
    one.points = points;
    one.choices = {"x", "y", "z"};
    one.variables = {"n"};
    return one;
  };
  QuestionTask task;
  CHECK(best_blanket_sheet(task).points == 0);
  task.questions = {
      question(AnswerKind::kChoice, "a", 1),    question(AnswerKind::kChoice, "b", 1),
      question(AnswerKind::kChoice, "b", 1),    question(AnswerKind::kFormula, "n", 1),
      question(AnswerKind::kFormula, "2*n", 3), question(AnswerKind::kFormula, "n + n", 1),
      question(AnswerKind::kNumber, "7", 2),    question(AnswerKind::kOpen, "…", 1)};
  const BlanketSheet sheet = best_blanket_sheet(task);
  CHECK(sheet.letter == "b");
  CHECK(sheet.formula == "2*n");
  CHECK(sheet.points == 2 + 4 + 1);
}

TEST_CASE("no blanket sheet gets more than two fifths of the points in any exercise of the course",
          "[limits]") {
  std::size_t sheets = 0;
  for (const ExerciseSource& source : builtin_exercises()) {
    const ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    if (read.exercise->kind != Kind::kQuestions) continue;
    ++sheets;
    INFO(source.id);
    CHECK(best_blanket_sheet(read.exercise->questions).points <= 0.4 * read.exercise->max_points());
  }
  CHECK(sheets > 10);
}

}  // namespace flashlab::test
