// Pictures of a comparison: well-formed, whatever the comparison holds, and true to its figures.
#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <set>

#include "compare/picture/pictures.hpp"
#include "compare/picture/series.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/sample_comparison.hpp"
#include "tests/compare/xml_check.hpp"
#include "text/markup.hpp"
#include "text/numbers.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

PictureOptions options() {
  return {sample_machine(true),
          {{"Peer <&>", Pass::kForward, "bf16", 64, false, {{1024, 0.05}, {4096, 0.6}}}}};
}

const Picture* find(const std::vector<Picture>& pictures, const std::string& name) {
  const auto found = std::find_if(pictures.begin(), pictures.end(),
                                  [&](const Picture& picture) { return picture.name == name; });
  return found == pictures.end() ? nullptr : &*found;
}

std::string svg_of(const std::vector<Picture>& pictures, const std::string& name) {
  const Picture* picture = find(pictures, name);
  REQUIRE(picture != nullptr);
  return picture->svg;
}

/// Numbers that are none, and numbers that no picture can hold, one after the other in every place.
std::vector<double> odd_numbers() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0, -1, 1e308, 5e-324};
}

void check_all(const std::vector<Picture>& pictures) {
  static const std::regex kNoNumber("\\b(nan|inf|infinity)\\b", std::regex::icase);
  for (const Picture& picture : pictures) {
    INFO(picture.name);
    CHECK(xml_error(picture.svg).empty());
    CHECK_FALSE(std::regex_search(picture.svg, kNoNumber));
  }
}

}  // namespace

TEST_CASE("the check of pictures finds what is not well-formed") {
  CHECK(xml_error("<a b=\"1\"><c/>x &amp; y</a>\n").empty());
  for (const char* text : {"<a>", "<a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>x & y</a>",
                           "<a b=\"&x;\"/>", "<a/><b/>", "", "<a", "<a>\x01</a>", "<a/>x"}) {
    INFO(text);
    CHECK_FALSE(xml_error(text).empty());
  }
}

TEST_CASE("every picture is well-formed, has a name of its own and describes itself") {
  const std::vector<Picture> pictures = draw_pictures(sample_comparison(), options());
  check_all(pictures);
  std::set<std::string> names;
  std::set<PictureKind> kinds;
  for (const Picture& picture : pictures) {
    INFO(picture.name);
    CHECK(names.insert(picture.name).second);
    CHECK(plain_name(picture.name) == picture.name);
    kinds.insert(picture.kind);
    CHECK(count_of(picture.svg, "role=\"img\"") == 1);
    CHECK(count_of(picture.svg, "<title>") == 1);
    CHECK(count_of(picture.svg, "<desc></desc>") == 0);
    CHECK(count_of(picture.svg, "<desc>") == 1);
    CHECK(count_of(picture.svg, "prefers-color-scheme: dark") == 1);
    CHECK(count_of(picture.svg, "<script") == 0);
    CHECK(count_of(picture.svg, "style=") == 0);  // a page's policy would drop it
    CHECK(count_of(picture.svg, "href") == 0);
  }
  CHECK(kinds.size() == 7);
}

TEST_CASE("names from a file cannot break out of a picture") {
  Comparison comparison = sample_comparison({{4096, 8192}, {64}, {"bf16"}});
  const std::string hostile = "</text></svg><script>alert(1)</script>\"'&\x01\xff\xe2\x80\xae";
  for (Row& row : comparison.rows) {
    row.variant += hostile;
    row.kernel += hostile;
    row.mask = hostile;
    for (Step& step : row.steps) step.name += hostile;
  }
  PictureOptions with_names = options();
  with_names.machine.gpu.name = hostile;
  with_names.machine.products[hostile] = {1e12, true};
  const std::vector<Picture> pictures = draw_pictures(comparison, with_names);
  REQUIRE_FALSE(pictures.empty());
  check_all(pictures);
  for (const Picture& picture : pictures) {
    CHECK(count_of(picture.svg, "<script") == 0);
    CHECK(count_of(picture.svg, "\xe2\x80\xae") == 0);
    CHECK(plain_name(picture.name) == picture.name);
  }
}

