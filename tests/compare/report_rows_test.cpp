// The lines of a report's tables, letter by letter, and the counts above them.
#include "compare/report/report_rows.hpp"

#include <sstream>
#include <string>

#include "compare/report/peers.hpp"
#include "compare/report/report_html.hpp"
#include "compare/rows/sweep.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"
#include "tests/compare/xml_check.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

Row told_row() {
  Row row = measured_row(1.125);
  row.measured->least_ms = 1.1;
  row.measured->most_ms = 1.3;
  row.sentence = "as predicted";
  return row;
}

std::string rows_html(const Row& row) {
  Comparison comparison;
  comparison.rows = {row};
  std::ostringstream out;
  write_rows(out, comparison);
  return out.str();
}

std::string report_html(const std::vector<Row>& rows, const MachineModel& used = {}) {
  Comparison comparison;
  comparison.rows = rows;
  std::ostringstream out;
  write_report(out, comparison, {{}, used, {}});
  return out.str();
}

std::vector<Row> rows_with_reasons(int count) {
  std::vector<Row> rows(static_cast<std::size_t>(count), synthetic_row());
  for (int k = 0; k < count; ++k)
    rows[static_cast<std::size_t>(k)].failure = std::string(1, static_cast<char>('a' + k));
  return rows;
}

constexpr const char* kPeerFile = R"({"rows":[{"direction":"forward","dtype":"bf16","mask":"none",
"shape":[4,8,4096,64],"entries":{"ours":{"side":"ours","median_ms":1},
"theirs":{"side":"theirs","median_ms":2},"failed":{"side":"theirs"}}}]})";

}  // namespace

TEST_CASE("a row's line has its bytes, times and ratios, with a sign where they are close") {
  CHECK_THAT(
      rows_html(told_row()),
      contains("<tr><th scope=\"row\">batch 4, 8 heads, N 4096, d 64<small>bf16, "
               "flash2_mma_sm80</small><td>1 GB<td>1 GB<td><span class=\"good\">1 "
               "✓</span><td>1 ms<small>roofline 600 µs</small><td>1.12 ms<small>1.1 ms … 1.3 "
               "ms</small><td><span class=\"good\">0.889 ✓</span><td>as predicted\n"));
  Row row = told_row();
  row.measured->sm->bytes_read += 1'000'000'000;
  row.measured->median_ms = 2;
  row.measured->least_ms.reset();
  row.pallas_ms = 0.5;
  row.failure = "x < y";
  CHECK_THAT(rows_html(row),
             contains("<td>1 GB<td>2 GB<td>0.5<td>1 ms<small>roofline 600 µs, Pallas post 500 "
                      "µs</small><td>2 ms<td>0.5<td>as predicted<span class=\"bad\">✗ x &lt; "
                      "y</span>\n"));
  row.measured.reset();
  row.work.sm.reset();
  CHECK_THAT(rows_html(row), contains("</small><td><td><td><td>1 ms<small>roofline 600 µs, Pallas "
                                      "post 500 µs</small><td><td><td>as predicted"));
}

TEST_CASE("a kernel's line has its launches, tile, memory, bytes, times and units") {
  Row row = told_row();
  CHECK_THAT(
      rows_html(row),
      contains("<summary>1 kernel</summary>") &&
          contains("<tr><th>flash2<td>1<td>1024<td>128×64<td><td>100 MB<td><td>1 GB<td><td>1 "
                   "ms<td>products<td><td><td>\n"));
  Step& step = row.steps[0];
  step.num_launches = 3;
  step.num_blocks = 0;
  step.block_kv = 0;
  step.shared_bytes = 2048;
  step.measured = row.measured;
  step.measured->exp_percent = 7;
  row.steps.push_back(step);
  CHECK_THAT(rows_html(row),
             contains("<summary>2 kernels</summary>") &&
                 contains("<tr><th>flash2<td>3<td><td><td>2 KiB<td>100 MB<td>100 MB<td>1 GB<td>1 "
                          "GB<td>1 ms<td>products<td>1.12 ms<td>51 %<td>7 %\n"));
  row.steps[0].block_kv = 1;
  row.steps[0].block_q = 1;
  row.steps[0].num_blocks = 1;
  row.steps[0].shared_bytes = 1;
  CHECK_THAT(rows_html(row), contains("<td>3<td>1<td>1×1<td>0.000977 KiB<td>"));
  row.steps.clear();
  CHECK_THAT(rows_html(row), !contains("<details>"));
}

