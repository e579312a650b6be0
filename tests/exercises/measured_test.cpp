// Answers and figures that are looked up in files of measurements, as `flashlab compare` writes
// them.
#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/measurements.hpp"
#include "exercises/grader/prove/lint.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;
using namespace flashlab::test;

const Files kData = {{"gpu", R"({
  "calibration": {"sm_bytes_per_s": 8.25e12},
  "rows": [
    {"variant": "naive", "seqlen_q": 4096, "dtype": "bf16", "measured": {"median_ms": 6.0},
     "steps": [{"name": "naive_scores", "measured": {"median_ms": 2.5}},
               {"name": "naive_softmax", "measured": {"median_ms": 1.25}}]},
    {"variant": "flash2", "seqlen_q": 4096, "dtype": "bf16", "measured": {"median_ms": 0.4567},
     "work": {"sm": {"bytes_read": 3000000000, "bytes_written": 5000000}}},
    {"variant": "flash2", "seqlen_q": 8192, "dtype": "bf16", "measured": {"median_ms": null}}
  ]})"}};

const std::string kTime =
    R"(measured = { file = "gpu", where = { variant = "flash2", seqlen_q = 4096 },)"
    R"( value = "measured/median_ms" })";

/// A quiz with one question about a number; `rules` are lines of it, `top` of the file's beginning.
ExerciseSource quiz(const std::string& rules, const std::string& top = {},
                    const std::string& ask = "How long?") {
  ExerciseSource source;
  source.id = "quiz";
  source.files = {{"problem.md", "Read."},
                  {"hints.md", "## Concept\na\n## Place\nb\n## Operand\nc\n## Solution\nd\n"}};
  source.files["exercise.toml"] = "title = \"Quiz\"\nunavoidable = \"It asks.\"\n" + top +
                                  (top.empty() ? "" : "\n") + "[[question]]\nid = \"q\"\nask = '" +
                                  ask + "'\nkind = \"number\"\n" + rules + "\n";
  return source;
}

Exercise read_source(const ExerciseSource& source) {
  ReadResult result = read_exercise(source.id, source.files, {}, kData);
  INFO(format(result.errors, source.files));
  REQUIRE(result.exercise);
  return std::move(*result.exercise);
}

std::string answer(const std::string& rules) {
  return read_source(quiz(rules + "\nwithin = 2")).questions.questions.front().answer;
}

/// What lint says of the exercise.
std::string problems(const ExerciseSource& source) {
  std::string all;
  for (const LintProblem& problem : lint(source, {}, kData)) {
    all += problem.file + ": " + problem.what;
  }
  return all;
}

std::string where_problems(const std::string& where, const std::string& value = "seqlen_q") {
  return problems(quiz("within = 2\nmeasured = { file = \"gpu\", where = { " + where +
                       " }, value = \"" + value + "\" }"));
}

/// What is said about an answer; "right: …" with what is said to a right one.
std::string said_of_measured(const Exercise& exercise, const std::string& answer) {
  const Verdict verdict = grade_answers(exercise, {"quiz.txt", "q: " + answer + "\n"});
  return verdict.checks.front().passed ? "right: " + verdict.checks.front().message
                                       : verdict.findings.front().what;
}

}  // namespace

TEST_CASE("a measured answer is looked up and rounded to three digits", "[measured]") {
  CHECK(answer(kTime) == "0.457");
  CHECK(answer(R"(measured = { file = "gpu", where = { variant = "flash2", seqlen_q = 4096 },)"
               R"( value = "measured/median_ms", digits = 4 })") == "0.4567");
}

