// Bins of a class's costs at the widths and limits where they change.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "exercises/grader/report/histogram.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace flashlab::exercises;

/// The histogram of cycles of a class, where full marks are for `full` cycles.
Histogram cycles_histogram(const std::vector<long>& values, long full, long solution = 0) {
  std::vector<StudentResult> students;
  for (const long value : values) {
    Verdict verdict;
    verdict.outcome = Outcome::kFull;
    CostLine line;
    line.key = "cycles";
    line.value = value;
    line.full = full;
    line.solution = solution;
    verdict.costs = {line};
    students.push_back({"s", std::make_shared<const Verdict>(verdict), {}});
  }
  auto all = class_histograms(students, {});
  REQUIRE(all.size() == 1);
  return std::move(all[0]);
}

}  // namespace

TEST_CASE("sixteen bins of 1, 2, 5 times a power of ten cover a range", "[histogram]") {
  struct Width {
    long range, width;
  };
  for (const Width& one : {Width{1, 1}, Width{16, 1}, Width{17, 2}, Width{32, 2}, Width{33, 5},
                           Width{80, 5}, Width{81, 10}, Width{160, 10}, Width{161, 20},
                           Width{320, 20}, Width{321, 50}, Width{800, 50}, Width{801, 100}}) {
    CAPTURE(one.range);
    const Histogram histogram = cycles_histogram({1000, 1000 + one.range - 1}, 1000);
    const HistogramBin& first = histogram.bins.front();
    CHECK(first.low == 1000);
    CHECK(toy::Count(first.high - first.low + 1) == one.width);
    CHECK(histogram.bins.size() == static_cast<std::size_t>((one.range - 1) / one.width + 1));
    CHECK_FALSE(histogram.bins.back().open);
  }
}

TEST_CASE("wide bins begin at round numbers, narrow ones at the least value", "[histogram]") {
  CHECK(cycles_histogram({51, 66}, 51).bins.front().low == 51);
  const Histogram wide = cycles_histogram({51, 67}, 51);
  CHECK(wide.bins.front().low == 50);
  CHECK(wide.bins.back().high == 67);
  CHECK(wide.bins.size() == 9);
}

TEST_CASE("what is beyond twice the usual has an open bin", "[histogram]") {
  const Histogram closed = cycles_histogram({10, 10, 20}, 10);
  CHECK(closed.bins.size() == 11);
  CHECK_FALSE(closed.bins.back().open);
  const Histogram open = cycles_histogram({10, 10, 21}, 10);
  REQUIRE(open.bins.size() == 12);
  CHECK(open.bins.back().open);
  CHECK(open.bins.back().label() == "21 or more");
  CHECK(open.bins.back().students == 1);
  CHECK(open.bins.front().students == 2);
  CHECK(open.most_students() == 2);
  const Histogram marked = cycles_histogram({10, 10, 21}, 11);  // a mark moves the limit to 22
  CHECK_FALSE(marked.bins.back().open);
  const Histogram rounded = cycles_histogram({100, 100, 201}, 100);  // the last bin: 200 to 209
  CHECK_FALSE(rounded.bins.back().open);
  CHECK(rounded.bins.back().label() == "200-209");
  CHECK(rounded.bins.back().students == 1);
}

TEST_CASE("marks stand in the bins that hold them", "[histogram]") {
  const Histogram histogram = cycles_histogram({51, 67}, 52, 53);
  using Names = std::vector<std::string>;
  REQUIRE(histogram.bins.size() == 9);
  CHECK(histogram.marks_in(histogram.bins[0]) == Names{"best here"});  // 50-51
  CHECK(histogram.marks_in(histogram.bins[1]) == Names{"full marks", "solution"});
  CHECK(histogram.marks_in(histogram.bins[2]).empty());
  HistogramBin open{53, 53, true, 0};
  CHECK(histogram.marks_in(open) == Names{"solution"});
  open.low = 54;
  CHECK(histogram.marks_in(open).empty());
  CHECK(cycles_histogram({51}, 52).marks.size() == 2);  // no solution, no mark
}