TEST_CASE("a prediction's hash stands below the kernels, if there is one") {
  Row row = told_row();
  CHECK_THAT(rows_html(row), !contains("SHA-256"));
  row.prediction_sha256 = std::string(65, 'f');
  CHECK_THAT(rows_html(row),
             contains("SHA-256 of the prediction, taken before the measurement: <code>" +
                      std::string(64, 'f') + "…</code></p></details>"));
  Comparison again;
  again.rows = {row};
  again.is_again = true;
  std::ostringstream out;
  write_rows(out, again);
  CHECK_THAT(out.str(), contains("SHA-256 of the prediction: <code>"));
}

TEST_CASE("each variant has a section with its rows alone") {
  Comparison comparison;
  comparison.rows = {told_row(), told_row(), told_row()};
  comparison.rows[1].variant = "Other one";
  std::ostringstream out;
  write_rows(out, comparison);
  const std::string html = out.str();
  CHECK(anchor_of("Other one") == "rows-other_one");
  CHECK(count_of(html, "<section id=\"rows-flash2\"") == 1);
  CHECK(html.find("<section id=\"rows-flash2\"") < html.find("<section id=\"rows-other_one\""));
  const std::string first = html.substr(0, html.find("rows-other_one"));
  CHECK(count_of(first, "<tr><th scope=\"row\">") == 2);
}

TEST_CASE("five reasons are listed, of more it is said that there are others") {
  const std::string five = report_html(rows_with_reasons(5));
  CHECK(count_of(five, "<li>No time was measured in 1 row: ") == 5);
  CHECK(count_of(five, "for other reasons as well") == 0);
  const std::string six = report_html(rows_with_reasons(6));
  CHECK(count_of(six, "<li>No time was measured in 1 row: ") == 5);
  CHECK(count_of(six, "<li>No time was measured for other reasons as well; the rows say which.") ==
        1);
  std::vector<Row> same = rows_with_reasons(2);
  same[1].failure = same[0].failure;
  CHECK_THAT(report_html(same), contains("<li>No time was measured in 2 rows: a</li>"));
}

TEST_CASE("a rate without a data sheet has no share, one that was not measured none either") {
  MachineModel used;
  used.sm = Rate{2e12, true};
  used.exps = Rate{3e12, false};  // and no data sheet: nothing is known
  used.launch_s = 2e-6;
  const std::string html = report_html({told_row()}, used);
  CHECK_THAT(html,
             contains("<tr><th scope=\"row\">L2 to SM</th><td class=\"number\">2 TB/s</td><td "
                      "class=\"number\"></td><td class=\"number\"></td></tr>\n"));
  CHECK_THAT(html, !contains("exponentials</th>"));
  CHECK_THAT(html, contains("<tr><th scope=\"row\">from one launch to the next</th><td "
                            "class=\"number\">2 µs</td>"));
  CHECK_THAT(report_html({told_row()}), !contains("from one launch to the next"));
}

TEST_CASE("peers are the others' times of calls that are among the rows") {
  const std::vector<Row> rows = {synthetic_row()};
  const std::vector<PeerSeries> peers = parse_peers(kPeerFile, rows);
  REQUIRE(peers.size() == 1);
  CHECK(peers[0].name == "theirs");
  CHECK(peers[0].pass == Pass::kForward);
  CHECK(peers[0].dtype == "bf16");
  CHECK(peers[0].head_dim == 64);
  CHECK_FALSE(peers[0].is_causal);
  CHECK(peers[0].ms_at_length == std::vector<std::pair<std::int64_t, double>>{{4096, 2}});
  using Change = void (*)(Row&);
  const Change others[] = {[](Row& r) { r.pass = Pass::kBackward; },
                           [](Row& r) { r.dtype = "fp16"; },
                           [](Row& r) { r.mask = "causal"; },
                           [](Row& r) { ++r.batch; },
                           [](Row& r) { ++r.num_heads; },
                           [](Row& r) { ++r.seqlen_q; },
                           [](Row& r) { ++r.seqlen_k; },
                           [](Row& r) { ++r.head_dim; }};
  for (const Change change : others) {
    Row row = synthetic_row();
    change(row);
    CHECK(parse_peers(kPeerFile, {row}).empty());
  }
  CHECK_THROWS_WITH(parse_peers("{}", rows), contains("beside_torch.py"));
  CHECK_THROWS_WITH(
      parse_peers(R"({"rows":[{"direction":"forward","dtype":"","mask":"","shape":[1,2,3]}]})",
                  rows),
      contains("a shape that is not batch, heads, N, d"));
}

