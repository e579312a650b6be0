// The player on traces of programs that ran: tiles, and the timeline of the same run.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/trace/browser.hpp"
#include "tests/toymachine/trace/trace_program.hpp"
#include "toymachine/timeline/timeline_json.hpp"
#include "toymachine/trace/trace_html.hpp"
#include "toymachine/trace/trace_json.hpp"

namespace flashlab::toy {
namespace {

using nlohmann::json;
using test::contains;

// Two tiles, the last one ragged; inputs are 1, 2, 3, ...
constexpr const char* kTiledProgram =
    ".isa attention\n.input a(3, 2) tile (2, 2)\n.output c(3, 2) tile (2, 2)\n.reg A, X[2]\n"
    "for i in 0..tiles(a)\n  LOAD a[i][0], A\n  ADD A, A, X[i]\n  STORE X[i], c[i][0]\n"
    "  ATOMIC_ADD A, c[i][0]\nend\n";

// S = A B^T in tiles of 2 x 2; the comments in front fill the program's box.
const std::string kPairs =
    []() {
      std::string text;
      for (int line = 0; line < 40; ++line) text += "; about the program\n";
      return text;
    }() +
    ".isa attention\n.input a(4, 2) tile (2, 2)\n.input b(4, 2) tile (2, 2)\n"
    ".output c(4, 4) tile (2, 2)\n.reg A, B, S, P, M, X\nFILL 0.5, X\n"
    "for i in 0..tiles(a)\n  LOAD a[i][0], A\n  MUL A, X, A\n"
    "  for j in 0..tiles(b)\n    LOAD b[j][0], B\n    MAC_Z A, B^T, S\n    ROWMAX S, M\n"
    "    SUB S, M, S\n    EXP S, P\n    STORE P, c[i][j]\n  end\nend\n";

// As in docs/timeline.md, with its costs: 64 cycles, and 37 with a second buffer.
constexpr const char* kSum =
    ".isa softmax\n.input x[8]\n.output total[1]\nLOAD x[0], R0\nEXP R0, R1\n"
    "for i in 1..8\n  LOAD x[i], R0\n  EXP R0, R0\n  ADD R1, R0, R1\nend\nSTORE R1, total[0]\n";

using Edit = std::function<void(json& timeline)>;

std::string page_of_run(const std::string& text, const TraceOptions& options = {},
                        const Edit& edit = {}) {
  const BoundProgram program = test::bound(text);
  TraceJsonOptions json_options;
  REQUIRE(json_options.costs.parse(program.tiled ? "LOAD=4+1/element" : "LOAD=4,EXP=3"));
  std::ostringstream out;
  TraceHtmlBuffer buffer(out);
  std::ostream trace(&buffer);
  const auto sink = make_trace_json(trace, json_options);
  REQUIRE(test::run_trace(program, *sink, options));
  trace.flush();
  json timeline =
      json::parse(timeline_of_steps_json(program, json_options.costs, options.from, options.to));
  if (edit) edit(timeline);
  REQUIRE(buffer.finish(timeline.dump()));
  return out.str();
}

/// What player_run_test.js found in a page.
json drive_run(const std::string& page, int width = 1280) {
  json report = test::drive(page, "toymachine/trace/player_run_test.js", width);
  CHECK(report["errors"] == json::array());
  CHECK(report["differing"] == json::array());
  CHECK(report["widest"] == 0);
  return report;
}

}  // namespace

TEST_CASE("the player shows tiles under their registers' names", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kTiledProgram));
  const json& steps = report["steps"];
  CHECK(steps[3]["names"] == json{"A", "X[0]", "X[1]"});
  CHECK(steps[3]["shapes"] == json{"2 × 2", "2 × 2", ""});
  CHECK(steps[3]["tiles"] == json{"1 2/3 4", "2 4/6 8", ""});
  CHECK(steps[5]["shapes"][0] == "1 × 2");
  CHECK(steps[5]["tiles"][0] == "5 6");
  CHECK(steps[1]["symbols"] == json{"a₀₀", "empty", "empty"});
  CHECK(steps[1]["effect"] == "A = a₀₀ = 2 × 2 [1 2; 3 4]");
  CHECK(steps[1]["row"] == "1LOAD a[0][0], AA = a₀₀a₀₀");
  CHECK(report["heads"] == json{"Step", "Instruction", "Makes", "A", "X[0]", "X[1]"});
}