TEST_CASE("a measured answer may be a step's, a sum, a product and a quotient", "[measured]") {
  const std::string naive = R"(file = "gpu", where = { variant = "naive" }, value = )";
  const std::string flash2 = R"(where = { variant = "flash2", seqlen_q = 4096 }, value = )";
  CHECK(answer("measured = { " + naive + R"("steps/naive_softmax/measured/median_ms" })") ==
        "1.25");
  CHECK(answer("measured = { " + naive + R"("steps/0/measured/median_ms" })") == "2.5");
  CHECK(answer(R"(measured = { file = "gpu", )" + flash2 +
               R"(["work/sm/bytes_read", "work/sm/bytes_written"], factor = 1e-9, digits = 4 })") ==
        "3.005");
  CHECK(answer("measured = { " + naive + R"("measured/median_ms", over = { )" + flash2 +
               R"("measured/median_ms" } })") == "13.1");
  CHECK(answer("measured = { " + naive + R"("measured/median_ms", times = { )" + flash2 +
               R"("seqlen_q" } })") == "24600");
  CHECK(answer(R"(measured = { file = "gpu", value = "calibration/sm_bytes_per_s" })") ==
        "8.25e12");
}

TEST_CASE("numbers are shown with the digits asked for, and read back as they are", "[measured]") {
  CHECK(with_digits(0.45671, 3) == "0.457");
  CHECK(with_digits(12345, 3) == "12300");
  CHECK(with_digits(-2.996, 3) == "-3");
  CHECK(with_digits(1.0737e9, 3) == "1.07e9");
  CHECK(with_digits(0.000012345, 2) == "1.2e-5");
  CHECK(with_digits(0, 3) == "0");
}

TEST_CASE("an answer within the factor is right and shows what was measured", "[measured]") {
  const Exercise exercise = read_source(quiz(kTime + "\nwithin = 2\nbecause = \"So it is.\""));
  CHECK(said_of_measured(exercise, "0.457") == "right: gpu has 0.457; So it is.");
  CHECK_THAT(said_of_measured(exercise, "0.23"), contains("right"));
  CHECK_THAT(said_of_measured(exercise, "0.914"), contains("right"));
  CHECK(said_of_measured(exercise, "0.915") == "q: too large by more than a factor of 2");
  CHECK(said_of_measured(exercise, "0.22") == "q: too small by more than a factor of 2");
  CHECK_THAT(said_of_measured(exercise, "-0.457"), contains("the sign is wrong"));
  CHECK_THAT(said_of_measured(exercise, "0"), contains("0 is not right"));
  CHECK_THAT(answer_sheet(exercise.questions),
             contains("# A number; it may be off by a factor of 2."));
}

TEST_CASE("a measured answer takes a tolerance, mistakes and lint as any other", "[measured]") {
  const std::string rules = kTime + "\ntolerance = 0.1\n";
  const Exercise exercise = read_source(
      quiz(rules + R"(mistakes = [{ answer = "457", says = "That is in microseconds." }])"));
  CHECK_THAT(said_of_measured(exercise, "0.5"), contains("right"));
  CHECK(said_of_measured(exercise, "460") == "q: That is in microseconds.");
  CHECK(problems(quiz(rules)) == "");
  CHECK_THAT(problems(quiz(rules + R"(mistakes = [{ answer = "0.46", says = "No." }])")),
             contains("this is the right answer"));
}

TEST_CASE("a measured answer that cannot be found is refused with what there is", "[measured]") {
  CHECK_THAT(where_problems(R"(variant = "flash3")"),
             contains("'where' in measured: no row has variant = \"flash3\"") &&
                 contains("expected one of \"flash2\", \"naive\""));
  CHECK_THAT(where_problems("seqlen = 4096"),
             contains("no row has a 'seqlen'") && contains("did you mean seqlen_q?"));
  CHECK_THAT(where_problems(R"(variant = "naive", seqlen_q = 8192)"),
             contains("no row has all of"));
  CHECK_THAT(where_problems(R"(dtype = "bf16")"), contains("3 rows have dtype = \"bf16\""));
  CHECK_THAT(where_problems("seqlen_q = 8192", "measured/median_ms"),
             contains("'measured/median_ms' is null") && contains("expected a number"));
  CHECK_THAT(where_problems("seqlen_q = 8192", "measured/mean_ms"),
             contains("there is no 'measured/mean_ms'") && contains("did you mean median_ms?"));
  CHECK_THAT(problems(quiz("within = 2\nmeasured = { file = \"gpus\", value = \"rows\" }")),
             contains("there is no file 'gpus'") && contains("did you mean gpu?"));
}

