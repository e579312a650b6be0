// The page of a timeline, and its JSON.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/trace/browser.hpp"
#include "toymachine/timeline/timeline_json.hpp"

namespace flashlab::toy {
namespace {

using nlohmann::json;
using test::contains;

constexpr const char* kLoop =
    ".isa softmax\n.input x[3]\n.output o[3]\nfor i in 0..3\n  LOAD x[i], R0 ; next\n"
    "  EXP R0, R1\n  STORE R1, o[i]\nend\n";

std::vector<Timeline> timelines_of(const BoundProgram& program, std::uint64_t most = 1000) {
  TimelineOptions options;
  REQUIRE(options.costs.parse("LOAD=4,EXP=3"));
  options.to = INT64_MAX;
  options.max_intervals = most;
  auto result = simulate(program, options);
  REQUIRE(result);
  return std::move(*result);
}

std::string page(const std::string& text, std::uint64_t most = 1000) {
  const BoundProgram program = test::bound(text);
  std::ostringstream out;
  write_timeline_page(program, timelines_of(program, most), out);
  return out.str();
}

json drive_timeline(const std::string& text, int width = 1280) {
  return test::drive(page(text), "toymachine/timeline/timeline_page_test.js", width);
}

TEST_CASE("a timeline's JSON has sums by unit, instruction and line", "[timeline]") {
  const BoundProgram program = test::bound(kLoop);
  const json all = json::parse(timeline_json(program, timelines_of(program), true));
  CHECK(all["instructions"][0]["text"] == "LOAD x[i], R0");
  CHECK(all["instructions"][0]["line"] == 5);
  const json& serial = all["models"][0];
  CHECK(serial["model"] == "serial");
  CHECK(serial["buffers"] == nullptr);
  CHECK(serial["cycles"] == 24);
  CHECK(serial["by_op"] == json{{"LOAD", 12}, {"STORE", 3}, {"EXP", 9}});
  const json& two = all["models"][2];
  CHECK(two["buffers"] == 2);
  CHECK(two["memory"] == json{{"busy", 15}, {"data", 9}, {"buffer", 0}, {"idle", 0}});
  CHECK(two["by_site"][2] == json{{"site", 2}, {"busy", 3}, {"data", 9}, {"buffer", 0}});
  CHECK(two["intervals"][0] == json{{"unit", "memory"},
                                    {"cause", "busy"},
                                    {"start", 0},
                                    {"end", 4},
                                    {"step", 1},
                                    {"site", 0}});
  const json sums = json::parse(timeline_json(program, timelines_of(program), false));
  CHECK_FALSE(sums["models"][0].contains("intervals"));
}

TEST_CASE("elision keeps three iterations of each loop, and the lanes have no holes",
          "[timeline]") {
  const BoundProgram program = test::bound(
      ".isa softmax\n.registers 2\n.input x[9]\n.output o[9]\nLOAD x[0], R0\nEXP R0, R1\nfor i in "
      "0..9\n"
      "  for j in 0..i\n    LOAD x[j], R0\n    EXP R0, R1\n  end\n  STORE R1, o[i]\nend\n");
  TimelineOptions options;
  REQUIRE(options.costs.parse("LOAD=4,EXP=3"));
  options.to = INT64_MAX;
  const auto whole = simulate(program, options);
  options.elide = true;
  const auto elided = simulate(program, options);
  REQUIRE(whole);
  REQUIRE(elided);
  for (std::size_t model = 0; model < whole->size(); ++model) {
    const Timeline &all = (*whole)[model], &few = (*elided)[model];
    CHECK(few.units == all.units);
    CHECK(few.sites == all.sites);
    CHECK(few.intervals.size() < all.intervals.size() / 2);
    std::array<std::int64_t, kNumUnits> ends{};
    std::uint64_t steps = 0;
    for (const TimelineInterval& one : few.intervals) {
      std::int64_t& end = ends[static_cast<std::size_t>(one.unit)];
      CHECK(one.start == end);
      end = one.end;
      steps += one.num_elided;
      if (one.is_elided) continue;
      if (one.cause == Cause::kBusy) ++steps;
      CHECK(std::any_of(all.intervals.begin(), all.intervals.end(), [&](const auto& same) {
        return same.unit == one.unit && same.start == one.start && same.end == one.end &&
               same.step == one.step && same.cause == one.cause;
      }));
    }
    CHECK(ends[0] == all.cycles);
    CHECK(ends[1] == all.cycles);
    CHECK(steps == 2 + 9 + 2 * 36);
    CHECK_FALSE(few.intervals.back().is_elided);  // the last iteration
  }
  const json serial = json::parse(timeline_json(program, *elided, true))["models"][0]["intervals"];
  const auto gap = std::find_if(serial.begin(), serial.end(),
                                [](const json& one) { return one["cause"] == "elided"; });
  REQUIRE(gap != serial.end());
  CHECK((*gap)["steps"].get<int>() > 0);
  CHECK_FALSE(gap->contains("site"));
}

TEST_CASE("every instruction has a letter of its own in lanes, products share one", "[timeline]") {
  std::set<char> letters;
  std::size_t products = 0;
  for (std::size_t row = 0; row < instruction_set().size(); ++row) {
    letters.insert(instruction_letters()[row]);
    products += instruction_set()[row].flop_kind == FlopKind::kProduct ? 1U : 0U;
  }
  CHECK(letters.size() == instruction_set().size() - products + 1);
  CHECK(!letters.contains(' '));
}

TEST_CASE("a timeline's page asks for nothing outside of it", "[timeline]") {
  std::string text = page(kLoop);
  const std::string name = "http://www.w3.org/2000/svg";  // an SVG element's name, not an address
  text.erase(text.find(name), name.size());
  for (const char* outside : {"http:", "https:", "//cdn", " src=", "@import", "<link"}) {
    INFO(outside);
    CHECK(text.find(outside) == std::string::npos);
  }
  CHECK_THAT(text, contains("default-src 'none'"));
}

TEST_CASE("a timeline's page shows lanes, sums and lines, and obeys keys", "[timeline]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_timeline(kLoop);
  CHECK(report["errors"] == json::array());
  CHECK(report["figures"] ==
        json{"Serial24 cycles", "Overlap, 1 buffer24 cycles", "Overlap, 2 buffers24 cycles"});
  CHECK(report["captions"][0] == "memory: busy 62.5\u00a0%, idle 37.5\u00a0%");
  CHECK(report["legend"] ==
        json{"LLOAD", "EEXP", "SSTORE", "waits for data", "waits for a register in use"});
  CHECK(report["lines"][2] == json{"7", "STORE R1, o[i]", "3", "9", "–"});
  CHECK(report["first"] == "Serial, memory, cycles 0 to 4 (4): LOAD x[i], R0, step 1, line 5");
  CHECK(report["second"] == "Serial, memory, cycles 4 to 7 (3): nothing to do");
  CHECK(report["below"] == "Serial, compute, cycles 4 to 7 (3): EXP R0, R1, step 2, line 6");
  CHECK(report["chosen"] == 3);
  CHECK(report["line"] == "6EXP R0, R1914–");
  CHECK_THAT(report["lowest"].get<std::string>(), contains("Overlap, 2 buffers, compute"));
  CHECK_THAT(report["last"].get<std::string>(), contains("nothing to do"));
  CHECK(report["fewer"] == true);
  CHECK(report["same"] == true);
  CHECK_THAT(report["clicked"].get<std::string>(), contains("LOAD x[i], R0, step 1"));
  CHECK(report["serialLines"] == json{"–", "–", "–"});
}

TEST_CASE("a timeline's page says where iterations are not shown, and begins before them",
          "[timeline]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const BoundProgram program = test::bound(
      ".isa softmax\n.input x[2000]\n.output o[2000]\nfor i in 0..2000\n  LOAD x[i], R0\n"
      "  EXP R0, R1\n  STORE R1, o[i]\nend\n");
  TimelineOptions options;
  options.to = INT64_MAX;
  options.elide = true;
  const auto timelines = simulate(program, options);
  REQUIRE(timelines);
  std::ostringstream out;
  write_timeline_page(program, *timelines, out);
  const json report = test::drive(out.str(), "toymachine/timeline/timeline_page_test.js", 1280);
  CHECK(report["errors"] == json::array());
  CHECK(report["legend"].back() == "⋯iterations that are not shown");
  CHECK_THAT(report["last"].get<std::string>(), contains("step 6 000") || contains("nothing"));
  // Of 2 x 2000 steps of the memory port.
  CHECK_THAT(report["elided"].get<std::string>(),
             contains("memory") && contains("3\u202f994 steps of iterations that are not shown"));
}

TEST_CASE("hostile text stays text in a timeline's page, and it never scrolls sideways",
          "[timeline]") {
  const std::string hostile =
      "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><!--";
  const std::string text = "; " + hostile + std::string(300, 'm') + "\n" + kLoop;
  CHECK(page(text).find(hostile) == std::string::npos);
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  for (const int width : {1280, 500}) {  // headless windows are at least 500 wide
    const json report = drive_timeline(text, width);
    CHECK(report["errors"] == json::array());
    CHECK(report["title"] == hostile + std::string(300, 'm'));
    CHECK(report["hacked"] == nullptr);
    CHECK(report["images"] == 0);
    CHECK(report["widest"] == 0);
  }
}

}  // namespace
}  // namespace flashlab::toy
