// The report of a comparison: one file that needs nothing else, with every row in it.
#include <limits>
#include <regex>
#include <sstream>

#include "compare/report/report_html.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/sample_comparison.hpp"
#include "tests/compare/xml_check.hpp"
#include "text/picture/svg.hpp"
#include "text/sha256.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

std::string report_of(const Comparison& comparison) {
  std::ostringstream out;
  write_report(out, comparison, {sample_machine(false), sample_machine(true), {}});
  return out.str();
}

/// What stands between <style> and </style>, each.
std::vector<std::string> styles_of(const std::string& page) {
  std::vector<std::string> styles;
  const std::string open = "<style>", close = "</style>";
  for (std::size_t at = page.find(open); at != page.npos; at = page.find(open, at + 1)) {
    styles.push_back(page.substr(at + open.size(), page.find(close, at) - at - open.size()));
  }
  return styles;
}

constexpr const char* kRowStart = "<tr><th scope=\"row\">batch ";

}  // namespace

TEST_CASE("every row of a comparison is in the report, with its sentence and its kernels") {
  SampleOptions options;
  options.num_steps = 3;
  Comparison comparison = sample_comparison(options);
  comparison.rows[5].sentence = "this one row has a sentence of its own";
  comparison.rows[6].measured.reset();
  comparison.rows[6].failure = "not enough memory";
  const std::string page = report_of(comparison);
  CHECK(count_of(page, kRowStart) == comparison.rows.size());
  CHECK(count_of(page, "_step2") >= comparison.rows.size());
  CHECK(count_of(page, "this one row has a sentence of its own") == 1);
  CHECK(count_of(page, "not enough memory") == 2);  // in its row, and on top
  CHECK(count_of(page, "<h2 id=\"rows-bwd-twopass-heading\">bwd-twopass</h2>") == 1);
  CHECK(count_of(page, "href=\"#rows-bwd-twopass\"") == 1);
}

TEST_CASE("the report loads nothing and runs nothing") {
  const std::string page = report_of(sample_comparison({{4096}, {64}, {"bf16"}}));
  for (const char* part : {"<script", "<link", "<img", "@import", "src=", "style=\"", "onload"}) {
    INFO(part);
    CHECK(count_of(page, part) == 0);
  }
  CHECK(count_of(page, "http") ==
        count_of(page, "http://www.w3.org/2000/svg") + count_of(page, "http-equiv"));
  CHECK_THAT(page, contains("default-src 'none'"));
}

TEST_CASE("the report's policy names every style that is in it") {
  const std::string page = report_of(sample_comparison({{4096}, {64}, {"bf16"}}));
  const std::vector<std::string> styles = styles_of(page);
  REQUIRE(styles.size() > 3);
  for (const std::string& style : styles) {
    CHECK_THAT(page, contains("'sha256-" + base64(sha256(style)) + "'"));
  }
}

TEST_CASE("names from a file cannot break out of a report") {
  Comparison comparison = sample_comparison({{4096}, {64}, {"bf16"}});
  const std::string hostile = "\"><script>alert(1)</script></td></table>{{rows}}";
  comparison.gpu_name = comparison.date = comparison.command = comparison.commit = hostile;
  comparison.driver = comparison.cuda = hostile;
  for (Row& row : comparison.rows) {
    row.variant = row.kernel = row.dtype = row.products = row.mask = hostile;
    row.sentence = row.failure = row.prediction_sha256 = hostile;
    row.measured->why_no_counters = hostile;
    for (Step& step : row.steps) step.name = hostile;
  }
  const std::string page = report_of(comparison);
  CHECK(count_of(page, "<script") == 0);
  CHECK(count_of(page, "{{rows}}") > 0);  // shown, not carried out
  CHECK(count_of(page, "</html>") == 1);
  CHECK(count_of(page, "<table class=\"rows\">") == 1);
}