TEST_CASE("the player says what a step makes from what, and explains the names", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kPairs));
  const json& steps = report["steps"];
  CHECK(steps[5]["effect"] == "S = a₀₀·0.5·b₀₀ᵀ = 2 × 2 [14.5 17.5; 33.5 40.5]");
  CHECK(steps[5]["symbols"][2] == "S@5");
  CHECK(steps[5]["made"][2] == "= a₀₀·0.5·b₀₀ᵀ");
  CHECK_THAT(steps[8]["effect"].get<std::string>(), contains("P = e^(") && contains("S@5"));
  CHECK_THAT(steps[8]["explained"].dump(), contains("S@5 is what step 5 put into S: a₀₀·0.5·b₀₀ᵀ"));
  CHECK(steps[1]["explained"] == json::array());
  CHECK(report["jumps"]["name"] == "Step 3 of 29");  // A@3 in what step 7 makes
}

TEST_CASE("of a register that was renamed the player says which step made it, from what",
          "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report =
      drive_run(page_of_run(".isa softmax\n.input x[2]\n.reg M, X\nLOAD x[0], M\nEXP M, M\n"
                            "LOAD x[1], X\n.name M = m\nADD M, X, X\n"));
  CHECK(report["steps"][2]["symbols"][0] == "e^x₀");
  CHECK(report["steps"][2]["made"][0] == "");
  CHECK(report["steps"][4]["symbols"][0] == "m");
  CHECK(report["steps"][4]["made"][0] == "step 2: e^x₀");
}

TEST_CASE("the player shows which part of which array a register holds", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kPairs));
  const json& steps = report["steps"];
  // A, B, S, P, M, X
  CHECK(steps[3]["places"] == json{"a rows 0 to 1", "", "", "", "", ""});
  CHECK(steps[8]["places"] == json{"a rows 0 to 1", "b rows 0 to 1",
                                   "for a rows 0 to 1 × b rows 0 to 1",
                                   "for a rows 0 to 1 × b rows 0 to 1", "for a rows 0 to 1", ""});
  CHECK(steps[8]["maps"] == steps[8]["places"]);
  CHECK(steps[28]["places"][3] == "for a rows 2 to 3 × b rows 2 to 3");
}

TEST_CASE("the player shows which tile meets which, and which have met", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kPairs));
  const json& steps = report["steps"];
  CHECK(steps[0]["grids"] == json{"a × b  none has met yet0 of 4 pairs have met"});
  CHECK(steps[5]["grids"] == json{"a × b  a rows 0 to 1 with b rows 0 to 11 of 4 pairs have met"});
  CHECK(steps[5]["pairs"] == json{{{"numbers", "1"}, {"now", 1}, {"last", 0}}});
  CHECK(steps[10]["grids"] ==  // LOAD b[1][0]: the pair of the last product
        json{"a × b  last: a rows 0 to 1 with b rows 0 to 11 of 4 pairs have met"});
  CHECK(steps[10]["pairs"] == json{{{"numbers", "1"}, {"now", 0}, {"last", 1}}});
  CHECK(steps[13]["pairs"] == json{{{"numbers", "1 2"}, {"now", 1}, {"last", 0}}});  // SUB S
  CHECK(steps[28]["pairs"][0]["numbers"] == "1 2 3 4");
  CHECK(report["jumps"]["pairs"] == json{"Step 5 of 29", "Step 11 of 29", "Step 5 of 29"});
}