TEST_CASE("bins and histograms are named by their ends and their size", "[histogram]") {
  CHECK(HistogramBin{12, 12, false, 0}.label() == "12");
  CHECK(HistogramBin{12, 15, false, 0}.label() == "12-15");
  CHECK(HistogramBin{40, 40, true, 0}.label() == "40 or more");
  Histogram histogram;
  histogram.key = "cycles";
  CHECK(histogram.title() == "cycles");
  CHECK(histogram.most_students() == 0);
  histogram.size = "n = 16";
  CHECK(histogram.title() == "cycles at n = 16");
}

TEST_CASE("only right results with costs are in a histogram", "[histogram]") {
  CHECK(class_histograms({}, {}).empty());
  Verdict verdict;
  verdict.outcome = Outcome::kFull;  // right, but nothing was counted
  CHECK(class_histograms({{"a", std::make_shared<const Verdict>(verdict), {}}}, {}).empty());
  CostLine line;
  line.key = "loads";
  line.value = line.full = 3;
  verdict.costs = {line};
  for (const Outcome outcome :
       {Outcome::kFull, Outcome::kCostly, Outcome::kPartial, Outcome::kTooCostly, Outcome::kWrong,
        Outcome::kRejected, Outcome::kCrashed}) {
    verdict.outcome = outcome;
    const bool right = outcome == Outcome::kFull || outcome == Outcome::kCostly;
    CHECK(class_histograms({{"a", std::make_shared<const Verdict>(verdict), {}}}, {}).size() ==
          (right ? 1 : 0));
  }
}

TEST_CASE("a proof's histogram has the best in the class and what is proved", "[histogram]") {
  ProvenSize proof;
  proof.size = {{"n", 4}};
  proof.verdict = ProofVerdict::kOptimal;
  proof.at_least_cycles = 7;
  Verdict verdict;
  verdict.outcome = Outcome::kFull;
  SizeScore score;
  score.size = proof.size;
  score.cycles = 9;
  verdict.scores = {score};
  const std::vector<StudentResult> students{{"a", std::make_shared<const Verdict>(verdict), {}}};
  const auto best = proof_histogram(students, proof);
  REQUIRE(best);
  CHECK(best->title() == "cycles at n = 4");
  REQUIRE(best->marks.size() == 2);
  CHECK((best->marks[0].name == "best here" && best->marks[0].value == 9));
  CHECK((best->marks[1].name == "proven best" && best->marks[1].value == 7));
  CHECK(best->bins.size() == 3);
  proof.verdict = ProofVerdict::kBounded;
  CHECK(proof_histogram(students, proof)->marks[1].name == "lower bound");
  proof.size = {{"n", 5}};
  CHECK_FALSE(proof_histogram(students, proof));
  verdict.outcome = Outcome::kWrong;
  proof.size = {{"n", 4}};
  CHECK_FALSE(proof_histogram({{"a", std::make_shared<const Verdict>(verdict), {}}}, proof));
}

TEST_CASE("a line's words stand between blanks and commas, before the comment", "[submission]") {
  using Words = std::vector<std::string>;
  CHECK(words("  LOAD x[i],\tR0 ; next") == Words{"LOAD", "x[i]", "R0"});
  CHECK(words("end#x") == Words{"end"});
  CHECK(words("a") == Words{"a"});
  CHECK(words("a , ,b ") == Words{"a", "b"});
  CHECK(words("").empty());
  CHECK(words(" \t, ").empty());
  CHECK(words("; LOAD").empty());
}

TEST_CASE("the next statement is neither a declaration nor a comment", "[submission]") {
  const toy::SourceText source("p",
                               "; title\n.isa matmul\nLOAD x[0], R0\n\nfor i in 0..n\n"
                               ".name R0 = m\nend\n; last\n");
  struct Step {
    std::uint32_t from;
    int step;
    std::uint32_t to;
  };
  for (const Step& one :
       {Step{1, 1, 3}, Step{2, 1, 3}, Step{3, 1, 5}, Step{5, 1, 7}, Step{6, 1, 7}, Step{7, 1, 0},
        Step{8, 1, 0}, Step{8, -1, 7}, Step{7, -1, 5}, Step{5, -1, 3}, Step{4, -1, 3},
        Step{3, -1, 0}, Step{1, -1, 0}, Step{9, -1, 7}}) {
    CAPTURE(one.from, one.step);
    CHECK(next_statement(source, one.from, one.step) == one.to);
  }
}

}  // namespace flashlab::test
