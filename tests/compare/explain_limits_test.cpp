// The limits at which a row's sentence says something else.
#include <stdexcept>

#include "compare/report/explain.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

std::string sentence_of(Row row) {
  row.steps.front().predicted = row.predicted;  // the longest kernel, and mostly the only one
  return explain(row, 132);
}

/// Predicted and measured in 1 ms, without counters.
Row plain_row() {
  Row row = synthetic_row();
  row.measured = measured_in(1);
  return row;
}

Row slow_row() {
  Row row = synthetic_row();
  row.measured = measured_in(2);
  return row;
}

}  // namespace

TEST_CASE("a time is as predicted up to a quarter off, in either direction") {
  Row row = plain_row();
  CHECK(sentence_of(row) == "as predicted; bound by products");
  row.predicted.overlap_ms = 0.75;
  CHECK_THAT(sentence_of(row), contains("as predicted"));
  row.predicted.overlap_ms = 1.25;
  CHECK_THAT(sentence_of(row), contains("as predicted"));
  row.predicted.overlap_ms = 0.74;
  CHECK_THAT(sentence_of(row),
             contains("1.4 times the predicted time (bound by products); no counter to tell why"));
  row.predicted.overlap_ms = 1.26;
  CHECK(sentence_of(row) ==
        "only 0.79 of the predicted time (bound by products); units overlapped more than "
        "predicted, by the roofline 0.600 ms");
}

TEST_CASE("from ten times on a factor has no decimals") {
  Row row = synthetic_row();
  row.measured = measured_in(9.5);
  CHECK_THAT(sentence_of(row), contains("9.5 times the predicted time"));
  row.measured = measured_in(16);
  CHECK_THAT(sentence_of(row), contains("16 times the predicted time"));
  row.predicted.overlap_ms = 0.5;
  row.measured = measured_in(5);
  CHECK_THAT(sentence_of(row), contains("10 times the predicted time"));
}

TEST_CASE("launches are named where most of the predicted time is theirs") {
  Row row = plain_row();
  row.predicted.launch_ms = 0.4;
  CHECK_THAT(sentence_of(row), contains("bound by products"));
  row.predicted.launch_ms = 0.5;
  CHECK(sentence_of(row) == "as predicted; bound by launches: 1 takes 50 % of the predicted time");
  row.steps.front().num_launches = 4;
  CHECK(sentence_of(row) == "as predicted; bound by launches: 4 take 50 % of the predicted time");
  row.measured.reset();
  row.predicted.overlap_ms = 4;
  row.predicted.launch_ms = 3;
  CHECK(sentence_of(row) == "predicted only; bound by launches: 4 take 75 % of the predicted time");
}

TEST_CASE("too few tiles are named below three quarters of the SMs") {
  Row row = plain_row();
  row.steps[0].num_blocks = 32;
  row.predicted.fill = 0.75;
  CHECK_THAT(sentence_of(row), contains("bound by products"));
  row.predicted.fill = 0.74;
  CHECK(sentence_of(row) ==
        "as predicted; too few tiles to fill the SMs: 32 blocks on 132; bound by products");
  row.measured.reset();
  CHECK(sentence_of(row) ==
        "predicted only; too few tiles to fill the SMs: 32 blocks on 132; bound by products");
}

TEST_CASE("what bounds a row is the slower of moving and computing") {
  Row row = plain_row();
  Prediction& p = row.predicted;
  const auto bound = [&](double dram, double sm, double products, double elementwise, double exp) {
    p.dram_ms = dram, p.sm_ms = sm, p.products_ms = products;
    p.elementwise_ms = elementwise, p.exp_ms = exp;
    return sentence_of(row);
  };
  CHECK_THAT(bound(1, 0.5, 0.5, 0.25, 0.25), contains("; bound by DRAM"));  // as long as computing
  CHECK_THAT(bound(0.5, 1, 0.5, 0.25, 0.25), contains("; bound by L2 to SM"));
  CHECK_THAT(bound(1, 1, 0.5, 0.25, 0.25), contains("; bound by DRAM"));
  CHECK_THAT(bound(0.9, 0.9, 0.5, 0.25, 0.25), contains("; bound by products"));
  CHECK_THAT(bound(0, 0, 0.5, 0, 0.25), contains("; bound by products"));  // half of them
  CHECK_THAT(bound(0, 0, 0.5, 0, 0.375),
             contains("; bound by products; exponentials take 0.75 of their time"));
}

