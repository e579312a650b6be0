// A right program beside what is proved, and beside the best of its own order.
#include <nlohmann/json.hpp>
#include <sstream>

#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/judge/order_cost.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "tests/exercises/class_folder.hpp"
#include "tests/exercises/proven_exercise.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;
using toy::Count;

const std::string kProductHead =
    ".isa matmul\n.operands pinned\n.registers 3\n.input a[2][2]\n.input b[2][2]\n"
    ".output c[2][2]\n";

/// Every element of c by itself, all factors loaded: 28 cycles, of which 16 are loads. Lines 7 to
/// 34.
std::string naive_product() {
  std::string text = kProductHead;
  for (const char* i : {"0", "1"}) {
    for (const char* j : {"0", "1"}) {
      const auto at = [](const char* array, const char* row, const char* column) {
        return std::string("LOAD ") + array + "[" + row + "][" + column + "], R";
      };
      text += at("a", i, "0") + "0\n" + at("b", "0", j) + "1\nMAC_Z R0, R1, R2\n" +
              at("a", i, "1") + "0\n" + at("b", "1", j) + "1\nMAC R0, R1, R2, R2\nSTORE R2, c[" +
              i + "][" + j + "]\n";
    }
  }
  return text;
}

/// In snake order, but with one load that repeats what R0 holds.
std::string snake_with_a_load_too_many() {
  std::string text = files_of("03_full_product").at("solution.toy");
  const std::string line = "LOAD b[1][1], R1 ";
  return text.insert(text.find(line), "LOAD a[0][1], R0\n");
}

Verdict graded_program(const Files& files, const std::string& id, const std::string& text) {
  return Grader(read_good(id, files)).grade("work.toy", text);
}

std::string score_words(const Verdict& verdict) {
  std::string all;
  for (const std::string& one : score_sentences(verdict)) all += one + "\n";
  return all;
}

const std::vector<Bounds> kSnakeIsBest{{20, 25, 25}};

std::vector<StudentResult> class_of(const Files& files, const std::string& id,
                                    const std::vector<std::string>& texts) {
  const Grader grader(read_good(id, files));
  std::vector<StudentResult> students;
  for (const std::string& text : texts) {
    students.push_back({"s" + std::to_string(students.size()),
                        std::make_shared<const Verdict>(grade_text(grader, text)),
                        {}});
  }
  return students;
}

}  // namespace

TEST_CASE("who has the proven best is told so", "[score]") {
  const Files files = with_proof("03_full_product", kSnakeIsBest);
  const Verdict verdict = graded_program(files, "03_full_product", files.at("solution.toy"));
  REQUIRE(verdict.scores.size() == 1);
  CHECK(verdict.scores[0].is_best());
  CHECK(verdict.scores[0].proof->program.empty());
  CHECK(score_words(verdict) == "25 cycles: proved to be the best there is.\n");
  CHECK(distance_of(verdict.scores[0])->text() == "0");
}

TEST_CASE("what a program loses is divided between its loads and its order", "[score]") {
  const Files files = with_proof("03_full_product", kSnakeIsBest);
  const Verdict naive = graded_program(files, "03_full_product", naive_product());
  REQUIRE(naive.passed());
  REQUIRE(naive.scores.size() == 1);
  CHECK(naive.scores[0].cycles == 28);
  REQUIRE(naive.scores[0].order);
  CHECK(naive.scores[0].order->cycles == 28);  // each factor's register is needed at once
  CHECK(score_words(naive) ==
        "Your order of operations allows 28 cycles: 3 cycles lie in the order itself.\n");
  const Verdict snake = graded_program(files, "03_full_product", snake_with_a_load_too_many());
  CHECK(score_words(snake) ==
        "Your order of operations allows 25 cycles: 1 cycle lies in the placement of loads.\n");
}

