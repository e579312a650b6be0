// How rows are grouped into pictures and lines, their roofs, and the strips of ratios.
#include "compare/picture/series.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compare/picture/ratio_strips.hpp"
#include "compare/picture/roofs.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"
#include "tests/compare/xml_check.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

Row long_row(std::int64_t length, std::int64_t batch = 4) {
  Row row = synthetic_row();
  row.seqlen_q = row.seqlen_k = length;
  row.batch = batch;
  return row;
}

Panel only_panel(const std::vector<Row>& rows, SplitBy split = SplitBy::kDtype) {
  const std::vector<Panel> panels = panels_of(rows, split);
  REQUIRE(panels.size() == 1);
  return panels[0];
}

std::vector<std::string> series_names(const Panel& panel) {
  std::vector<std::string> names;
  for (const Series& series : panel.series) names.push_back(series.name);
  return names;
}

std::string strips_svg(const std::vector<RatioStrip>& strips, double tolerance = 0.25) {
  return draw_ratio_strips(strips, {tolerance}, "Title", "under it", "the axis");
}

std::string one_strip(const std::vector<double>& ratios) {
  return strips_svg({{"one", look_of("naive"), ratios}});
}

}  // namespace

TEST_CASE("each variant has a look of its own, others share the last") {
  const std::pair<const char*, picture::Marker> looks[] = {
      {"naive", picture::Marker::kCircle},      {"fused-softmax", picture::Marker::kSquare},
      {"three-pass", picture::Marker::kUp},     {"online", picture::Marker::kDiamond},
      {"flash1", picture::Marker::kDown},       {"flash2", picture::Marker::kPentagon},
      {"split-kv", picture::Marker::kStar},     {"bwd-naive", picture::Marker::kLeft},
      {"bwd-onepass", picture::Marker::kRight}, {"bwd-twopass", picture::Marker::kHexagon},
      {"unknown", picture::Marker::kHexagon}};
  int place = 0;
  for (const auto& [variant, marker] : looks) {
    INFO(variant);
    CHECK(look_of(variant).marker == marker);
    CHECK(look_of(variant).colour == "c" + std::to_string(std::min(place++, 9)));
  }
}

TEST_CASE("a panel's text and name say what its rows have in common") {
  Row row = synthetic_row();
  CHECK(only_panel({row}).text == "forward, bf16, d 64, batch 4, 8 heads");
  CHECK(only_panel({row}).name == "forward_bf16_d64");
  CHECK(only_panel({row}, SplitBy::kWidth).text == "forward, 16 bits, d 64, batch 4, 8 heads");
  CHECK(only_panel({row}, SplitBy::kWidth).name == "forward_16_bits_d64");
  row.num_heads = 1;
  CHECK(only_panel({row}).text == "forward, bf16, d 64, batch 4, 1 head (8 of K, V)");
  row.num_heads = 8, row.num_kv_heads = 2, row.mask = "causal";
  CHECK(only_panel({row}).text == "forward, bf16, d 64, causal, batch 4, 8 heads (2 of K, V)");
  CHECK(only_panel({row}).name == "forward_bf16_d64_causal");
  row.dtype = "float", row.products = "tf32", row.mask = "none", row.num_kv_heads = 8;
  CHECK(only_panel({row}).text == "forward, float tf32, d 64, batch 4, 8 heads");
  CHECK(only_panel({row}).name == "forward_float_tf32_d64");
  CHECK(only_panel({row}, SplitBy::kWidth).text == "forward, float, d 64, batch 4, 8 heads");
  row.seqlen_q = 1;
  CHECK(only_panel({row}).text == "forward, float tf32, d 64, 1 queries, batch 4, 8 heads");
}

TEST_CASE("rows that differ in anything but kernel and N are in different panels") {
  const Row row = synthetic_row();
  std::vector<Row> rows(8, row);
  rows[1].pass = Pass::kBackward;
  rows[2].dtype = "fp16";
  rows[3].products = "tf32";
  rows[4].mask = "causal";
  rows[5].head_dim = 128;
  rows[6].seqlen_q = 1;
  rows[7].seqlen_q = 2;
  CHECK(panels_of(rows, SplitBy::kDtype).size() == 8);
  CHECK(panels_of(rows, SplitBy::kWidth).size() == 6);  // bf16, fp16, products: one width
}