TEST_CASE("a number that is none leaves no trace in a picture") {
  for (const double odd : odd_numbers()) {
    INFO(odd);
    Comparison comparison = sample_comparison({{1024, 4096, 8192}, {64}, {"bf16"}});
    for (std::size_t i = 0; i < comparison.rows.size(); i += 2) {
      Row& row = comparison.rows[i];
      row.predicted.overlap_ms = odd;
      row.predicted.roofline_ms = odd;
      row.measured->median_ms = odd;
      row.measured->least_ms = odd;
      row.measured->most_ms = odd;
    }
    MachineModel machine = sample_machine(true);
    machine.dram_copy->per_s = odd;
    machine.products["bf16"].per_s = odd;
    check_all(draw_pictures(comparison, {machine, {{"peer", {}, "bf16", 64, false, {{0, odd}}}}}));
  }
  SUCCEED("and none of them stopped the drawing");
}

TEST_CASE("counts that are none leave no trace in a picture") {
  for (const std::int64_t odd :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    INFO(odd);
    Comparison comparison = sample_comparison({{1024, 4096}, {64}, {"bf16"}});
    for (Row& row : comparison.rows) {
      row.work.dram = {odd, odd};
      row.work.sm = Traffic{odd, odd};
      row.usual_flops = row.tensor_bytes = row.workspace_bytes = odd;
      row.seqlen_q = row.seqlen_k = row.head_dim = odd;
      for (Step& step : row.steps) step.shared_bytes = odd;
    }
    check_all(draw_pictures(comparison, options()));
  }
  SUCCEED("and none of them stopped the drawing");
}

TEST_CASE("without rows there is no picture") { CHECK(draw_pictures({}, options()).empty()); }

TEST_CASE("without measurements predictions are drawn, and the pictures say so") {
  SampleOptions predicted;
  predicted.is_measured = false;
  const std::vector<Picture> pictures = draw_pictures(sample_comparison(predicted), options());
  check_all(pictures);
  CHECK_THAT(svg_of(pictures, "time_forward_bf16_d64"), contains("predicted, not measured"));
  CHECK_THAT(svg_of(pictures, "roofline_forward_16_bits_d64"), contains("predicted times"));
  CHECK_THAT(svg_of(pictures, "passes_backward_bf16_d64"), contains("nothing was measured"));
  CHECK(find(pictures, "time_ratios") == nullptr);
  CHECK(find(pictures, "bytes") == nullptr);
  CHECK(find(pictures, "byte_ratios_sm") == nullptr);
}

TEST_CASE("without hardware counters there is no picture of measured bytes") {
  SampleOptions uncounted;
  uncounted.has_counters = false;
  const std::vector<Picture> pictures = draw_pictures(sample_comparison(uncounted), options());
  CHECK(find(pictures, "bytes") == nullptr);
  CHECK(find(pictures, "time_ratios") != nullptr);
}

TEST_CASE("a roofline names each roof, its value and where that is from") {
  MachineModel machine = sample_machine(true);
  machine.products["float"].is_measured = false;
  const std::vector<Picture> pictures = draw_rooflines(sample_comparison(), machine);
  const std::string svg = svg_of(pictures, "roofline_forward_16_bits_d64");
  CHECK_THAT(svg, contains("bf16 640 TFLOP/s, measured"));
  CHECK_THAT(svg_of(pictures, "roofline_forward_float_d64"),
             contains("float 55 TFLOP/s, data sheet"));
  CHECK_THAT(svg, contains("DRAM 4.28 TB/s, measured"));
  CHECK_THAT(svg, contains("L2 to SM 5.5 TB/s, measured"));
  CHECK_THAT(svg, !contains("fp16"));  // no row has it
}

TEST_CASE("products split in three have a roof of a third") {
  MachineModel machine = sample_machine(true);
  machine.products["float tf32"] = {300e12, true};
  Comparison comparison = sample_comparison({{1024, 4096}, {64}, {"float"}});
  for (Row& row : comparison.rows) row.products = "tf32x3";
  CHECK_THAT(svg_of(draw_rooflines(comparison, machine), "roofline_forward_float_d64"),
             contains("float tf32x3 100 TFLOP/s, measured"));
}

TEST_CASE("every measured row has its marker in a picture of times") {
  const Comparison comparison = sample_comparison({{1024, 4096, 8192}, {64}, {"bf16"}});
  const std::string svg = svg_of(draw_times(comparison, {}), "time_forward_bf16_d64");
  const std::string flash2 = "marker filled " + look_of("flash2").colour + "\"";
  CHECK(count_of(svg, flash2) == 3 + 1);  // one in the legend
}