TEST_CASE("L2's share is said from as many re-loads as arrays on, and from a half on") {
  Row row = plain_row();
  const auto with = [&](std::int64_t sm, std::int64_t dram) {
    row.measured->sm = row.work.sm = Traffic{sm, 0};  // as many as counted
    row.measured->dram = Traffic{dram, 0};            // the arrays have 100 MB
    return sentence_of(row);
  };
  CHECK_THAT(with(200'000'000, 100'000'000), contains("; L2 absorbed 100 % of the re-loads"));
  CHECK_THAT(with(199'000'000, 100'000'000), !contains("absorbed"));
  CHECK_THAT(with(300'000'000, 50'000'000), contains("; L2 absorbed 100 % of the re-loads"));
  CHECK_THAT(with(300'000'000, 200'000'000), contains("; L2 absorbed 50 % of the re-loads"));
  CHECK_THAT(with(300'000'000, 202'000'000), !contains("absorbed"));
  row.measured->dram.reset();
  CHECK_THAT(sentence_of(row), !contains("absorbed"));
}

TEST_CASE("bytes beyond a twentieth are said, as many more or fewer") {
  Row row = plain_row();
  row.work.sm = Traffic{1'000'000'000, 0};
  const auto with = [&](std::int64_t measured) {
    row.measured->sm = Traffic{measured, 0};
    return sentence_of(row);
  };
  CHECK_THAT(with(1'040'000'000), !contains("crossed"));
  CHECK_THAT(with(960'000'000), !contains("crossed"));
  CHECK_THAT(with(1'080'000'000), contains("; 8 % more bytes crossed to the SMs"));
  CHECK_THAT(with(920'000'000), contains("; 8 % fewer bytes crossed to the SMs"));
}

TEST_CASE("too many bytes are blamed where DRAM takes more than half of the time") {
  Row row = slow_row();
  row.measured->sm = row.work.sm;
  const auto with = [&](double dram_ms, std::int64_t dram) {
    row.predicted.dram_ms = dram_ms;
    row.measured->dram = Traffic{dram, 0};
    return sentence_of(row);
  };
  CHECK_THAT(with(0.51, 130'000'000), contains("; DRAM moved 1.3 times the bytes"));
  CHECK_THAT(with(0.5, 130'000'000), contains("; no counter to tell why"));
  CHECK_THAT(with(0.51, 125'000'000), contains("; no counter to tell why"));
  row.work.dram = {0, 0};
  CHECK_THAT(with(0.9, 130'000'000), contains("; no counter to tell why"));
}

TEST_CASE("the busiest unit is named, as saturated from 65 per cent on") {
  using Member = std::optional<double> compare::Measurement::*;
  const std::pair<Member, const char*> units[] = {
      {&compare::Measurement::issue_percent, "issue slots"},
      {&compare::Measurement::shared_percent, "shared memory"},
      {&compare::Measurement::tensor_percent, "the tensor cores"},
      {&compare::Measurement::exp_percent, "the special functions"}};
  for (const auto& [member, name] : units) {
    Row row = slow_row();
    for (const auto& [other, other_name] : units) *row.measured.*other = 10;
    *row.measured.*member = 65;
    CHECK(sentence_of(row) == "2.0 times the predicted time (bound by products); " +
                                  std::string(name) + " busy 65 % of the time");
    *row.measured.*member = 64;
    CHECK(sentence_of(row) ==
          "2.0 times the predicted time (bound by products); no unit is saturated, most of "
          "all " +
              std::string(name) + " busy 64 % of the time");
  }
  Row row = slow_row();
  row.measured->shared_percent = row.measured->exp_percent = 70;
  CHECK_THAT(sentence_of(row), contains("; shared memory busy 70 %"));  // the first of equal ones
}

TEST_CASE("L2 kept DRAM's traffic if less than half of it was seen") {
  Row row = synthetic_row();
  row.measured = measured_in(0.5);
  row.measured->dram = Traffic{50'000'000, 0};
  CHECK_THAT(sentence_of(row), contains("; units overlapped more than predicted"));
  row.measured->dram = Traffic{49'999'999, 0};
  CHECK_THAT(sentence_of(row), contains("; L2 kept what was counted as DRAM traffic"));
}

TEST_CASE("the longest step is the first of the longest") {
  Row row = synthetic_row();
  row.steps.assign(3, row.steps[0]);
  row.steps[1].predicted.overlap_ms = row.steps[2].predicted.overlap_ms = 2;
  CHECK(&longest_step(row) == &row.steps[1]);
  row.steps.clear();
  CHECK_THROWS_AS(longest_step(row), std::out_of_range);
}

}  // namespace flashlab::test