TEST_CASE("batches that go with N are one panel, two of one N are two with own names") {
  const Panel panel = only_panel({long_row(1024, 4), long_row(4096, 1)});
  CHECK(panel.text == "forward, bf16, d 64");
  CHECK(panel.series[0].rows.size() == 2);
  const std::vector<Panel> panels =
      panels_of({long_row(1024, 4), long_row(1024, 2), long_row(1024, 1)}, SplitBy::kDtype);
  REQUIRE(panels.size() == 3);
  CHECK(panels[0].name == "forward_bf16_d64");
  CHECK(panels[1].name == "forward_bf16_d64_2");
  CHECK(panels[2].name == "forward_bf16_d64_3");
  CHECK(panels[1].text == "forward, bf16, d 64, batch 2, 8 heads");
  // The same call twice has the same batch: one panel, which names it.
  CHECK(only_panel({long_row(1024), long_row(1024)}).text ==
        "forward, bf16, d 64, batch 4, 8 heads");
}

TEST_CASE("a line's rows are in the order of N, its name the variant's or the kernel's") {
  std::vector<Row> rows = {long_row(4096), long_row(512), long_row(1024)};
  const Panel panel = only_panel(rows);
  CHECK(series_names(panel) == std::vector<std::string>{"flash2"});
  CHECK(panel.series[0].dtype == "bf16");
  CHECK(length_of(*panel.series[0].rows[0]) == 512);
  CHECK(length_of(*panel.series[0].rows[1]) == 1024);
  CHECK(length_of(*panel.series[0].rows[2]) == 4096);
  rows[1].kernel = "other";
  CHECK(series_names(only_panel(rows)) == std::vector<std::string>{"flash2_mma_sm80", "other"});
  rows[1].variant = "flash1";
  CHECK(series_names(only_panel(rows)) == std::vector<std::string>{"flash2", "flash1"});
  rows[1] = long_row(512);
  rows[1].dtype = "fp16";
  rows[1].kernel = "other";  // one kernel of each type
  CHECK(series_names(only_panel(rows, SplitBy::kWidth)) ==
        std::vector<std::string>{"flash2", "flash2"});
  rows = {long_row(512), long_row(512)};
  rows[1].tile = "64x32";
  CHECK(series_names(only_panel(rows)) ==
        std::vector<std::string>{"flash2_mma_sm80", "flash2_mma_sm80 64x32"});
}

TEST_CASE("a shape names batch, heads, N, head_dim and what is unusual") {
  Row row = synthetic_row();
  CHECK(shape_text(row) == "batch 4, 8 heads, N 4096, d 64");
  row.seqlen_q = 1, row.seqlen_k = 100, row.mask = "causal", row.num_heads = 1;
  row.num_kv_heads = 1;
  CHECK(shape_text(row) == "batch 4, 1 head, 1 queries, 100 keys, d 64, causal");
  CHECK(length_of(row) == 100);
}