TEST_CASE("a peer stands beside the rows of its pass, type and head_dim, and nowhere else") {
  const std::vector<Picture> pictures = draw_times(sample_comparison(), options().peers);
  for (const Picture& picture : pictures) {
    INFO(picture.name);
    CHECK(count_of(picture.svg, "Peer &lt;&amp;&gt;") ==
          (picture.name == "time_forward_bf16_d64" ? 1 : 0));
  }
}

TEST_CASE("two peers differ in marker, colour and dash") {
  std::vector<PeerSeries> peers = options().peers;
  peers.push_back(peers.front());
  peers.back().name = "Another";
  const std::string svg = svg_of(draw_times(sample_comparison(), peers), "time_forward_bf16_d64");
  CHECK(count_of(svg, "series dot c7") == 1 + 1);  // one in the legend
  CHECK(count_of(svg, "series dashdot c8") == 1 + 1);
  CHECK(count_of(svg, "marker hollow c7") == count_of(svg, "marker hollow c8"));
}

TEST_CASE("areas of memory are as the bytes") {
  const Comparison comparison = sample_comparison({{1024, 8192}, {64}, {"bf16"}});
  const std::string svg = svg_of(draw_memory(comparison), "memory_to_scale_forward_bf16_d64");
  CHECK_THAT(svg, contains("Memory at N 8192"));
  const auto side_of = [&](const std::string& variant) {
    const std::regex square("<rect [^>]*width=\"([0-9.]+)\"[^>]*filled " + look_of(variant).colour);
    std::smatch match;
    REQUIRE(std::regex_search(svg, match, square));
    return std::stod(match[1]);
  };
  const auto bytes_of_variant = [&](const std::string& variant) {
    for (const Row& row : comparison.rows) {
      if (row.variant == variant && row.seqlen_k == 8192) {
        return static_cast<double>(row.tensor_bytes + row.workspace_bytes);
      }
    }
    return 0.0;
  };
  const double drawn = std::pow(side_of("naive") / side_of("flash2"), 2);
  const double real = bytes_of_variant("naive") / bytes_of_variant("flash2");
  CHECK(std::fabs(drawn / real - 1) < 0.02);  // sides are given to a tenth of a unit
}

TEST_CASE(
    "shared memory is drawn a bar a kernel, head_dim and tile, and beside the Pallas post's own "
    "sums") {
  const Comparison comparison = sample_comparison({{1024, 8192}, {64, 128}, {"bf16"}});
  const std::vector<Picture> pictures = draw_shared_memory(comparison, sample_machine(true).gpu);
  const std::string svg = svg_of(pictures, "shared_memory");
  CHECK(count_of(svg, "<rect") ==
        1 + 6 * 2 + 2);  // the paper, six kernels of two head_dims, the Pallas post
  CHECK_THAT(svg, contains("H200: 227"));
  CHECK_THAT(svg, contains(">129<"));
}

TEST_CASE("one pass and two are compared where both are measured") {
  Comparison comparison = sample_comparison({{1024, 4096, 8192}, {64}, {"bf16"}});
  for (Row& row : comparison.rows) {
    if (row.variant == "bwd-onepass" && row.seqlen_k == 8192) row.measured.reset();
    if (row.variant == "bwd-onepass" && row.seqlen_k == 4096) row.measured->median_ms = 4;
    if (row.variant == "bwd-twopass" && row.seqlen_k == 4096) row.measured->median_ms = 3;
  }
  const std::string svg = svg_of(draw_passes(comparison), "passes_backward_bf16_d64");
  CHECK_THAT(svg, contains("at N 4096 one pass takes 4 ms and two passes take 3 ms, 0.75 times"));
}

TEST_CASE("a batch that goes with N stays in one picture, and two of one N are two pictures") {
  Comparison comparison = sample_comparison({{1024, 4096}, {64}, {"bf16"}});
  for (Row& row : comparison.rows) row.batch = 16384 / row.seqlen_k;
  CHECK(panels_of(comparison.rows, SplitBy::kDtype).size() == 2);  // forward, backward
  Comparison other = sample_comparison({{1024, 4096}, {64}, {"bf16"}});
  comparison.rows.insert(comparison.rows.end(), other.rows.begin(), other.rows.end());
  const std::vector<Panel> panels = panels_of(comparison.rows, SplitBy::kDtype);
  std::set<std::string> names;
  for (const Panel& panel : panels) names.insert(panel.name);
  CHECK(panels.size() > 2);
  CHECK(names.size() == panels.size());
}

}  // namespace flashlab::test
