// The page that write_html makes: its text here, its behaviour in a headless browser where one is.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/trace/browser.hpp"
#include "toymachine/trace/trace_html.hpp"

namespace flashlab::toy {
namespace {

using nlohmann::json;
using test::contains;

/// c00 of a 2 x 2 product, as the trace of matmul_c00.toy would be; `name` is the hostile one's
/// door.
std::string c00_trace(const std::string& name = "c00 & friends") {
  const auto load = [](int step, const char* array, int row, int column, int number, double value) {
    const std::string cell = array + std::to_string(row) + std::to_string(column);
    return json{{"step", step},
                {"line", step + 1},
                {"pass", 0},
                {"loops", {{"k", step / 4}}},
                {"instruction", "LOAD " + cell + ", R" + std::to_string(number)},
                {"op", "LOAD"},
                {"reads", {{{"array", array}, {"index", {row, column}}}}},
                {"register_reads", json::array()},
                {"writes", {{"register", number}, {"value", value}, {"symbol", cell}}}};
  };
  json product = load(3, "a", 0, 0, 2, 0.25);
  product.update({{"instruction", "MAC_Z R0, R1, R2"}, {"op", "MAC_Z"}, {"reads", json::array()}});
  product["register_reads"] = {0, 1};
  product["writes"]["symbol_unicode"] = "a₀₀·b₀₀";
  json sum = product;
  sum.update({{"step", 6}, {"line", 7}, {"instruction", "MAC R0, R1, R2, R2"}, {"op", "MAC"}});
  sum["register_reads"] = {0, 1, 2};
  sum["writes"] = {{"register", 2}, {"value", "-inf"}, {"symbol", name}};
  const json label = {{"label", true}, {"line", 8},       {"after_step", 6},
                      {"register", 2}, {"symbol", "c00"}, {"symbol_unicode", "c₀₀"},
                      {"claim", true}};
  json store = load(7, "c", 0, 0, 0, 0);
  store.update({{"line", 9}, {"pass", 1}, {"instruction", "STORE R2, c[0][0]"}, {"op", "STORE"}});
  store["reads"] = json::array();
  store["register_reads"] = {2};
  store["writes"] = {{"array", "c"}, {"index", {0, 0}}, {"value", "-inf"}, {"symbol", name}};
  const auto array = [](const char* id, const char* role, int offset, json initial) {
    return json{{"name", id},
                {"role", role},
                {"shape", {2, 2}},
                {"offset", offset},
                {"initial", std::move(initial)}};
  };
  const json steps = {load(1, "a", 0, 0, 0, 0.5),
                      load(2, "b", 0, 0, 1, 0.5),
                      product,
                      load(4, "a", 0, 1, 0, -1),
                      load(5, "b", 1, 0, 1, 1e-7),
                      sum,
                      label,
                      store};
  return json{{"flashlab", "trace"},
              {"version", 1},
              {"program", name},
              {"title", name},
              {"source", std::vector<std::string>(9, "LOAD a[0][0], R0 ; " + name)},
              {"params", {{"n", 2}}},
              {"isa", "matmul"},
              {"num_registers", 3},
              {"arrays",
               {array("a", "input", 0, {0.5, -1, 0, 0}), array("b", "input", 4, {0.5, 0, 1e-7, 0}),
                array("c", "output", 8, {nullptr, nullptr, nullptr, nullptr})}},
              {"passes", {name, "Store"}},
              {"costs", {{"LOAD", 10}}},
              {"symbols", true},
              {"steps", steps},
              {"complete", true}}
      .dump();
}

std::string page_of_trace(const std::string& trace) {
  std::istringstream in(trace);
  std::ostringstream out;
  const auto entries = write_html(in, out);
  INFO((entries ? "" : entries.diagnostics.front().what));
  REQUIRE(entries);
  return out.str();
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// What player_test.js found in the page of this trace.
json drive_player(const std::string& trace, int width = 1280) {
  return test::drive(page_of_trace(trace), "toymachine/trace/player_test.js", width);
}

}  // namespace

TEST_CASE("a trace's page asks for nothing outside of it", "[player]") {
  std::string page = page_of_trace(c00_trace());
  const std::string name = "http://www.w3.org/2000/svg";  // an SVG element's name, not an address
  page.erase(page.find(name), name.size());
  CHECK(count_of("url(", page) == count_of("url(#", page));
  for (const char* outside : {"http:", "https:", "//cdn", " src=", "@import", "<link"}) {
    INFO(outside);
    CHECK(count_of(outside, page) == 0);
  }
  CHECK_THAT(page, contains("default-src 'none'"));
}

TEST_CASE("no markup of a trace reaches its page", "[player]") {
  const std::string hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>";
  const std::string plain = page_of_trace(c00_trace("plain"));
  const std::string page = page_of_trace(c00_trace(hostile));
  CHECK(count_of("<", page) == count_of("<", plain));
  CHECK(count_of("\\u003c/script>", page) > 0);
}

TEST_CASE("the page's trace is the trace, whatever its layout", "[player]") {
  const json trace = json::parse(c00_trace());
  const std::string compact = page_of_trace(trace.dump());
  CHECK(page_of_trace(trace.dump(2)).size() > compact.size());
  const std::string begin = "class=\"trace-steps\">";
  const auto steps = [&](const std::string& page) {
    const std::size_t from = page.find(begin) + begin.size();
    return page.substr(from, page.find("</script>", from) - from);
  };
  CHECK(steps(page_of_trace(trace.dump(2))) == steps(compact));
  std::istringstream lines(steps(compact));
  std::string line;
  for (const json& step : trace["steps"]) {
    REQUIRE(std::getline(lines, line));
    CHECK(json::parse(line) == step);
  }
}

TEST_CASE("a page of many steps comes in many blocks", "[player]") {
  json trace = json::parse(c00_trace());
  const json steps = trace["steps"];
  for (int i = 0; i < 200; ++i) {
    trace["steps"].insert(trace["steps"].end(), steps.begin(), steps.end());
  }
  CHECK(count_of("class=\"trace-steps\"", page_of_trace(trace.dump())) == 7);
}

TEST_CASE("a page of what is no whole trace is an error and still a page", "[player]") {
  const std::string trace = c00_trace();
  const std::string inputs[] = {"",
                                "{}",
                                "[1, 2]",
                                "steps",
                                "]]]]",
                                "{\"steps\": \"none\"}",
                                trace.substr(0, trace.size() / 2),
                                trace + "}",
                                "{\"steps\":[,"};
  for (const std::string& input : inputs) {
    INFO(input.substr(0, 40));
    std::istringstream in(input);
    std::ostringstream out;
    const auto entries = write_html(in, out);
    REQUIRE_FALSE(entries);
    CHECK(entries.diagnostics.front().fault == Fault::kRequest);
    CHECK(count_of("<script", out.str()) == count_of("</script", out.str()));
    CHECK_THAT(out.str(), contains("</html>"));
  }
}

TEST_CASE("the player's keys go forth, back, to both ends, and no further", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_player(c00_trace());
  CHECK(report["errors"] == json::array());
  CHECK(report["start"]["where"] == "Before step 1 of 7");
  CHECK(report["start"]["registers"] == json{"empty", "empty", "empty"});
  CHECK(report["sameAfterForthAndBack"] == true);
  CHECK(report["leftOfStart"] == "Before step 1 of 7");
  CHECK(report["end"]["where"] == "Step 7 of 7");
  CHECK(report["rightOfEnd"] == "Step 7 of 7");
  CHECK(report["keyInField"] == "Step 7 of 7");
  CHECK(report["home"] == "Before step 1 of 7");
  CHECK(report["differing"] == json::array());
}

TEST_CASE("the player shows and tells what each step did", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_player(c00_trace());
  const json& third = report["third"];
  CHECK(third["live"] == "Step 3 of 7, line 4: MAC_Z R0, R1, R2. R2 = a₀₀·b₀₀ = 0.25.");
  CHECK(third["registers"] == json{"a00", "b00", "a₀₀·b₀₀"});
  CHECK(third["values"] == json{"0.5", "0.5", "0.25"});
  CHECK(third["tags"] == json{"read", "read", "written"});
  CHECK(third["line"] == "4");
  CHECK(third["row"] == "3MAC_Z R0, R1, R2R2 = a₀₀·b₀₀a00b00a₀₀·b₀₀");
  CHECK(third["counters"]["Loads"] == "2");
  CHECK(third["counters"]["Cycles"] == "21");
  const json& end = report["end"];
  CHECK(end["registers"] == json{"a01", "b10", "c₀₀"});
  CHECK(end["values"][2] == "−∞");
  CHECK(end["counters"]["Stores"] == "1");
  CHECK(end["cells"][8] == "c00 & friends written");
  CHECK(end["cells"][9] == "· not written yet");
  CHECK(report["asValues"]["registers"] == json{"0.5", "0.5", "0.25"});
}

TEST_CASE("the player owns up to what a trace leaves out", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  json trace = json::parse(c00_trace());
  json& steps = trace["steps"];
  steps[4]["renamed"] = {{{"register", 2}, {"symbol", "old"}}};
  steps[3] = {{"elided", true}, {"first", 4}, {"last", 4}};
  steps.erase(0);
  trace["error"] = {{"line", 3}, {"what", "<i>odd</i>"}};
  const json report = drive_player(trace.dump());
  CHECK(report["errors"] == json::array());
  CHECK(report["notice"] == "The run failed at line 3: <i>odd</i>");
  CHECK(report["start"]["instruction"] == "Earlier steps are left out");
  CHECK(report["third"]["where"] == "Step 5 of 7");
  CHECK(report["third"]["registers"] == json{"?", "b10", "old"});
  CHECK(report["end"]["registers"] == json{"?", "b10", "c₀₀"});
  CHECK(report["differing"] == json::array());
}

TEST_CASE("the player's buttons, scrubber, fields and address agree", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_player(c00_trace());
  CHECK(report["clicks"] == json{{"first", "Before step 1 of 7"},
                                 {"forward", "Step 2 of 7"},
                                 {"back", "Step 1 of 7"},
                                 {"last", "Step 7 of 7"}});
  CHECK(report["scrubbed"]["where"] == "Step 4 of 7");
  CHECK(report["scrubbed"]["chips"] == json{"line 5", "c00 & friends", "k = 1"});
  CHECK(report["jumped"] == "Step 5 of 7");
  CHECK(report["hash"] == "#step=5");
  CHECK(report["linked"] == "Step 2 of 7");
  CHECK(report["skipped"] == "Step 2 of 7");
  CHECK(report["rowClicked"] == "Step 3 of 7");
  CHECK(report["passClicked"] == "Step 7 of 7");
  CHECK(report["passFocused"] == "Store");
}

TEST_CASE("the player plays, pauses, and stops at the end", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_player(c00_trace());
  CHECK(report["playLabel"] == "Pause");
  CHECK(report["paused"] == "Step 2 of 7");
  CHECK(report["stillPaused"] == "Step 2 of 7");
  CHECK(report["played"] == "Step 7 of 7");
  CHECK(report["playedLabel"] == "Play");
}

TEST_CASE("hostile text stays text in the player", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const std::string name =
      "<b>x</b></script><script>window.hacked = 1</script><img src=x "
      "onerror='window.hacked = 2'><!-- \"__proto__\" \\u003c";
  const json report = drive_player(c00_trace(name));
  CHECK(report["errors"] == json::array());
  CHECK(report["title"] == name + " · flashlab");
  CHECK(report["hacked"] == nullptr);
  CHECK(report["images"] == 0);
  CHECK(report["bold"] == 0);
  CHECK(report["differing"] == json::array());
}

TEST_CASE("the player never scrolls sideways", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const std::string name = std::string(300, 'm') + " and " + std::string(300, '+');
  for (const int width : {1280, 500}) {  // headless windows are at least 500 wide
    const nlohmann::json report = drive_player(c00_trace(name), width);
    CHECK(report["widest"] == 0);
    CHECK(report["cut"] == 0);  // the program's long lines go on below
  }
}

TEST_CASE("small arrays stand in the player without scroll bars", "[player]") {
  if (test::browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report = drive_player(c00_trace("c00"), 1280);
  CHECK(report["grids"] > 0);
  CHECK(report["scrolling"] == 0);
}

}  // namespace flashlab::toy