TEST_CASE("a report's commands are folded, and break between words and behind commas") {
  Comparison comparison = sample_comparison({{4096}, {64}, {"bf16"}});
  comparison.command = "flashlab compare -v naive,flash2\nflashlab compare --calibrate";
  const std::string page = report_of(comparison);
  CHECK_THAT(page, contains("<summary>the commands</summary><p><code><span>flashlab</span> "
                            "<span>compare</span> <span>-v</span> <span>naive,</span><wbr>"
                            "<span>flash2</span></code></p><p><code>"));
  CHECK_THAT(page, !contains("0 %)"));  // a number and its sign stay together
  comparison.command.clear();
  CHECK_THAT(report_of(comparison), !contains("the commands"));
}

TEST_CASE("a report of 300 rows of 8 kernels weighs less than two megabytes") {
  SampleOptions options;
  options.num_steps = 8;
  options.dtypes = {"bf16", "fp16", "float"};
  options.lengths = {512, 1024, 2048, 4096, 8192, 16384, 32768, 49152, 65536};
  const Comparison comparison = sample_comparison(options);
  REQUIRE(comparison.rows.size() >= 300);
  CHECK(report_of(comparison).size() < 2'000'000);
}

TEST_CASE("a report without measurements says so, and one without counters says why once") {
  SampleOptions options;
  options.is_measured = false;
  CHECK_THAT(report_of(sample_comparison(options)), contains("Nothing was measured"));
  options.is_measured = true;
  options.has_counters = false;
  const std::string page = report_of(sample_comparison(options));
  CHECK_THAT(page, !contains("Nothing was measured"));
  CHECK(count_of(page, "the driver lets administrators alone read the counters") == 1);
}

TEST_CASE("a report has no number that is none") {
  Comparison comparison = sample_comparison({{4096, 8192}, {64}, {"bf16"}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Row& row : comparison.rows) {
    row.predicted.overlap_ms = row.predicted.roofline_ms = nan;
    row.pallas_ms = nan;
    row.measured->median_ms = row.measured->least_ms = nan;
    row.measured->tensor_percent = nan;
    row.steps[0].predicted.overlap_ms = nan;
    row.steps[0].measured->median_ms = nan;
    row.steps[0].measured->exp_percent = nan;
  }
  static const std::regex kNoNumber("\\b-?(nan|inf)\\b", std::regex::icase);
  CHECK_FALSE(std::regex_search(report_of(comparison), kNoNumber));
}

TEST_CASE("rates stand beside the data sheet with their share of it") {
  const std::string page = report_of(sample_comparison({{4096}, {64}, {"bf16"}}));
  CHECK_THAT(page, contains("4.28 TB/s</td><td class=\"number\">4.8 TB/s</td><td "
                            "class=\"number\">89 %</td>"));
}

TEST_CASE("a report counts the rows whose predictions hold") {
  Comparison comparison = sample_comparison({{2048, 4096, 8192}, {64}, {"bf16"}});
  for (Row& row : comparison.rows) {
    row.measured->median_ms = row.predicted.overlap_ms * (row.seqlen_k == 8192 ? 2 : 1);
    row.measured->sm = row.work.sm;
    if (row.variant == "flash1" && row.seqlen_k == 8192) row.measured->sm->bytes_read *= 2;
    for (Step& step : row.steps) step.measured = row.measured;
  }
  comparison.rows[0].measured.reset();
  // A number stays with its sign.
  const std::string page = std::regex_replace(report_of(comparison), std::regex("\u00a0%"), " %");
  CHECK_THAT(page, contains("within 15 % of measured time in 11 of 17 rows (65 %)"));
  CHECK_THAT(page, contains("within 5 % of those counted in 16 of 17 rows (94 %)"));
  CHECK_THAT(page, contains("as close in 11 of 17 rows (65 %)"));
  CHECK_THAT(page, contains("as close for flash1, flash2 and bwd-twopass in 5 of 6 rows (83 %)"));
}

TEST_CASE("a tile that was asked for is named with its kernel") {
  Comparison comparison = sample_comparison({{4096}, {64}, {"bf16"}});
  comparison.rows[3].tile = "64x32";
  CHECK_THAT(report_of(comparison), contains("_mma_sm80, tile 64x32<"));
}

}  // namespace flashlab::test
