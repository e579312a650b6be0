// `flashlab figure`: the page that moves, and its stills.
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/command.hpp"
#include "tests/toymachine/trace/browser.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

std::string figure(const std::string& arguments) {
  CAPTURE(arguments);
  const Outcome outcome = flashlab("figure " + arguments);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  return outcome.out;
}

std::string bytes_of_run(const std::string& arguments, const char* key) {
  return json_of(flashlab("run " + arguments + " --no-outputs --json"))[key].dump();
}

/// The elements that a page opens and does not close, or closes in another order.
std::string unbalanced(const std::string& page) {
  const std::regex tag("<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>");
  const std::string alone = " meta input br ";
  std::vector<std::string> open;
  std::string text = std::regex_replace(page, std::regex("<!DOCTYPE html>"), "");
  for (const char* name : {"script", "style"}) {  // their text is no markup
    const std::string end = std::string("</") + name + ">";
    for (std::size_t at = 0; (at = text.find(std::string("<") + name, at)) != std::string::npos;) {
      const std::size_t from = text.find('>', at) + 1, to = text.find(end, from);
      if (to == std::string::npos) return std::string("<") + name;
      text.erase(from, to - from);
      at = from + end.size();
    }
  }
  for (std::sregex_iterator one(text.begin(), text.end(), tag), last; one != last; ++one) {
    const std::string name = (*one)[2], rest = (*one)[3];
    if (alone.find(" " + name + " ") != std::string::npos || rest.ends_with("/")) continue;
    if ((*one)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back();
}

}  // namespace

TEST_CASE("a figure's page says without a script what the machine counts for every size of tiles") {
  const std::string page = figure("flash2 -D n=4,d=2 --html -");
  CHECK(unbalanced(page) == "");
  CHECK_THAT(page, contains("<li><b>M</b> row maximum so far</li>"));
  CHECK_THAT(page, contains("<section id=\"figure\" aria-label=\"The figure that moves\" hidden>"));
  CHECK_THAT(page, contains("<section class=\"stills\" id=\"stills\" aria-label"));
  for (const char* tiles : {"B=1,Bk=1", "B=1,Bk=2", "B=2,Bk=4", "B=4,Bk=4"}) {
    CAPTURE(tiles);
    const std::string size = std::string(" -D n=4,d=2,") + tiles;
    std::smatch values;
    const std::string text = tiles;
    REQUIRE(std::regex_match(text, values, std::regex("B=(\\d),Bk=(\\d)")));
    std::string row = "<tr><td>" + values[1].str() + "</td><td>" + values[2].str() + "</td>";
    for (const char* program : {"flash2", "naive"}) {
      for (const char* key : {"bytes_loaded", "bytes_stored"}) {
        row += "<td>" + bytes_of_run(program + size, key) + "</td>";
      }
    }
    CHECK_THAT(page, contains(row + "</tr>"));
  }
}

TEST_CASE("a figure moves by keys and sliders, and its bytes are the machine's") {
  if (browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  for (const int width : {1280, 500}) {
    const json report =
        drive(figure("flash2 -D n=4,d=2,B=2 --html -"), "cli/figure_page_test.js", width);
    CHECK(report["errors"] == json::array());
    CHECK(report["widest"] == 0);
    CHECK(report["hidden"] == json{true, false});
    CHECK(report["start"]["where"] == "0 of 36");
    const json& steps = report["steps"];
    CHECK(steps[0]["caption"] == "Load q rows 0 to 1 into Q: 4 numbers, 16 bytes.");
    CHECK(steps[0]["held"] == json{"Q"});
    CHECK(steps[3]["caption"] == "q rows 0 to 1 meet k rows 0 to 1: 2 × 2 numbers of S appear.");
    CHECK(steps[3]["inMatrix"] == json{"S"});
    CHECK(steps[3]["numbers"][0] == "32 of 160");
    CHECK(steps[4]["inMatrix"] == json{"S P"});
    CHECK(steps[8]["inMatrix"] == json::array());  // the next tile of k: the pair is gone
    CHECK(report["back"] == steps[7]);
    CHECK(report["plays"] == true);
    CHECK(report["stops"] == true);
    CHECK(report["end"]["where"] == "36 of 36");
    CHECK(report["home"] == report["start"]);
    CHECK(report["afterSliderKey"] == "0 of 36");
    CHECK(report["names"] == json{"B, rows in a tile of q", "Bk, rows in a tile of k"});
    CHECK(report["runs"].size() == 9);
    if (width < 1280) continue;
    for (const json& run : report["runs"]) {
      CAPTURE(run.dump());
      std::string size =
          " -D n=4,d=2," + run[0].get<std::string>() + "," + run[1].get<std::string>();
      size = std::regex_replace(size, std::regex(" = "), "=");
      const auto bytes = [](const std::string& text) { return text + " bytes"; };
      CHECK(run[2] == bytes(bytes_of_run("flash2" + size, "bytes_loaded")));
      CHECK(run[3] == bytes(bytes_of_run("naive" + size, "bytes_loaded")));
      CHECK(run[4] == bytes(bytes_of_run("flash2" + size, "bytes_stored")));
      CHECK(run[5] == bytes(bytes_of_run("naive" + size, "bytes_stored")));
    }
  }
}

TEST_CASE("numbers of a register fit into its card on a phone") {
  if (browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  const json report =
      drive(figure("flash2 -D n=16,d=4,B=8,Bk=8 --html -"), "cli/figure_page_test.js", 500);
  CHECK(report["cut"] == json::array());
  const std::string values = report["values"];
  CHECK_THAT(values, contains("…") && contains("⋮"));
}

TEST_CASE("a figure stands beside the naive program for its problem, if there is one") {
  const auto beside = [](const std::string& program) {
    const std::string page = figure(program + " --html -");
    std::smatch match;
    return std::regex_search(page, match, std::regex("<th scope=\"col\">(\\w+) loads</th>"))
               ? match[1].str()
               : "";
  };
  CHECK(beside("three_pass") == "naive");
  CHECK(beside("flash2_causal") == "naive_causal");
  CHECK(beside("bwd_onepass") == "bwd_naive");
  CHECK(beside("bwd_onepass_causal") == "bwd_naive_causal");
  CHECK(beside("naive") == "");
  CHECK(beside("flash2_window") == "");  // another mask
}

TEST_CASE("stills of a figure say in words which tiles meet and what moved") {
  const std::string svg = figure("flash2 -D n=8,B=2 --svg -");
  CHECK(svg.starts_with("<svg "));
  CHECK_THAT(svg, contains("q rows 0 to 1 meet k rows 0 to 1: 64 bytes loaded so far."));
  // The second one is not the meeting with k, but what the same pair loads after it.
  CHECK_THAT(svg, contains("v rows 2 to 3 loaded: 160 bytes loaded so far."));
  CHECK_THAT(svg, contains("flash2: 1152 bytes loaded, 160 stored. naive: 3392 bytes loaded"));
  CHECK_THAT(svg, contains(">v 2–3<"));
}

TEST_CASE("the JSON interface gives the data of a figure's page") {
  const Workplace place;
  place.write("request", R"({"request": "figure", "program": "flash1", "params": {"n": 4}})");
  const json answer = json_of(place.shell("flashlab answer < request"))["answer"];
  const std::string page = figure("flash1 -D n=4 --html -");
  const std::string begin = "<script type=\"application/json\" id=\"figure-data\">";
  const std::size_t at = page.find(begin) + begin.size();
  CHECK(json::parse(page.substr(at, page.find("</script>", at) - at)) == answer);
}

TEST_CASE("a figure needs a program on tiles, and a file") {
  const auto refused = [](const std::string& arguments, const std::string& words) {
    CAPTURE(arguments);
    const Outcome outcome = flashlab("figure " + arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, contains(words));
  };
  refused("flash2", "--html FILE for the page that moves, or --svg FILE for stills");
  refused("softmax_online --html -",
          "softmax_online has no figure: it multiplies no two loaded tiles");
  refused("flash2 -D n=64,B=1 --html -", "flash2 has no figure: it has more than 4000 pictures or");
}

TEST_CASE("the page of a trace on tiles has the figure, and others do not") {
  const auto page = [](const std::string& program) {
    return flashlab("trace " + program + " --html -").out;
  };
  CHECK_THAT(page("flash2"), contains("id=\"trace-figure\""));
  const std::string untiled = page("softmax_online");
  CHECK(untiled.find("id=\"trace-figure\"") == std::string::npos);
  CHECK(untiled.find("class Figure") == std::string::npos);
}

TEST_CASE("a part of a trace has its page although the run fails later, without a figure") {
  const Workplace place;
  place.write(
      "late.toy",
      ".isa attention\n.input q(2, 2) tile (2, 2)\n.output o(2, 2) tile (2, 2)\n.reg Q, K, S\n"
      "LOAD q[0][0], Q\nLOAD q[0][0], K\nMAC_Z Q, K^T, S\nLOAD o[0][0], S\n");
  const Outcome outcome = place.shell("flashlab trace late.toy --to 2 --html -");
  CHECK(outcome.code == 0);
  CHECK(outcome.out.ends_with("</html>\n"));
  CHECK(outcome.out.find("id=\"trace-figure\"") == std::string::npos);
  const Outcome refused = place.shell("flashlab figure late.toy --html -");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, contains("late.toy:8"));
}

TEST_CASE("in the player the figure goes where the player goes") {
  if (browser().empty()) FLASHLAB_SKIP("no Chromium or Chrome is installed");
  for (const int width : {1280, 500}) {
    const json report =
        drive(flashlab("trace flash2 -D n=4,B=2 --html -").out, "cli/figure_player_test.js", width);
    CHECK(report["errors"] == json::array());
    CHECK(report["widest"] == 0);
    CHECK(report["captions"][8] == "Load k rows 0 to 1 into K: 8 numbers, 32 bytes.");
    CHECK(report["captions"][9] == "q rows 0 to 1 meet k rows 0 to 1: 2 × 2 numbers of S appear.");
    CHECK(report["last"] == "80 bytes");  // stored: o and lse
  }
}

}  // namespace flashlab::test