TEST_CASE("only values that can be drawn are compared") {
  Row row = measured_row(4);
  CHECK(measured_ms_of(row) == 4.0);
  CHECK(predicted_over_measured(row) == 0.25);
  CHECK(dram_pair(row)->counted == 100'000'000);
  CHECK(dram_pair(row)->ratio() == 1);
  row.measured->sm = Traffic{250'000'000, 250'000'000};
  CHECK(sm_pair(row)->counted == 1'000'000'000);
  CHECK(sm_pair(row)->measured == 500'000'000);
  CHECK(sm_pair(row)->ratio() == 2);
  row.predicted.overlap_ms = 0;
  CHECK_FALSE(predicted_over_measured(row).has_value());
  row.measured->median_ms = 0;
  CHECK_FALSE(measured_ms_of(row).has_value());
  row.measured->median_ms.reset();
  CHECK_FALSE(measured_ms_of(row).has_value());
  row.measured->sm = Traffic{0, 0};
  CHECK_FALSE(sm_pair(row).has_value());
  row.measured->sm.reset();
  CHECK_FALSE(sm_pair(row).has_value());
  row.work.dram = {0, 0};
  CHECK_FALSE(dram_pair(row).has_value());
  row = measured_row(4);
  row.work.sm.reset();
  CHECK_FALSE(sm_pair(row).has_value());
  row.measured.reset();
  CHECK_FALSE(dram_pair(row).has_value());
  CHECK_FALSE(sm_pair(row).has_value());
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(bytes_of({kMost, kMost}) == 0x1p64);
  CHECK(bytes_of({1, 2}) == 3);
}

TEST_CASE("the highest product and the slowest memory come first, each once") {
  std::vector<Row> rows = {long_row(512), long_row(512), long_row(512), long_row(512)};
  rows[0].dtype = "fp16";
  rows[2].variant = "flash1";  // bf16 again
  rows[3].dtype = "other";     // no rate
  MachineModel machine;
  machine.products["fp16"] = {3e14, false};
  machine.products["bf16"] = {6.4e14, true};
  machine.products["float"] = {9e14, true};  // no row has it
  machine.dram_copy = Rate{4.28e12, true};
  machine.sm = Rate{1e12, false};
  const Panel panel = only_panel(rows, SplitBy::kWidth);
  Roofs roofs = roofs_of(panel, machine);
  REQUIRE(roofs.products.size() == 2);
  CHECK(roofs.products[0].text("FLOP/s") == "bf16 640 TFLOP/s, measured");
  CHECK(roofs.products[1].text("FLOP/s") == "fp16 300 TFLOP/s, data sheet");
  REQUIRE(roofs.memories.size() == 2);
  CHECK(roofs.memories[0].text("B/s") == "L2 to SM 1 TB/s, data sheet");
  CHECK(roofs.memories[1].text("B/s") == "DRAM 4.28 TB/s, measured");
  machine.sm->per_s = 0;
  machine.products["bf16"].per_s = 0;
  roofs = roofs_of(panel, machine);
  CHECK(roofs.products.size() == 1);
  CHECK(roofs.memories.size() == 1);
  machine.dram_copy.reset();
  CHECK(roofs_of(panel, machine).memories.empty());
}

TEST_CASE("a band holds its ends") {
  const RatioBand band{0.25};
  CHECK(band.holds(0.75));
  CHECK(band.holds(1));
  CHECK(band.holds(1.25));
  CHECK_FALSE(band.holds(0.7499));
  CHECK_FALSE(band.holds(1.2501));
}

// One strip of 52 units below 64; the axis runs from 16 to 464, and from 1 / 1.5 to 1.5.
TEST_CASE("a strip has its band, its dots, its share and its name") {
  const std::string svg = strips_svg({{"a", look_of("naive"), {1}}});
  for (const char* const part :
       {"viewBox=\"0 0 480 166\"", "<desc>Within 25 %: a 1 of 1.</desc>", "<title>Title</title>",
        "<rect x=\"81.1\" y=\"64\" width=\"282.2\" height=\"52\" class=\"band\"/>",
        "<line x1=\"240\" y1=\"64\" x2=\"240\" y2=\"116\" class=\"ink\"/>",
        "<text x=\"240\" y=\"135\" class=\"soft middle\">1</text>",
        "<line x1=\"16\" y1=\"116\" x2=\"464\" y2=\"116\" class=\"grid\"/>",
        "<text x=\"16\" y=\"81\" class=\"halo\">a</text>",
        "<text x=\"464\" y=\"81\" class=\"soft end halo\">1 of 1 inside</text>",
        "<circle cx=\"240\" cy=\"98\" r=\"4\" class=\"marker hollow c0\"/>",
        "<text x=\"464\" y=\"156\" class=\"soft end\">the axis</text>"}) {
    INFO(part);
    CHECK(count_of(svg, part) == 1);
  }
  CHECK(count_of(svg, "class=\"grid\"") == 6 + 1);  // 0.67 0.8 0.9 1.1 1.25 1.5, and below
}

TEST_CASE("strips stand one below the other, those without dots are left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = strips_svg({{"a", look_of("naive"), {1, 3, nan}},
                                      {"empty", look_of("flash1"), {}},
                                      {"odd", look_of("flash1"), {0, nan}},
                                      {"b", look_of("naive"), {0.5, 1, 1.25}}});
  CHECK_THAT(svg, contains("<desc>Within 25 %: a 1 of 2, b 2 of 3.</desc>"));
  CHECK_THAT(svg, contains("viewBox=\"0 0 480 218\""));
  CHECK_THAT(svg, contains("<text x=\"16\" y=\"133\" class=\"halo\">b</text>"));
  CHECK_THAT(svg, contains("<line x1=\"16\" y1=\"168\" x2=\"464\" y2=\"168\" class=\"grid\"/>"));
  CHECK(count_of(svg, "class=\"marker") == 5);
  CHECK(strips_svg({{"odd", look_of("flash1"), {0, nan}}}).empty());
  CHECK(strips_svg({}).empty());
}

