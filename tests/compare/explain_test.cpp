#include "compare/report/explain.hpp"

#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"

using namespace flashlab::compare;
using namespace flashlab::test;

namespace {

std::string said(Row row) {
  row.steps.front().predicted = row.predicted;  // the only kernel
  return explain(row, 132);
}

}  // namespace

TEST_CASE("a time near the prediction is as predicted, with its bound", "[compare]") {
  CHECK(said(measured_row(1.1)) ==
        "as predicted; bound by products; L2 absorbed 100 % of the re-loads");
}

TEST_CASE("exponentials beside half of the products' time are said", "[compare]") {
  CHECK_THAT(said(measured_row(1.0, 0.4)),
             contains("bound by products; exponentials take 0.67 of their time"));
  CHECK_THAT(said(measured_row(1.0, 0.3)), contains("bound by products; L2"));
}

TEST_CASE("what DRAM moved beyond each array once, L2 did not absorb", "[compare]") {
  Row row = measured_row(1.0);
  row.measured->dram->bytes_read += 90'000'000;  // a tenth of the 900 MB that are loaded again
  CHECK_THAT(said(row), contains("L2 absorbed 90 % of the re-loads"));
  row.measured->dram->bytes_read += 810'000'000;
  CHECK_THAT(said(row), !contains("absorbed"));
}

TEST_CASE("a slow call names the unit that is busy, or that none is", "[compare]") {
  Row row = measured_row(1.5);
  row.measured->issue_percent = 76;
  CHECK_THAT(said(row),
             contains("1.5 times the predicted time (bound by products); issue slots busy 76 %"));
  row.measured->issue_percent = 41;
  CHECK_THAT(said(row), contains("no unit is saturated, most of all the tensor cores busy 51 %"));
}

TEST_CASE("without counters nothing is said of why", "[compare]") {
  Row row = synthetic_row();
  row.measured = flashlab::test::measured_in(2);
  CHECK(said(row) == "2.0 times the predicted time (bound by products); no counter to tell why");
}

TEST_CASE("a call that memory bounds blames the bytes that were too many", "[compare]") {
  Row row = measured_row(2);
  row.predicted.dram_ms = 0.9;
  row.measured->dram->bytes_read = 160'000'000;
  CHECK_THAT(said(row), contains("DRAM moved 2.0 times the bytes"));
}

TEST_CASE("few blocks, many launches", "[compare]") {
  Row row = measured_row(1.0);
  row.predicted.fill = 0.24;
  row.steps.front().num_blocks = 32;
  CHECK_THAT(said(row),
             contains("too few tiles to fill the SMs: 32 blocks on 132; bound by products"));
  row.predicted.launch_ms = 0.7;
  row.steps.front().num_launches = 128;
  CHECK_THAT(said(row), contains("bound by launches: 128 take 70 % of the predicted time"));
}

TEST_CASE("of several kernels, the longest of those that the unit binds is named", "[compare]") {
  Row row = measured_row(1.0);
  row.steps.assign(3, row.steps.front());
  row.steps[1].name = "second";
  for (Step& step : row.steps) step.predicted.overlap_ms = step.predicted.products_ms = 0.25;
  row.steps[1].predicted.overlap_ms = row.steps[1].predicted.products_ms = 0.5;
  CHECK_THAT(explain(row, 132), contains("bound by products, most of all in second, 50 % of the "
                                         "time"));
  row.steps[1].predicted.overlap_ms = row.steps[1].predicted.products_ms = 4.5;
  CHECK_THAT(explain(row, 132), contains("bound by products; "));
  row.steps.clear();
  row.predicted.fill = 0.1;
  CHECK(explain(row, 132) == "as predicted; L2 absorbed 100 % of the re-loads");
}

TEST_CASE("bytes that were not counted are said, in either direction", "[compare]") {
  Row row = measured_row(1.0);
  row.measured->sm->bytes_read += 260'000'000;
  CHECK_THAT(said(row), contains("26 % more bytes crossed to the SMs than were counted"));
  row.measured->sm->bytes_read -= 400'000'000;
  CHECK_THAT(said(row), contains("14 % fewer bytes crossed to the SMs than were counted"));
}

TEST_CASE("a call faster than predicted was served by L2, or overlapped", "[compare]") {
  Row row = measured_row(0.5);
  CHECK_THAT(
      said(row),
      contains("only 0.50 of the predicted time (bound by products); units overlapped more"));
  row.measured->dram = Traffic{10'000'000, 10'000'000};
  CHECK_THAT(said(row), contains("L2 kept what was counted as DRAM traffic"));
}

TEST_CASE("what was not measured says so, and why", "[compare]") {
  CHECK(said(synthetic_row()) == "predicted only; bound by products");
  Row row = synthetic_row();
  row.failure = "does not fit: 550.0 GB needed";
  CHECK(said(row) == "does not fit: 550.0 GB needed");
}
