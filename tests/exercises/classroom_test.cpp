// A class, graded: isolation, order, pseudonyms, histograms, best costs.
#include "exercises/grader/grade/classroom.hpp"

#include <set>

#include "exercises/grader/report/histogram.hpp"
#include "exercises/grader/report/pseudonyms.hpp"
#include "exercises/grader/report/reports.hpp"
#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

/// A verdict on a program of this many cycles, as an exercise with full marks at 50 would give it.
StudentResult with_cycles_of_50(const std::string& name, const toy::Count& cycles) {
  Verdict verdict;
  verdict.outcome = cycles <= 50 ? Outcome::kFull : Outcome::kCostly;
  verdict.costs = {{"cycles", cycles, 50, 48, 100}};
  verdict.size = {{"n", 4}};
  return {name, std::make_shared<const Verdict>(verdict), {}};
}

}  // namespace

TEST_CASE("every student of a class gets a verdict whatever the others handed in") {
  const ClassFolderOnDisk folder;
  folder.write("anna.toy", dot_solution());
  folder.write("bert.toy", "no program");
  folder.write("cleo.toy", dot_costly());
  folder.write("dora.toy", dot_mistake());
  std::filesystem::create_symlink("anna.toy", folder.path("emil.toy"));
  const Grader grader(dot_product());
  const auto results = grade_class(grader, list_class(folder.path()).students, {2, {}});
  REQUIRE(results.size() == 5);
  const std::map<std::string, Outcome> expected{{"anna", Outcome::kFull},
                                                {"bert", Outcome::kRejected},
                                                {"cleo", Outcome::kCostly},
                                                {"dora", Outcome::kWrong},
                                                {"emil", Outcome::kUnreadable}};
  for (const auto& [name, outcome] : expected) {
    CAPTURE(name);
    const auto& verdict = *result_of(results, name).verdict;
    CHECK(verdict.outcome == outcome);
    CHECK(verdict.max_points == 10);
  }
}

TEST_CASE("equal submissions share a verdict, in which neither's name stands") {
  const ClassFolderOnDisk folder;
  folder.write("anna.toy", "nonsense");
  folder.write("bert.toy", "nonsense");
  const Grader grader(dot_product());
  const auto results = grade_class(grader, list_class(folder.path()).students, {1, {}});
  CHECK(results[0].verdict == results[1].verdict);
  for (const Finding& finding : results[0].verdict->findings) {
    for (const std::string& line : finding_lines(finding)) {
      CHECK_THAT(line, !contains("anna") && !contains("bert"));
    }
  }
}

TEST_CASE("progress ends at the number of students") {
  const ClassFolderOnDisk folder;
  for (int i = 0; i < 20; ++i) folder.write(std::to_string(i) + ".toy", dot_solution());
  std::size_t last = 0;
  const Grader grader(dot_product());
  grade_class(grader, list_class(folder.path()).students, {3, [&](std::size_t done) {
                                                             CHECK(done >= last);
                                                             last = done;
                                                           }});
  CHECK(last == 20);
}

TEST_CASE("an invisible character is reported with its place and changes no mark") {
  const Grader grader(dot_product());
  const Verdict verdict = grade_text(grader, dot_solution() + "; a \x1b[31m b \x1b[0m\n");
  CHECK(verdict.outcome == Outcome::kFull);
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].line == 18);
  CHECK_THAT(verdict.findings[0].what, contains("column 5") && contains("\\x1b") && contains("2"));
}

TEST_CASE("a caret stays below its place in a line with tabs") {
  const Grader grader(dot_product());
  const Verdict verdict = grade_text(grader, "\t?\n");
  REQUIRE(verdict.findings.at(0).details.size() >= 2);
  const auto& details = verdict.findings[0].details;
  CHECK(details[0].find('?') == details[1].find('^'));
  CHECK_THAT(details[0], contains("    ?"));
}

TEST_CASE("pseudonyms are stable, differ by key and never meet") {
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back("student" + std::to_string(i));
  const auto first = pseudonyms(names, "7");
  CHECK(std::set<std::string>(first.begin(), first.end()).size() == names.size());
  CHECK(pseudonyms({"student0"}, "7")[0] == first[0]);
  CHECK(pseudonyms({"student0"}, "8")[0] != first[0]);
}

