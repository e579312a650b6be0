// Where the pictures have their lines, markers and labels: places computed by hand from the axes
// (frames of 392 units across, logarithmic) for rows with round numbers.
#include <string>
#include <vector>

#include "compare/picture/pictures.hpp"
#include "tests/catch_shim.hpp"
#include "tests/compare/synthetic_row.hpp"
#include "tests/compare/xml_check.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

Row placed_row(const std::string& variant, std::int64_t length) {
  Row row = synthetic_row();
  row.variant = variant;
  row.pass = find_variant(variant).pass;
  row.seqlen_q = row.seqlen_k = length;
  return row;
}

Comparison of_rows(const std::vector<Row>& rows) {
  Comparison comparison;
  comparison.rows = rows;
  return comparison;
}

void check_has(const std::string& svg, const std::vector<const char*>& parts) {
  for (const char* const part : parts) {
    INFO(part);
    CHECK(count_of(svg, part) == 1);
  }
}

/// 1e12 FLOPs in 10 ms over 1e10 bytes: 1e14 FLOP/s at 100 FLOP per byte.
Row roofline_row(const char* dtype) {
  Row row = placed_row("flash2", 4096);
  row.dtype = dtype;
  row.usual_flops = 1'000'000'000'000;
  row.work.dram = {5'000'000'000, 5'000'000'000};
  row.work.sm.reset();
  row.measured = measured_in(10);
  return row;
}

std::string roofline_svg(double slower_roof, const std::vector<Row>& rows) {
  MachineModel machine;
  machine.gpu.name = "GPU";
  machine.dram_copy = Rate{1e13, true};
  machine.products["bf16"] = {1e15, true};
  machine.products["fp16"] = {slower_roof, true};
  const std::vector<Picture> pictures = draw_rooflines(of_rows(rows), machine);
  REQUIRE(pictures.size() == 1);
  return pictures[0].svg;
}

Row timed_row(const std::string& variant, std::int64_t length, double overlap, double roofline) {
  Row row = placed_row(variant, length);
  row.predicted.overlap_ms = overlap;
  row.predicted.roofline_ms = roofline;
  return row;
}

Row spread_row(std::int64_t length, double overlap, double least, double median, double most) {
  Row row = timed_row("flash2", length, overlap, overlap / 2);
  row.measured.emplace();
  row.measured->least_ms = least;
  row.measured->median_ms = median;
  row.measured->most_ms = most;
  return row;
}

std::string only_svg(const std::vector<Picture>& pictures) {
  REQUIRE(pictures.size() == 1);
  return pictures[0].svg;
}

Row stored_row(const std::string& variant, std::int64_t length, std::int64_t tensors,
               std::int64_t workspace) {
  Row row = placed_row(variant, length);
  row.tensor_bytes = tensors;
  row.workspace_bytes = workspace;
  return row;
}

std::vector<Row> stored_rows() {
  return {stored_row("naive", 1024, 600'000, 400'000),
          stored_row("naive", 4096, 15'000'000, 1'000'000),
          stored_row("flash2", 1024, 1'000'000, 0), stored_row("flash2", 4096, 4'000'000, 0),
          stored_row("flash1", 4096, 9'000'000, 0)};  // not among those that are shown
}

Row shared_row(std::int64_t kib, int block_q = 64) {
  Row row = synthetic_row();
  row.steps[0].name = "k";
  row.steps[0].block_q = block_q;
  row.steps[0].block_kv = 32;
  row.steps[0].shared_bytes = kib * 1024;
  return row;
}

std::string shared_svg(const std::vector<Row>& rows, std::int64_t limit_kib) {
  gpu::GpuSpec gpu;
  gpu.name = "G";
  gpu.shared_memory_per_block_bytes = limit_kib * 1024;
  return only_svg(draw_shared_memory(of_rows(rows), gpu));
}

Row bytes_row(std::int64_t counted) {
  Row row = measured_row(1);
  row.work.sm = Traffic{counted, 0};
  row.measured->sm = Traffic{50, 50};
  row.measured->dram.reset();
  return row;
}

}  // namespace