TEST_CASE("unused results are told apart from loads", "[score]") {
  const Files files = with_proof("01_dot", {{3, 4, 4}, {6, 7, 7}, {15, 16, 16}, {48, 49, 49}});
  std::string text = files.at("solution.toy");
  const Verdict clean = graded_program(files, "01_dot", text);
  REQUIRE(clean.scores.size() == 4);
  CHECK(clean.scores.back().is_best());
  text.insert(text.find("STORE"), "MAC_Z R0, R1, R0\n");
  const Verdict wasteful = graded_program(files, "01_dot", text);
  REQUIRE(wasteful.passed());
  CHECK(wasteful.scores.back().order->unused_cycles == 1);
  CHECK_THAT(score_words(wasteful),
             contains("allows 49 cycles at n = 16: 1 cycle lies in results that nothing needs"));
}

TEST_CASE("sentences are about the largest size searched and the one that is counted", "[score]") {
  const Files files = with_proof("01_dot", {{3, 4, 4}, {6, 6, 8}, {15, 0, 0}, {48, 0, 0}});
  std::string text = files.at("solution.toy");
  CHECK_THAT(score_words(graded_program(files, "01_dot", text)),
             !contains("n = 1:") && contains("allows 7 cycles at n = 2: at most 1 cycle lies in"));
  text.insert(text.find("STORE"), "MAC_Z R0, R1, R0\n");
  CHECK_THAT(score_words(graded_program(files, "01_dot", text)),
             !contains("n = 1:") && contains("n = 2:") && contains("n = 16:"));
}

TEST_CASE("copies are spoken of beside a proof, or beside something worse", "[score]") {
  const std::string id = "08_online_softmax";
  const Files files = files_of(id);
  const Verdict verdict = graded_program(files, id, files.at("solution.toy"));
  REQUIRE(verdict.scores.back().order);
  CHECK(verdict.scores.back().order->copy_cycles > 0);
  CHECK(score_words(verdict) == "");
  const Files proved = with_proof(id, {{4, 4, 4}, {9, 9, 9}, {12, 0, 0}, {25, 0, 0}, {81, 0, 0}});
  CHECK_THAT(score_words(graded_program(proved, id, files.at("solution.toy"))),
             contains("in copies (a program without loops needs none)"));
}

TEST_CASE("bounds are called bounds, and nothing in them is called the best", "[score]") {
  const Files files = with_proof("03_full_product", {{20, 22, 26}});
  for (const std::string& text : {naive_product(), files.at("solution.toy")}) {
    const Verdict verdict = graded_program(files, "03_full_product", text);
    CHECK_FALSE(verdict.scores[0].is_best());
    CHECK_THAT(score_words(verdict), !contains("best") && !contains("optimal"));
    CHECK(proven_text(verdict.scores[0]) == "22 to 26");
  }
  const Verdict naive = graded_program(files, "03_full_product", naive_product());
  CHECK_THAT(score_words(naive), contains("between 2 and 6 cycles lie in the order itself"));
  CHECK(distance_of(naive.scores[0])->text() == "2 to 6");
  const Verdict snake = graded_program(files, "03_full_product", files.at("solution.toy"));
  CHECK_THAT(score_words(snake), contains("at most 3 cycles lie in the order itself"));
}

TEST_CASE("a program below the proof's bounds is not explained away", "[score]") {
  const Files files = with_proof("03_full_product", {{20, 26, 26}});
  const Verdict verdict = graded_program(files, "03_full_product", files.at("solution.toy"));
  CHECK_FALSE(verdict.scores[0].is_best());
  CHECK_FALSE(distance_of(verdict.scores[0]));
  CHECK_THAT(score_words(verdict),
             contains("25 cycles: fewer than the 26 of the proof, which is about these programs: "
                      "sums in any order of their terms. Please show yours to your teacher."));
}

TEST_CASE("without a proof the order's own best is still known", "[score]") {
  const Files files = files_of("03_full_product");
  const Verdict verdict = graded_program(files, "03_full_product", snake_with_a_load_too_many());
  REQUIRE(verdict.scores.size() == 1);
  CHECK_FALSE(verdict.scores[0].proof);
  CHECK(score_words(verdict) ==
        "Your order of operations allows 25 cycles: 1 cycle lies in the placement of loads.\n");
  CHECK(score_words(graded_program(files, "03_full_product", files.at("solution.toy"))) == "");
}

