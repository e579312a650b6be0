// The predicted times of generated programs: what is counted in them, and what small programs took.
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

double predicted_ms(const std::string& arguments) {
  return json_of(
      flashlab("gpu " + arguments + " --predict-only --gpu h200 --json"))["predicted_ms"];
}

/// The programs that were timed, as generate/bench/one_instruction.py writes them.
json printed_programs(const Workplace& place, const std::string& rows) {
  place.write("rows.json", rows);
  place.write("print.py",
              "import json, sys\n"
              "sys.path.insert(0, '" FLASHLAB_SOURCE_DIR
              "/generate/bench')\n"
              "import one_instruction as one\n"
              "rows = json.load(open('rows.json'))\n"
              "print(json.dumps([one.program(r['level'], r['instruction'], (r['rows'], "
              "r['columns']), r['blocks_per_sm']) for r in rows]))\n");
  return json::parse(place.shell("python3 -B print.py").out);
}

}  // namespace

TEST_CASE("each further operation on the scores is predicted to take time, by its cost") {
  const std::string flash2 =
      "flash2 -D n=4096,d=64,B=64,Bk=64 --heads 32 --dtype bf16 --level 1 --score ";
  const double none = predicted_ms(flash2 + "\"MUL S, 1, S\"");
  const double tanh = predicted_ms(flash2 + "\"TANH S, S\"");
  const double quotient = predicted_ms(flash2 + "\".reg T; FILL 1, T; DIV T, S, S\"");
  // A quotient has as many instructions as the rest of the loop together; tanh has more.
  CHECK(quotient > 1.3 * none);
  CHECK(tanh > 1.3 * none);
  const double twice = predicted_ms(flash2 + "\"TANH S, S; TANH S, S\"");
  CHECK(twice - tanh > 0.7 * (tanh - none));
}

TEST_CASE("long blocks at the end of a launch are predicted to take longer than equal blocks") {
  // 36 blocks, of which the last one has 36 times the work of the first, and a multiprocessor for each.
  const std::string sizes = " -D n=1152,d=32,B=32,Bk=32 --level 0";
  const double causal = predicted_ms("flash2_causal" + sizes), all = predicted_ms("flash2" + sizes);
  CHECK(causal > 0.9 * all);
  CHECK(causal < 1.2 * all);
  const double many = predicted_ms("flash2_causal" + sizes + " --heads 128"),
               of_all = predicted_ms("flash2" + sizes + " --heads 128");
  CHECK(many < 0.75 * of_all);
}

TEST_CASE("thirty million blocks of many lengths are predicted at once") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(predicted_ms("flash2_causal -D n=30000000,d=16,B=1,Bk=1") > 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));  // it took 21
}

TEST_CASE("at level 0, programs of one instruction are predicted as an H200 ran them") {
  const Workplace place;
  if (place.shell("python3 -c 'import json'").code != 0) {
    FLASHLAB_SKIP("there is no python3 (with its standard library)");
  }
  std::ifstream file(FLASHLAB_SOURCE_DIR "/docs/results/one_instruction_h200.json");
  const json measured = json::parse(file);
  json rows = json::array();
  for (const json& row : measured["rows"]) {
    // All blocks load one tile there, so L2 delivers it to one after the other.
    const bool is_hot = row["instruction"] == "LOADK";
    if (row["level"] == 0 && !is_hot && row.contains("least_ms")) rows.push_back(row);
  }
  REQUIRE(rows.size() > 100);
  const json programs = printed_programs(place, rows.dump());
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    place.write("one.toy", programs[i].get<std::string>());
    const double predicted = json_of(place.shell(
        "flashlab gpu one.toy --level 0 --predict-only --gpu h200 --json"))["predicted_ms"];
    const double ratio = predicted / rows[i]["least_ms"].get<double>();
    CAPTURE(rows[i].dump(), ratio);
    // An empty loop takes a few microseconds, most of them for the launch.
    CHECK(std::abs(std::log(ratio)) < (rows[i]["instruction"] == "EMPTY" ? 0.8 : 0.3));
    sum += std::abs(ratio - 1);
  }
  CHECK(sum / static_cast<double>(rows.size()) < 0.12);
}

}  // namespace flashlab::test