TEST_CASE("shares hold at their ends") {
  Row row = measured_row(1);
  for (const double close : {0.8501, 1.1499}) {
    row.predicted.overlap_ms = close;  // of 1 ms
    CHECK(close_times({row}, kCloseTime).num_close == 1);
  }
  for (const double far : {0.849, 1.151}) {
    row.predicted.overlap_ms = far;
    CHECK(close_times({row}, kCloseTime).num_close == 0);
    CHECK(close_times({row}, kCloseTime).num_all == 1);
    CHECK(close_times({row}, kNearTime).num_close == 1);
  }
  row.predicted.units_ms = 1;  // counts instead, if there is one
  CHECK(close_times({row}, kCloseTime).num_close == 1);
  row.seqlen_q = 4095;
  CHECK(close_sm_bytes({row}).num_all == 0);
  row.seqlen_q = 4096;
  for (const char* const variant : {"flash1", "flash2", "bwd-twopass"}) {
    row.variant = variant;
    CHECK(close_sm_bytes({row}).num_all == 1);
  }
  row.variant = "naive";
  CHECK(close_sm_bytes({row}).num_all == 0);
  CHECK(Share{1, 4}.share() == 0.25);
  CHECK(Share{}.share() == 0);
}

TEST_CASE("a floor is the slower of the inputs' bytes and the usual FLOPs") {
  MachineModel sheet;
  CHECK(floor_ms(synthetic_row(), sheet) == 0);
  Row row = synthetic_row();
  row.num_kv_heads = 2;
  row.usual_flops = 0;
  sheet.dram_copy = Rate{1e9, false};
  // Q: 4 x 8 x 4096 x 64 x 2 bytes = 16777216, K and V a quarter each; at 1e6 bytes a millisecond
  CHECK_THAT(floor_ms(row, sheet), Catch::Matchers::WithinAbs(16.777216 + 2 * 4.194304, 1e-6));
  row.pass = Pass::kBackward;  // O and dO as well
  CHECK_THAT(floor_ms(row, sheet), Catch::Matchers::WithinAbs(3 * 16.777216 + 2 * 4.194304, 1e-6));
  row.dtype = "float";
  CHECK_THAT(floor_ms(row, sheet),
             Catch::Matchers::WithinAbs(2 * (3 * 16.777216 + 2 * 4.194304), 1e-6));
  sheet.products["float"] = {1e12, false};
  row.usual_flops = 1'000'000'000'000;
  CHECK_THAT(floor_ms(row, sheet), Catch::Matchers::WithinAbs(1000, 1e-6));
}

TEST_CASE("sizes of a sweep are refused one beyond their ends") {
  SweepAxes good;
  good.variants = {"flash2"}, good.dtypes = {DataType::kFloat32};
  good.products = {cuda::Products::kNative}, good.masks = {Mask::kNone};
  good.seqlens = {1}, good.head_dims = {512}, good.batch = good.num_heads = 1;
  CHECK(calls_of(good).size() == 1);
  using Change = void (*)(SweepAxes&);
  constexpr std::int64_t kLongest = std::int64_t{1} << 30;
  const std::pair<Change, bool> cases[] = {
      {[](SweepAxes& a) { a.seqlens = {kLongest}; }, true},
      {[](SweepAxes& a) { a.seqlens = {kLongest + 1}; }, false},
      {[](SweepAxes& a) { a.seqlens = {0}; }, false},
      {[](SweepAxes& a) { a.seqlen_k = 1; }, true},
      {[](SweepAxes& a) { a.seqlen_k = 0; }, false},
      {[](SweepAxes& a) { a.seqlen_k = kLongest + 1; }, false},
      {[](SweepAxes& a) { a.head_dims = {513}; }, false},
      {[](SweepAxes& a) { a.head_dims = {1}; }, true},
      {[](SweepAxes& a) { a.batch = INT32_MAX; }, true},
      {[](SweepAxes& a) { a.batch = std::int64_t{INT32_MAX} + 1; }, false},
      {[](SweepAxes& a) { a.num_heads = std::int64_t{INT32_MAX} + 1; }, false},
      {[](SweepAxes& a) { a.num_heads = 0; }, false},
      {[](SweepAxes& a) { a.num_kv_heads = 0; }, false},
      {[](SweepAxes& a) { a.num_kv_heads = 2; }, false},
      {[](SweepAxes& a) { a.num_heads = 6, a.num_kv_heads = 3; }, true},
      {[](SweepAxes& a) { a.variants = {"flash9"}; }, false}};
  int number = 0;
  for (const auto& [change, is_good] : cases) {
    SweepAxes axes = good;
    change(axes);
    INFO("case " << number++);
    if (is_good) {
      CHECK_NOTHROW(calls_of(axes));
    } else {
      CHECK_THROWS_AS(calls_of(axes), ProblemError);
    }
  }
}

}  // namespace flashlab::test