// x from 7.5 / 1.7 to 170, y from 1e14 / 1.7 to 2.9e15 (two roofs); ridges at 90 and 100.
TEST_CASE("labels of nearby roofs stand above each other, of distant ones at their roofs") {
  const std::string near = roofline_svg(9e14, {roofline_row("bf16"), roofline_row("fp16")});
  check_has(near,
            {"<text x=\"464\" y=\"176.1\" class=\"end halo\">fp16 900 TFLOP/s, measured</text>",
             "<text x=\"464\" y=\"155.1\" class=\"end halo\">bf16 1 PFLOP/s, measured</text>"});
  const std::string far = roofline_svg(1e14, {roofline_row("bf16"), roofline_row("fp16")});
  check_has(far,
            {"<text x=\"464\" y=\"167.1\" class=\"end halo\">bf16 1 PFLOP/s, measured</text>"});
}

TEST_CASE("a roof that markers would cross has its name beside it, and the rest in the legend") {
  Row row = roofline_row("bf16");
  row.measured = measured_in(1e3 / 112);  // 112 TFLOP/s, beside the label of a roof of 100
  const std::string svg = roofline_svg(1e14, {row, roofline_row("fp16")});
  // fp16's ridge is at 10 FLOP per byte, in a frame from 7.5 / 12 / 1.7 on.
  CHECK(count_of(svg, ">fp16 100 TFLOP/s, measured</text>") == 1);
  CHECK(count_of(svg, "class=\"end halo\">fp16</text>") == 1);
  CHECK(count_of(svg, "class=\"end halo\">bf16 1 PFLOP/s, measured</text>") == 1);
}

TEST_CASE("roofs begin at their ridge, and memory's line ends at the highest roof") {
  const std::string svg = roofline_svg(9e14, {roofline_row("bf16"), roofline_row("fp16")});
  check_has(svg, {"<line x1=\"397.7\" y1=\"183.1\" x2=\"466\" y2=\"183.1\" class=\"roof\"/>",
                  "<line x1=\"409\" y1=\"174.1\" x2=\"466\" y2=\"174.1\" class=\"roof\"/>",
                  "<line x1=\"104.9\" y1=\"414\" x2=\"409\" y2=\"174.1\" class=\"roof\"/>",
                  "points=\"402.7,183.1 397.7,188.1 392.7,183.1 397.7,178.1\" class=\"marker ink\"",
                  "points=\"414,174.1 409,179.1 404,174.1 409,169.1\" class=\"marker ink\"",
                  "<title>Roofline: forward, 16 bits, d 64, batch 4, 8 heads</title>",
                  ("<desc>Fastest: flash2 in bf16 with 100 TFLOP/s measured at N 4096, 10 % of the "
                   "roof of bf16 1 PFLOP/s, measured.</desc>")});
}

TEST_CASE("the second label of a place stands below its marker") {
  const std::string svg = roofline_svg(9e14, {roofline_row("bf16"), roofline_row("fp16")});
  // The markers are at 409, 369.1; labels 17 above and below, their baselines 5 lower.
  check_has(svg, {"<text x=\"409\" y=\"357.1\" class=\"soft halo middle\">bf16 4k</text>",
                  "<text x=\"409\" y=\"391.1\" class=\"soft halo middle\">fp16 4k</text>",
                  "class=\"thin c0 plain\"", "class=\"thin c0 dash\"", ">flash2</text>"});
  const std::string alone = roofline_svg(9e14, {roofline_row("bf16")});
  CHECK_THAT(alone, contains("class=\"soft halo middle\">4k</text>"));
  CHECK_THAT(alone, !contains("class=\"thin c0 plain\""));
}