TEST_CASE("equal ratios lie beside each other, from the middle outwards") {
  const std::string svg = one_strip({1, 1, 1, 1, 1, 1});
  const std::pair<const char*, std::size_t> heights[] = {
      {"98", 2}, {"90", 1}, {"106", 1}, {"94", 1}, {"102", 1}};
  for (const auto& [y, count] : heights) {
    INFO(y);
    CHECK(count_of(svg, "<circle cx=\"240\" cy=\"" + std::string(y) + "\"") == count);
  }
}

TEST_CASE("the axis of ratios covers all dots up to a factor of 16") {
  // 1.1 x 4: a factor of two is 104.8 units.
  const std::string four = one_strip({4});
  for (const char* const x : {"30.4", "135.2", "240", "344.8", "449.6"}) {
    INFO(x);
    CHECK_THAT(four, contains("<line x1=\"" + std::string(x) + "\" y1=\"64\""));
  }
  CHECK(count_of(four, "<circle cx=\"449.6\"") == 1);
  CHECK(one_strip({0.25}).find("<circle cx=\"30.4\"") != std::string::npos);
  // Up to 2.2 the axis has finer ticks.
  CHECK_THAT(one_strip({2}), contains(">0.67</text>"));
  CHECK_THAT(one_strip({2.01}), !contains(">0.67</text>"));
  CHECK(one_strip({100}).find("<circle cx=\"464\"") != std::string::npos);
  CHECK(one_strip({0.01}).find("<circle cx=\"16\"") != std::string::npos);
  CHECK_THAT(one_strip({100}), contains(">8</text>"));
  CHECK_THAT(one_strip({100}), contains(">0.125</text>"));
}

TEST_CASE("a label stands where the one before leaves 36 units") {
  // At 0.67, 0.8, 0.9, 1, 1.1, 1.25 and 1.5: 18.5 116.7 181.8 240 292.7 363.3 464
  const std::string fine = one_strip({1});
  for (const char* const label : {"0.67", "0.8", "0.9", "1", "1.1", "1.25", "1.5"}) {
    CHECK_THAT(fine, contains("\" class=\"soft middle\">" + std::string(label) + "</text>"));
  }
  // Up to 2.2: 0.8 is at 176.6, 0.9 at 210.1, 1 at 240, 1.1 at 267.1, 1.25 at 303.4.
  const std::string wide = one_strip({2});
  CHECK_THAT(wide, contains(">0.8</text>"));
  CHECK_THAT(wide, !contains(">0.9</text>"));
  CHECK_THAT(wide, contains("soft middle\">1</text>"));
  CHECK_THAT(wide, !contains(">1.1</text>"));
  CHECK_THAT(wide, contains(">1.25</text>"));
}

}  // namespace flashlab::test