TEST_CASE("each pass has pairs of its own in the player", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const std::string round = "  LOAD a[i][0], A\n  LOAD b[i][0], B\n  MAC_Z A, B^T, S\nend\n";
  const json report = drive_run(page_of_run(
      ".isa attention\n.input a(4, 2) tile (2, 2)\n.input b(4, 2) tile (2, 2)\n.reg A, B, S, P, X\n"
      ".pass Forth\nfor i in 0..2\n" +
      round + ".pass Back\nfor i in 0..1\n" + round));
  const json& steps = report["steps"];
  CHECK(steps[6]["grids"] == json{"a × b  a rows 2 to 3 with b rows 2 to 32 of 4 pairs have met"});
  CHECK(steps[7]["grids"] == json{"a × b  none has met yet0 of 4 pairs have met"});
  CHECK(steps[9]["grids"] == json{"a × b  a rows 0 to 1 with b rows 0 to 11 of 4 pairs have met"});
}

TEST_CASE("before the first step the player's program shows the line that comes", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  for (const int width : {1280, 500}) {
    const json report = drive_run(page_of_run(kPairs), width);
    CHECK(report["steps"][0]["nextLine"] == "46");  // 40 comments and five declarations
    for (const json& step : report["steps"]) CHECK(step["inSight"] == true);
    CHECK_FALSE(report["steps"][1].contains("nextLine"));
    CHECK(report["covered"] == 0);
    if (width == 500) CHECK(report["barHeight"] < 120);
  }
}

TEST_CASE("the player marks and changes all elements of a tile in DRAM", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kTiledProgram));
  const auto cells = [&](std::size_t step, const char* array) {
    return report["steps"][step]["cells"][array];
  };
  const std::string none = "· not written yet";
  CHECK(cells(1, "a") == json{"1 read", "2 read", "3 read", "4 read", "5", "6"});
  CHECK(cells(3, "c") == json{"2 written", "4 written", "6 written", "8 written", none, none});
  CHECK(cells(4, "c") == json{"3 read, written", "6 read, written", "9 read, written",
                              "12 read, written", none, none});
  CHECK(cells(5, "a") == json{"1", "2", "3", "4", "5 read", "6 read"});
  CHECK(cells(7, "c") == json{"3", "6", "9", "12", "10 written", "12 written"});
  CHECK(cells(8, "c")[5] == "18 read, written");
  CHECK(report["counters"]["Atomics"] == "2");
  CHECK(report["counters"]["Loads"] == "2");
  CHECK(report["counters"]["Cycles"] == "20");  // loads 4 + 4 and 4 + 2, all else 1
  CHECK(report["serial"] == "Serial20 cycles");
}

TEST_CASE("the player shows the beginning of a large tile", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(
      page_of_run(".isa attention\n.input a(9, 9) tile (9, 9)\n.output c(9, 9) tile (9, 9)\n"
                  "LOAD a[0][0], R0\nSTORE R0, c[0][0]\n"));
  CHECK(report["steps"][1]["shapes"][0] == "9 × 9");
  CHECK(report["steps"][1]["tiles"][0] == "1 2 3 …/10 11 12 …/19 20 21 …/⋮");
}

TEST_CASE("a trace's page shows where its steps stand in the timeline", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kSum));
  CHECK(report["models"] == json{"Serial", "Overlap, 1 buffer", "Overlap, 2 buffers"});
  CHECK(report["model"] == "Overlap, 2 buffers37 cycles");
  CHECK(report["steps"][0]["marked"] == 0);
  for (std::size_t step = 1; step < report["steps"].size(); ++step) {
    INFO("step " << step);
    CHECK(report["steps"][step]["marked"] == 1);
  }
  CHECK(report["steps"][3]["detail"] ==
        "LOAD x[i], R0: memory, cycles 4 to 8 (4); meanwhile compute: EXP R0, R1");
  CHECK(report["steps"][2]["detail"] ==
        "EXP R0, R1: compute, cycles 4 to 7 (3); before that it waits for data (4); meanwhile "
        "memory: LOAD x[i], R0");
  CHECK(report["clicked"] == "Step 3 of 24");
  CHECK(report["clickedWait"] == "Step 24 of 24");  // the step that waits
}