TEST_CASE("sizes that were not searched are scored only where costs are counted", "[score]") {
  const Files files = with_proof("01_dot", {{3, 4, 4}, {6, 0, 0}, {15, 0, 0}, {48, 0, 0}});
  const Verdict verdict = graded_program(files, "01_dot", files.at("solution.toy"));
  REQUIRE(verdict.scores.size() == 2);
  CHECK(verdict.scores[0].size == Size{{"n", 1}});
  CHECK(verdict.scores[0].is_best());
  CHECK(verdict.scores[1].size == Size{{"n", 16}});
  CHECK_FALSE(verdict.scores[1].is_searched());
  CHECK(proven_text(verdict.scores[1]).empty());
}

TEST_CASE("a line's loads are labelled, with what could have saved them", "[score]") {
  const Files files = files_of("03_full_product");
  const Verdict verdict = graded_program(files, "03_full_product", snake_with_a_load_too_many());
  const auto avoidable = [](const LoadLine& line) { return line.avoidable > 0; };
  const auto found = std::find_if(verdict.loads.begin(), verdict.loads.end(), avoidable);
  REQUIRE(found != verdict.loads.end());
  CHECK(found->line == 18);
  CHECK(found->why == "a[0][1] is in R0 already");
  CHECK(loads_text(verdict) ==
        "8 compulsory (the first of each value), 5 forced (by the order of operations), "
        "1 avoidable");
}

TEST_CASE("an overwritten value is named with the line that overwrote it", "[score]") {
  const Files files = files_of("05_inner_six_registers");
  std::string text = files.at("solution.toy");
  const std::string last =
      text.substr(text.find("LOAD"), text.find('\n', text.find("LOAD")) - text.find("LOAD"));
  text.insert(text.find("LOAD"), last + "\nLOAD b[1][1]" + last.substr(last.find(", R")) + "\n");
  const Verdict verdict = graded_program(files, "05_inner_six_registers", text);
  REQUIRE(verdict.passed());
  CHECK(avoidable_loads(verdict) == 2);
  CHECK_THAT(score_words(verdict), contains("2 cycles lie in the placement of loads"));
}

TEST_CASE("labels of loads add up to the counter for every solution of the course", "[score]") {
  int analysed = 0;
  for (const ExerciseSource& source : builtin_exercises()) {
    const auto exercise = read_good(source.id, source.files);
    if (exercise->kind != Kind::kProgram) continue;
    if (!exercise->program.counted.ranges.empty()) continue;  // too large to unroll
    INFO(source.id);
    const Verdict verdict = Grader(exercise).grade("s.toy", source.files.at("solution.toy"));
    REQUIRE(verdict.passed());
    REQUIRE_FALSE(verdict.scores.empty());
    const SizeScore& score = verdict.scores.back();
    CHECK(score.order.has_value() == verdict.order_unknown.empty());
    CHECK(score.size == verdict.size);
    if (!score.order) continue;
    ++analysed;
    Count all;
    for (const LoadLine& line : verdict.loads) {
      all += line.compulsory + line.forced + line.avoidable;
      CHECK(line.why.empty() == (line.avoidable == 0));
    }
    CHECK(all == score.loads);
    CHECK(score.order->cycles + score.order->copy_cycles + score.order->unused_cycles <=
          score.cycles);
  }
  CHECK(analysed >= 12);
}

TEST_CASE("a wrong program has no score", "[score]") {
  const Files files = with_proof("03_full_product", kSnakeIsBest);
  const Verdict verdict =
      graded_program(files, "03_full_product", files.at("wrong/stored_in_the_wrong_cell.toy"));
  CHECK(verdict.scores.empty());
  CHECK(verdict.loads.empty());
  CHECK(score_words(verdict).empty());
}