TEST_CASE("bytes to the SMs have markers of their own where they are more than a tenth more") {
  for (const std::int64_t bytes : {11'000'000'000, 11'200'000'000}) {
    Row row = roofline_row("bf16");
    row.work.sm = Traffic{bytes, 0};
    const std::string svg = roofline_svg(9e14, {row});
    INFO(bytes);
    CHECK(count_of(svg, "class=\"marker hollow c5\"") == (bytes > 11'000'000'000 ? 1 : 0));
    CHECK(count_of(svg, "class=\"marker filled c5\"") == 2);  // and the legend's
  }
}

// x from 819.2 to 5120, y from 0.3125 to 25.6 ms, 320 units high.
TEST_CASE("a measured time has a bar from the fastest to the slowest run") {
  const std::vector<Row> rows = {spread_row(1024, 1, 1.5, 2, 4), spread_row(4096, 8, 9, 10, 16)};
  const PeerSeries peer{"peer", Pass::kForward, "bf16", 64, false, {{1024, 2}, {4096, 4}}};
  const std::string svg = only_svg(draw_times(of_rows(rows), {peer}));
  check_has(svg, {"<polyline points=\"121.7,319.5 418.3,168.5\" class=\"thin c5\"/>",
                  "<polyline points=\"121.7,369.9 418.3,218.8\" class=\"thin dash c5\"/>",
                  "<line x1=\"121.7\" y1=\"290.1\" x2=\"121.7\" y2=\"218.8\" class=\"series c5\"/>",
                  "<line x1=\"117.7\" y1=\"290.1\" x2=\"125.7\" y2=\"290.1\" class=\"series c5\"/>",
                  "<line x1=\"117.7\" y1=\"218.8\" x2=\"125.7\" y2=\"218.8\" class=\"series c5\"/>",
                  "<line x1=\"418.3\" y1=\"159.9\" x2=\"418.3\" y2=\"118.1\" class=\"series c5\"/>",
                  "<polyline points=\"121.7,269.2 418.3,218.8\" class=\"series dot c7\"/>",
                  "<circle cx=\"121.7\" cy=\"269.2\" r=\"3\" class=\"marker hollow c7\"/>",
                  ">Time over N</text>", "<desc>Measured: at N 4096, flash2 takes 10 ms.</desc>"});
}

TEST_CASE("a single predicted time is a line wider than its marker") {
  const std::string svg = only_svg(draw_times(of_rows({timed_row("flash2", 1024, 1, 0.5)}), {}));
  CHECK(count_of(svg, "class=\"thin c5\"") == 1);
  CHECK(count_of(svg, "class=\"thin dash c5\"") == 1);
  CHECK_THAT(svg, contains("<line x1=\"254\"") && contains(" x2=\"286\""));
}

TEST_CASE("a description compares the fastest and the slowest at the longest N of all") {
  std::vector<Row> rows = {timed_row("naive", 4096, 16, 16), timed_row("flash1", 4096, 12, 12),
                           timed_row("flash2", 4096, 8, 8), timed_row("flash2", 1024, 1, 1)};
  CHECK_THAT(only_svg(draw_times(of_rows(rows), {})),
             contains("<desc>Predicted; nothing was measured: at N 4096, flash2 takes 8 ms and "
                      "naive 16 ms.</desc>"));
  rows.push_back(timed_row("flash1", 8192, 40, 40));
  CHECK_THAT(only_svg(draw_times(of_rows(rows), {})),
             contains("at N 8192, flash1 takes 40 ms.</desc>"));
}

TEST_CASE("a peer of another pass, type, head_dim or mask is left out") {
  const PeerSeries right{"peer", Pass::kForward, "bf16", 64, false, {{1024, 2}}};
  std::vector<PeerSeries> wrong(4, right);
  wrong[0].pass = Pass::kBackward;
  wrong[1].dtype = "fp16";
  wrong[2].head_dim = 128;
  wrong[3].is_causal = true;
  Row row = timed_row("flash2", 1024, 1, 1);
  for (const PeerSeries& peer : wrong) {
    CHECK_THAT(only_svg(draw_times(of_rows({row}), {peer})), !contains(">peer<"));
  }
  CHECK_THAT(only_svg(draw_times(of_rows({row}), {right})), contains(">peer<"));
  row.products = "tf32";
  CHECK_THAT(only_svg(draw_times(of_rows({row}), {right})), !contains(">peer<"));
  row.products = "native", row.mask = "causal";
  CHECK_THAT(only_svg(draw_times(of_rows({row}), {wrong[3]})), contains(">peer<"));
}

// x from 1024 / 1.35 to 4096 x 1.35, times from 0.625 to 12.8 ms, ratios from 1 / 3 to 3.
TEST_CASE("the ratio of two passes to one stands on its side of the line at 1") {
  const std::vector<Row> rows = {
      timed_row("bwd-onepass", 1024, 1, 1), timed_row("bwd-onepass", 4096, 8, 8),
      timed_row("bwd-twopass", 1024, 2, 2), timed_row("bwd-twopass", 4096, 4, 4),
      timed_row("bwd-twopass", 8192, 9, 9), timed_row("bwd-naive", 1024, 5, 5)};
  const std::string svg = only_svg(draw_passes(of_rows(rows)));
  check_has(svg, {"<line x1=\"74\" y1=\"429\" x2=\"466\" y2=\"429\" class=\"ink\"/>",
                  "<line x1=\"133.2\" y1=\"429\" x2=\"133.2\" y2=\"394.3\" class=\"series c9\"/>",
                  "<line x1=\"406.8\" y1=\"429\" x2=\"406.8\" y2=\"463.7\" class=\"series c9\"/>",
                  "<text x=\"133.2\" y=\"385.3\" class=\"halo middle\">2</text>",
                  "<text x=\"406.8\" y=\"483.7\" class=\"halo middle\">0.5</text>",
                  "<circle cx=\"133.2\" cy=\"394.3\" r=\"4\" class=\"marker filled c9\"/>",
                  "<polyline points=\"133.2,286.6 406.8,121.4\" class=\"thin c8\"/>",
                  "<polyline points=\"133.2,231.5 406.8,176.5\" class=\"thin dash c9\"/>",
                  ("<desc>Predicted; nothing was measured: at N 4096 one pass takes 8 ms and two "
                   "passes take 4 ms, 0.5 times as long.</desc>")});
  CHECK(draw_passes(of_rows({rows[0], rows[3]})).empty());  // no N has both
}

TEST_CASE("measured passes are compared alone, and equal ones have their ratio above") {
  std::vector<Row> rows = {timed_row("bwd-onepass", 1024, 1, 1),
                           timed_row("bwd-twopass", 1024, 2, 2)};
  rows[0].measured = measured_in(3);
  rows[1].measured = measured_in(3);
  const std::string svg = only_svg(draw_passes(of_rows(rows)));
  CHECK_THAT(svg, contains("<desc>Measured: at N 1024 one pass takes 3 ms and two passes take 3 "
                           "ms, 1 times as long.</desc>"));
  CHECK_THAT(svg, contains("<text x=\"270\" y=\"420\" class=\"halo middle\">1</text>"));
}

// x from 819.2 to 5120, y from 625 kB to 25.6 MB, 280 units high.
TEST_CASE("lines of memory are tensors and workspace of three variants") {
  const std::vector<Picture> pictures = draw_memory(of_rows(stored_rows()));
  REQUIRE(pictures.size() == 2);
  CHECK(pictures[0].name == "memory_forward_bf16_d64");
  check_has(pictures[0].svg,
            {"<polyline points=\"121.7,328.6 418.3,119.4\" class=\"series c0\"/>",
             "<polyline points=\"121.7,328.6 418.3,224\" class=\"series c5\"/>",
             "<circle cx=\"418.3\" cy=\"119.4\" r=\"8\" class=\"marker filled c0\"/>",
             "<desc>naive takes 16 MB at N 4096; flash2 takes 4 MB at N 4096.</desc>"});
  CHECK(draw_memory(of_rows({stored_rows()[0], stored_rows()[1]})).empty());  // one line
}

TEST_CASE("squares of memory stand side by side on one line, the largest 220 high") {
  const std::vector<Picture> pictures = draw_memory(of_rows(stored_rows()));
  REQUIRE(pictures.size() == 2);
  check_has(pictures[1].svg,
            {"<rect x=\"10\" y=\"62\" width=\"220\" height=\"220\" class=\"filled c0\"/>",
             "<rect x=\"244\" y=\"172\" width=\"110\" height=\"110\" class=\"filled c5\"/>",
             "<rect x=\"10\" y=\"295\" width=\"12\" height=\"12\" class=\"filled c0\"/>",
             "<text x=\"32\" y=\"307\">naive: 16 MB</text>",
             "<text x=\"32\" y=\"331\">flash2: 4 MB, 1/4</text>", "viewBox=\"0 0 480 349\"",
             "<desc>naive: 16 MB; flash2: 4 MB.</desc>"});
  CHECK_THAT(pictures[1].svg, contains("from left to right as listed</text>"));
  // The longest N that both have. Two equal squares may be 223 wide, but 220 high.
  std::vector<Row> rows = stored_rows();
  rows[3] = stored_row("flash2", 2048, 4'000'000, 0);
  const std::string shorter = draw_memory(of_rows(rows)).at(1).svg;
  CHECK_THAT(shorter, contains(">Memory at N 1024, areas to scale</text>"));
  CHECK_THAT(shorter, contains("<rect x=\"244\" y=\"62\" width=\"220\" height=\"220\""));
}

TEST_CASE("memory that a mask does not change is drawn once") {
  std::vector<Row> rows = stored_rows();
  for (const Row& row : stored_rows()) {
    rows.push_back(row);
    rows.back().mask = "causal";
  }
  CHECK(draw_memory(of_rows(rows)).size() == 2);
  rows.back().tensor_bytes = 1;  // flash1 is not shown
  CHECK(draw_memory(of_rows(rows)).size() == 2);
  rows[rows.size() - 2].tensor_bytes = 8'000'000;
  CHECK(draw_memory(of_rows(rows)).size() == 4);
  rows[rows.size() - 2].tensor_bytes = -1;
  CHECK(draw_memory(of_rows(rows)).size() == 4);  // without that row
}

// 298 units for 226 KiB.
TEST_CASE("a block's shared memory is a bar in proportion, with the limits beside it") {
  const std::string svg = shared_svg({shared_row(113)}, 226);
  check_has(svg, {"<rect x=\"132\" y=\"94\" width=\"149\" height=\"15\" class=\"filled c5\"/>",
                  "<text x=\"10\" y=\"86\" class=\"halo\">k</text>",
                  "<text x=\"124\" y=\"107\" class=\"soft end\">d 64, 64×32</text>",
                  "<text x=\"287\" y=\"107\" class=\"halo\">113</text>",
                  "<line x1=\"262.5\" y1=\"66\" x2=\"262.5\" y2=\"191\" class=\"ink dash\"/>",
                  "<text x=\"266.5\" y=\"210\" class=\"end\">8.6, 8.9: 99</text>",
                  "<line x1=\"430\" y1=\"66\" x2=\"430\" y2=\"191\" class=\"roof\"/>",
                  "<text x=\"434\" y=\"210\" class=\"end\">G: 226</text>",
                  ("<text x=\"10\" y=\"137\" class=\"halo\">the Pallas post&#39;s own sums, "
                   "hatched</text>"),
                  "viewBox=\"0 0 480 224\"", ">73</text>", ">129</text>",
                  "<desc>The largest is k, d 64, 64×32, with 113 KiB; G has 226 KiB.</desc>"});
}

TEST_CASE("a limit of 99 KiB is drawn once, and a bar beyond it sets the scale") {
  const std::string svg = shared_svg({shared_row(258), shared_row(258, 0), shared_row(0)}, 99);
  CHECK_THAT(svg, !contains(">G: 99<"));
  CHECK_THAT(svg, contains("width=\"298\" height=\"15\" class=\"filled c5\""));
  CHECK_THAT(svg, contains("width=\"149\" height=\"15\" class=\"hatched\""));  // 129
  CHECK(count_of(svg, "class=\"filled c5\"") == 2);
  CHECK_THAT(svg, contains(">d 64</text>"));  // without a tile
  CHECK_THAT(svg, contains("<desc>The largest is k, d 64, with 258 KiB; G has 99 KiB.</desc>"));
  CHECK_THAT(shared_svg({shared_row(258)}, 0), contains("with 258 KiB.</desc>"));
  CHECK(draw_shared_memory(of_rows({shared_row(0)}), {}).empty());
}

TEST_CASE("bytes within five per cent are counted, the ends among them") {
  std::vector<Row> rows;
  for (const std::int64_t counted : {94, 95, 100, 105, 106}) rows.push_back(bytes_row(counted));
  const std::vector<Picture> pictures = draw_bytes(of_rows(rows));
  REQUIRE(pictures.size() == 2);  // no DRAM
  CHECK(pictures[0].name == "bytes");
  CHECK(pictures[1].name == "byte_ratios_sm");
  CHECK_THAT(pictures[0].svg, contains("Between L2 and the multiprocessors, 3 of 5 rows"));
  CHECK(count_of(pictures[0].svg, "class=\"marker hollow c5\"") == 5);
  CHECK_THAT(pictures[1].svg, contains("flash2 3 of 5."));
  for (Row& row : rows) {
    row.measured->sm.reset();
    row.measured->dram = row.work.dram;
  }
  const std::vector<Picture> dram = draw_bytes(of_rows(rows));
  REQUIRE(dram.size() == 2);
  CHECK(dram[1].name == "byte_ratios_dram");
  CHECK(count_of(dram[0].svg, "class=\"marker filled c5\"") == 5 + 1);  // one in the legend
}

}  // namespace flashlab::test