TEST_CASE("renamed students stand in an order that tells nothing of their names") {
  std::vector<StudentResult> students;
  for (int i = 0; i < 50; ++i)
    students.push_back(with_cycles_of_50(std::to_string(100 + i), 50 + i));
  std::vector<StudentResult> numbered = students;
  rename_students(students, Names::kPseudonym, "1");
  CHECK(std::is_sorted(students.begin(), students.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  rename_students(numbered, Names::kNone, "1");
  CHECK(numbered[0].name == "submission 1");
  CHECK(numbered[49].name == "submission 50");
  CHECK_FALSE(std::is_sorted(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) {
    return a.verdict->costs[0].value < b.verdict->costs[0].value;
  }));
}

TEST_CASE("a histogram counts every right result once and marks what is worth knowing") {
  std::vector<StudentResult> students{with_cycles_of_50("a", 50), with_cycles_of_50("b", 53),
                                      with_cycles_of_50("c", 53), with_cycles_of_50("d", 1000)};
  Verdict wrong;
  wrong.outcome = Outcome::kWrong;
  students.push_back({"e", std::make_shared<const Verdict>(wrong), {}});
  const auto all = class_histograms(students, {{"cycles", 45}});
  REQUIRE(all.size() == 1);
  const Histogram& histogram = all[0];
  CHECK(histogram.key == "cycles");
  CHECK(histogram.size == "n = 4");
  CHECK(histogram.bins.size() <= kMostBins + 2);
  std::size_t counted = 0;
  for (const HistogramBin& bin : histogram.bins) counted += bin.students;
  CHECK(counted == 4);
  const HistogramBin& last = histogram.bins.back();
  CHECK(last.open);
  CHECK(last.students == 1);
  REQUIRE(histogram.marks.size() == 4);
  CHECK(histogram.marks[0].value == 50);
  CHECK(histogram.marks[1].value == 48);
  CHECK(histogram.marks[2].value == 50);
  CHECK(histogram.marks[3].value == 45);
}

TEST_CASE("bins of close values are one wide") {
  const auto all = class_histograms({with_cycles_of_50("a", 50), with_cycles_of_50("b", 53)}, {});
  REQUIRE(all[0].bins.size() == 6);  // 48, the solution's, to 53
  CHECK(all[0].bins[2].label() == "50");
  CHECK(all[0].bins[2].students == 1);
}

TEST_CASE("the best costs are the least of right results, old and new") {
  BestCosts best;
  const Size size{{"n", 4}};
  const Costs mine = best_of({with_cycles_of_50("a", 60), with_cycles_of_50("b", 55)});
  CHECK(best.merge("x", size, mine).at("cycles") == 55);
  CHECK(best.merge("x", size, {{"cycles", 58}}).at("cycles") == 55);
  CHECK(best.merge("x", {{"n", 8}}, {{"cycles", 90}}).at("cycles") == 90);
  const auto again = parse_best_costs(to_json(best));
  REQUIRE(again);
  CHECK(again->by_exercise == best.by_exercise);
}

TEST_CASE("a damaged file of best costs says what is wrong with it") {
  const std::map<std::string, std::string> cases{
      {"{\"format\": \"flashlab-best\", \"ver", "not JSON from byte"},
      {"[]", "wrong type"},
      {R"({"format": "x", "version": 1, "exercises": {}})", "another format"},
      {R"({"format": "flashlab-best", "version": 2, "exercises": {}})", "version 2"},
      {R"({"format": "flashlab-best", "version": 1})", "missing"},
      {R"({"format":"flashlab-best","version":1,"exercises":{"a":{"n = 1":{"loads":"-1"}}}})",
       "'-1' is not a count"}};
  for (const auto& [text, says] : cases) {
    CAPTURE(text);
    const auto parsed = parse_best_costs(text);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.diagnostics[0].what, contains(says));
  }
}

}  // namespace flashlab::test