TEST_CASE("every report has the distance to the proven best, and none the program", "[score]") {
  const std::string id = "03_full_product";
  const Files files = with_proof(id, kSnakeIsBest);
  const ClassReport report = make_class_report(
      *read_good(id, files),
      class_of(files, id,
               {files.at("solution.toy"), naive_product(), snake_with_a_load_too_many(), "; no"}),
      {});
  CHECK(report.with_proven_best() == 1);
  CHECK_FALSE(report.proof_histogram);

  const std::string text = written(write_json, report);
  const nlohmann::json all = nlohmann::json::parse(text);
  CHECK(all["summary"]["proof"]["at_most_cycles"] == 25);
  CHECK(all["summary"]["proof"]["students_with_the_best"] == 1);
  CHECK(all["summary"]["histograms"][0]["marks"].back()["name"] == "proven best");
  CHECK(all["students"][0]["scores"][0]["best"] == true);
  CHECK(all["students"][1]["scores"][0]["order"]["cycles"] == 28);
  CHECK(all["students"][2]["scores"][0]["proof"]["verdict"] == "optimal");
  CHECK(all["students"][2]["load_lines"].size() > 3);
  CHECK(all["students"][3]["scores"].empty());

  const std::string csv = written(write_csv, report);
  CHECK_THAT(csv, contains("\"order_cycles\",\"avoidable_loads\",\"cycles_in_proof\","
                           "\"above_best_at_least\",\"above_best_at_most\",\"line\""));
  CHECK_THAT(csv, contains("\"s0\",\"full\",10,10,25,13,25,0,25,0,0,,\"\",\r\n"));
  CHECK_THAT(csv, contains(",28,16,28,0,28,3,3,"));
  CHECK_THAT(csv, contains("\"s3\",\"rejected\",0,10,,,,,,,,"));

  const std::string junit = written(write_junit, report);
  CHECK_THAT(junit, contains("<property name=\"above_proven_best\" value=\"3\"/>"));
  CHECK_THAT(junit, contains("<system-out>25 cycles: proved to be the best there is.\n"));

  const std::string html = written(write_html, report);
  CHECK_THAT(html, contains("1 with the proven best, 25 cycles"));
  CHECK_THAT(html, contains("title=\"cycles above the proven best\">above best</th>"));
  CHECK_THAT(html, contains("<td class=\"number\" data-value=\"0\"><span class=\"good\">✓ 0"));
  CHECK_THAT(html, contains("proven best"));

  std::ostringstream gradescope;
  write_gradescope(gradescope, report.students[2], {false});
  CHECK_THAT(gradescope.str(), contains("1 cycle lies in the placement of loads") &&
                                   contains("line 18: 1 avoidable load; a[0][1] is in R0 already"));
  CHECK_THAT(gradescope.str(), contains("cycles: 26 (full marks at 25)"));
  for (const std::string& one : {text, csv, junit, html, gradescope.str()}) {
    CHECK_THAT(one, !contains("SPOILER"));
  }
}

TEST_CASE("a proof at a smaller size has a histogram of its own", "[score]") {
  const Files files = with_proof("01_dot", {{3, 3, 5}, {6, 6, 8}, {15, 0, 0}, {48, 0, 0}});
  const ClassReport report = make_class_report(
      *read_good("01_dot", files), class_of(files, "01_dot", {files.at("solution.toy")}), {});
  REQUIRE(report.proof);
  CHECK(report.proof->size == Size{{"n", 2}});
  REQUIRE(report.proof_histogram);
  CHECK(report.proof_histogram->size == "n = 2");
  CHECK(report.proof_histogram->marks.back().name == "lower bound");
  CHECK_THAT(written(write_html, report), contains("the best is between 6 and 8 cycles at n = 2") &&
                                              contains("cycles at n = 2"));
  CHECK_THAT(written(write_json, report), !contains("optimal"));
}

TEST_CASE("a class without a proof is reported as before, but for its orders", "[score]") {
  const Files files = files_of("01_dot");
  const ClassReport report = make_class_report(
      *read_good("01_dot", files), class_of(files, "01_dot", {files.at("solution.toy")}), {});
  CHECK_FALSE(report.proof);
  CHECK_THAT(written(write_html, report), !contains("proven"));
  CHECK_THAT(written(write_csv, report),
             contains(",\"order_cycles\",\"avoidable_loads\",\"line\","));
}

}  // namespace flashlab::test