TEST_CASE("without any file the message says where they are from", "[measured]") {
  const ReadResult result = read_exercise("quiz", quiz(kTime + "\nwithin = 2").files, {}, Files{});
  REQUIRE(result.errors.size() == 1);
  CHECK(result.errors[0].diagnostic.expected == "docs/results/gpu.json, which is not committed");
}

TEST_CASE("the place of a measured answer's error is the key to blame", "[measured]") {
  CHECK_THAT(where_problems(R"(variant = "flash3")"), contains("exercise.toml:8:36: error:"));
}

TEST_CASE("rules that do not go together are refused", "[measured]") {
  CHECK_THAT(problems(quiz(kTime)), contains("a measured number needs a tolerance or a factor"));
  CHECK_THAT(problems(quiz(kTime + "\nwithin = 2\nanswer = \"1\"")), contains("one of the two"));
  CHECK_THAT(problems(quiz("answer = \"1\"\nwithin = 2\ntolerance = 0.1")),
             contains("there is a tolerance, too"));
  CHECK_THAT(problems(quiz("answer = \"1\"\nwithin = 1")), contains("not above 1"));
  CHECK_THAT(problems(quiz("within = 2\nmeasured = { file = \"gpu\", value = \"rows\", sum = 1 }")),
             contains("unknown key 'sum'"));
  CHECK_THAT(problems(quiz("within = 2\nmeasured = { value = \"rows\" }")),
             contains("'file' is missing in measured"));
}

TEST_CASE("texts quote measured figures", "[measured]") {
  const std::string top =
      "[figures]\nrate = { file = \"gpu\", value = \"calibration/sm_bytes_per_s\", factor = 1e-12 "
      "}";
  ExerciseSource source =
      quiz("answer = \"{{rate}}\"\nbecause = \"{{rate}} it is.\"", top, "At {{rate}} TB/s?");
  source.files["problem.md"] = "L2 gives {{rate}} TB/s.";
  const Exercise exercise = read_source(source);
  const Question& question = exercise.questions.questions.front();
  CHECK(question.ask == "At 8.25 TB/s?");
  CHECK(question.answer == "8.25");
  CHECK(question.because == "8.25 it is.");
  CHECK(exercise.problem == "L2 gives 8.25 TB/s.");
  CHECK(problems(source) == "");
}

TEST_CASE("a figure that nobody knows and one that nobody uses are refused", "[measured]") {
  const std::string top =
      "[figures]\nrate = { file = \"gpu\", value = \"calibration/sm_bytes_per_s\" }";
  CHECK_THAT(problems(quiz("answer = \"1\"", top, "At {{rates}}?")),
             contains("there is no figure 'rates'") && contains("did you mean rate?"));
  CHECK_THAT(problems(quiz("answer = \"1\"", top)), contains("no text uses the figure 'rate'"));
  ExerciseSource source = quiz("answer = \"1\"", top, "At {{rate}}?");
  source.files["hints.md"] += "{{rate";
  CHECK_THAT(problems(source), contains("hints.md: ") && contains("there is no figure"));
}

TEST_CASE("a file of measurements that is cut off or has no rows is refused", "[measured]") {
  const ExerciseSource source = quiz(kTime + "\nwithin = 2");
  for (const std::string text : {"{\"rows\": [", "[]", "", "{}"}) {
    const ReadResult result = read_exercise("quiz", source.files, {}, {{"gpu", text}});
    INFO(text);
    CHECK_FALSE(result.exercise);
    CHECK_THAT(format(result.errors, source.files), contains("a file of flashlab compare"));
  }
}