TEST_CASE("the player's timeline tells why a second buffer pays", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_run(page_of_run(kSum));
  CHECK(report["causes"] == json{"Serial: 64 cycles", "memory 51.6 % – – 48.4 %",
                                 "compute 48.4 % – – 51.6 %", "Overlap, 1 buffer: 64 cycles",
                                 "memory 51.6 % 6.3 % 42.2 % –", "compute 48.4 % 50.0 % – 1.6 %",
                                 "Overlap, 2 buffers: 37 cycles", "memory 89.2 % 10.8 % – –",
                                 "compute 83.8 % 13.5 % – 2.7 %"});
  for (const json& sum : report["sums"]) CHECK(std::abs(sum.get<double>() - 100) < 0.2);
  CHECK(report["verdict"] ==
        "Double buffering saves 27 of 64 cycles: waiting for registers in use takes 0 "
        "cycles instead of 27.");
  CHECK(report["serial"] == "Serial64 cycles");
  CHECK(report["serialRows"] == "Serial: 64 cycles");
  CHECK(report["serialMarked"] == 1);
  CHECK(report["note"] == "");
}

TEST_CASE("a part of a trace has that part of the timeline, and says so", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  TraceOptions part;
  part.from = 5;
  part.to = 9;
  const json report = drive_run(page_of_run(kSum, part));
  CHECK(report["steps"].size() == 6);
  for (std::size_t step = 1; step < 6; ++step) CHECK(report["steps"][step]["marked"] == 1);
  CHECK_THAT(report["note"].get<std::string>(), contains("whole run"));
}

TEST_CASE("the player says where its lanes were cut, and why there are none", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json cut = drive_run(page_of_run(kSum, {}, [](json& timeline) {
    for (json& model : timeline["models"]) {
      json& intervals = model["intervals"];
      model["intervals_left_out"] = intervals.size() - 5;
      intervals.erase(intervals.begin() + 5, intervals.end());
    }
  }));
  CHECK_THAT(cut["steps"][20]["detail"].get<std::string>(),
             contains("The lanes end before this step"));
  CHECK_THAT(cut["note"].get<std::string>(), contains("the page holds 5 stretches of each model"));
  const json none = drive_run(page_of_run(kSum, {}, [](json& timeline) {
    timeline = {{"missing", "<b>why</b>"}};
  }));
  CHECK(none["note"] == "There is none: <b>why</b>.");
  CHECK_FALSE(none.contains("models"));
}

TEST_CASE("the player's tiles and lanes fit a narrow page", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  CHECK(drive_run(page_of_run(kTiledProgram), 500)["steps"].size() == 9);
}

TEST_CASE("no markup of a timeline reaches the trace's page", "[player]") {
  const std::string hostile = "; </script><script>alert(1)</script><!--\n";
  const std::string page = page_of_run(hostile + kSum);
  CHECK(page.find("<script>alert") == std::string::npos);
  const std::string plain = page_of_run(kSum);
  CHECK(std::count(page.begin(), page.end(), '<') == std::count(plain.begin(), plain.end(), '<'));
}

TEST_CASE("a timeline beside a trace keeps to its steps and to the page's limit", "[timeline]") {
  const BoundProgram program = test::bound(kSum);
  const json part = json::parse(timeline_of_steps_json(program, {}, 5, 9));
  for (const json& model : part["models"]) {
    CHECK_FALSE(model["intervals"].empty());
    for (const json& interval : model["intervals"]) {
      const std::uint64_t step = interval.value("step", std::uint64_t{5});
      CHECK((step >= 5 && step <= 9));
    }
  }
  const BoundProgram longer = test::bound(
      ".isa softmax\n.param n = 10000\n.input x[1]\n"
      "for i in 0..n\n  LOAD x[0], R0\n  EXP R0, R1\nend\n");
  const json cut = json::parse(timeline_of_steps_json(longer, {}, 1, UINT64_MAX));
  CHECK(cut["models"][0]["intervals"].size() == kPageIntervals);
  CHECK(cut["models"][0]["intervals_left_out"] > 0);
  CHECK(cut["models"][0]["cycles"] == 20'000);
  const BoundProgram longest =
      test::bound(".isa softmax\n.input x[1]\nfor i in 0..30000000\n  LOAD x[0], R0\nend\n");
  const json missing = json::parse(timeline_of_steps_json(longest, {}, 1, 10));
  CHECK(missing["missing"] == "a run of 30000000 steps is too long for a timeline in its page");
}

}  // namespace flashlab::toy
