// Traces as JSON.
#include "toymachine/trace/trace_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/trace/trace_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT
using Json = nlohmann::json;

std::string json_text(const BoundProgram& program, const TraceOptions& options = {}) {
  std::ostringstream out;
  const auto sink = make_trace_json(out, {});
  static_cast<void>(run_trace(program, *sink, options));
  return out.str();
}

Json traced(const BoundProgram& program, const TraceOptions& options = {}) {
  return Json::parse(json_text(program, options));
}

/// Counts bytes and keeps none.
class Counting : public std::streambuf {
 public:
  std::uint64_t bytes = 0;

 protected:
  int_type overflow(int_type character) override {
    ++bytes;
    return traits_type::not_eof(character);
  }
  std::streamsize xsputn(const char*, std::streamsize count) override {
    bytes += static_cast<std::uint64_t>(count);
    return count;
  }
};

}  // namespace

TEST_CASE("a JSON trace says what ran, and all that happened") {
  const Json trace =
      traced(bound("; a product\n.isa matmul\n.input a[2]\n.input b[2]\n.output c[1]\n"
                   "LOAD a[0], R0\nLOAD b[0], R1\nMAC_Z R0, R1, R2\n"
                   ".name R2 = p = a[0] * b[0]\nSTORE R2, c[0]\n"));
  CHECK(trace["flashlab"] == "trace");
  CHECK(trace["version"] == 1);
  CHECK(trace["program"] == "p");
  CHECK(trace["title"] == "a product");
  CHECK(trace["isa"] == "matmul");
  CHECK(trace["num_registers"] == 3);
  CHECK(trace["source"][5] == "LOAD a[0], R0");
  CHECK(trace["costs"]["MAC_Z"] == 1);
  CHECK(trace["complete"] == true);
  CHECK(trace["error"] == nullptr);
  CHECK(trace["counters"]["cycles"] == 4);
  CHECK(trace["counters"]["by_op"] == Json::parse(R"({"LOAD": 2, "MAC_Z": 1, "STORE": 1})"));
  CHECK(trace["steps"] == Json::parse(R"([
    {"step": 1, "line": 6, "pass": 0, "loops": {}, "instruction": "LOAD a[0], R0", "op": "LOAD",
     "reads": [{"array": "a", "index": [0]}], "register_reads": [],
     "makes": "R0 = a0", "makes_unicode": "R0 = a₀",
     "writes": {"register": 0, "value": 1.0, "symbol": "a0", "symbol_unicode": "a₀", "held": "a0",
                "held_unicode": "a₀"}},
    {"step": 2, "line": 7, "pass": 0, "loops": {}, "instruction": "LOAD b[0], R1", "op": "LOAD",
     "reads": [{"array": "b", "index": [0]}], "register_reads": [],
     "makes": "R1 = b0", "makes_unicode": "R1 = b₀",
     "writes": {"register": 1, "value": 3.0, "symbol": "b0", "symbol_unicode": "b₀", "held": "b0",
                "held_unicode": "b₀"}},
    {"step": 3, "line": 8, "pass": 0, "loops": {}, "instruction": "MAC_Z R0, R1, R2", "op": "MAC_Z",
     "reads": [], "register_reads": [0, 1],
     "makes": "R2 = p = a0*b0", "makes_unicode": "R2 = p = a₀·b₀",
     "writes": {"register": 2, "value": 3.0, "symbol": "p", "symbol_unicode": "p",
                "expression": "a0*b0", "expression_unicode": "a₀·b₀", "held": "p",
                "held_unicode": "p"}},
    {"label": true, "line": 9, "after_step": 3, "register": 2, "symbol": "p",
     "symbol_unicode": "p", "held": "p", "held_unicode": "p", "claim": true},
    {"step": 4, "line": 10, "pass": 0, "loops": {}, "instruction": "STORE R2, c[0]", "op": "STORE",
     "reads": [], "register_reads": [2], "makes": "c0 = p", "makes_unicode": "c₀ = p",
     "writes": {"array": "c", "index": [0], "value": 3.0, "symbol": "p",
                "symbol_unicode": "p", "held": "p", "held_unicode": "p"}}])"));
}

TEST_CASE("arrays come with their initial values, unwritten cells as null") {
  const Json arrays = traced(bundled("softmax_safe", params({{"n", 2}})))["arrays"];
  CHECK(arrays == Json::parse(R"([
    {"name": "x", "role": "input", "shape": [2], "tile": [1], "offset": 0,
     "initial": [1.0, 2.0]},
    {"name": "out", "role": "output", "shape": [2], "tile": [1], "offset": 2,
     "initial": [null, null]}])"));
}

TEST_CASE("a tile comes as its shape and its rows") {
  const Json trace =
      traced(bound(".isa attention\n.input a(3, 2) tile (2, 2)\n.output c(3, 2) tile (2, 2)\n"
                   ".reg A\nfor i in 0..tiles(a)\n  LOAD a[i][0], A\n  ADD A, A, A\n"
                   "  STORE A, c[i][0]\n  ATOMIC_ADD A, c[i][0]\nend\n"));
  CHECK(trace["register_names"] == Json{"A"});
  CHECK(trace["arrays"][0]["tile"] == Json{2, 2});
  const Json& steps = trace["steps"];
  CHECK(steps[0]["reads"] ==
        Json::parse(R"([{"array": "a", "index": [0, 0], "elements": [[0, 1], [0, 1]]}])"));
  CHECK(steps[0]["writes"]["register"] == 0);
  CHECK(steps[0]["writes"]["shape"] == Json{2, 2});
  CHECK(steps[0]["writes"]["value"] == Json::parse("[[1, 2], [3, 4]]"));
  CHECK(steps[2]["writes"]["array"] == "c");
  CHECK(steps[2]["writes"]["value"] == Json::parse("[[2, 4], [6, 8]]"));
  CHECK(steps[4]["writes"]["shape"] == Json{1, 2});  // the last tile is a ragged one
  CHECK(steps[6]["writes"]["index"] == Json{1, 0});
  const Json& atomic = steps[7];
  CHECK(atomic["op"] == "ATOMIC_ADD");
  CHECK(atomic["reads"] ==
        Json::parse(R"([{"array": "c", "index": [1, 0], "elements": [[2, 2], [0, 1]]}])"));
  CHECK(atomic["register_reads"] == Json{0});
  CHECK(atomic["writes"]["array"] == "c");
  CHECK(atomic["writes"]["value"] == Json::parse("[[20, 24]]"));
  CHECK(trace["counters"]["atomics"] == 2);
}

TEST_CASE("a JSON trace has the names and the parts of arrays that the table and the page show") {
  const BoundProgram program = bundled("flash2", params({{"n", 4}, {"d", 2}, {"B", 2}, {"Bk", 2}}));
  const Json steps = traced(program)["steps"];
  std::map<std::uint64_t, Json> by_number;
  for (const Json& step : steps) {
    if (step.contains("step")) by_number[step["step"]] = step;
  }
  CHECK(by_number[25]["makes"] == "S = q00*0.707107*k10^T");
  CHECK(by_number[25]["writes"]["held"] == "S@25");
  CHECK(by_number[28]["makes"] == "M = max(M@12, X@26)");
  CHECK(by_number[38]["makes_unicode"] == "O[0] = O[0]@37 + P@32·v₁₀");
  CHECK(by_number[24]["reads"][0]["elements"] == Json::parse("[[2, 3], [0, 1]]"));
  CHECK(by_number[3]["writes"]["of"] ==
        Json::parse(R"({"tile": {"array": "q", "index": [0, 0], "elements": [[0, 1], [0, 1]]}})"));
  CHECK(by_number[25]["meets"] == Json::parse(R"({"rows": ["q", 0, 0], "columns": ["k", 0, 1]})"));
  CHECK(by_number[28]["writes"]["of"] == Json::parse(R"({"rows": ["q", 0, 0]})"));
  CHECK(by_number[32]["writes"]["of"] == by_number[25]["meets"]);
  CHECK_FALSE(by_number[38].contains("meets"));
}

TEST_CASE("a part of a trace has the names of the whole") {
  const BoundProgram program = bundled("flash2", params({{"n", 4}, {"d", 2}, {"B", 2}, {"Bk", 2}}));
  TraceOptions options;
  options.from = 30;
  const Json whole = traced(program)["steps"], part = traced(program, options)["steps"];
  std::size_t same = 0;
  for (const Json& step : part) same += std::count(whole.begin(), whole.end(), step);
  CHECK(same == part.size());
  CHECK(part[0]["step"] == 30);
}

TEST_CASE("where cycles depend on the size of a tile, each step says its own") {
  const BoundProgram program = bound(
      ".isa attention\n.input a(3, 2) tile (2, 2)\nfor i in 0..2\n  LOAD a[i][0], R0\n"
      "  ADD R0, R0, R0\nend\n");
  TraceJsonOptions options;
  REQUIRE(options.costs.parse("LOAD=4+1/element"));
  std::ostringstream out;
  const auto sink = make_trace_json(out, options);
  REQUIRE(run_trace(program, *sink));
  const Json trace = Json::parse(out.str());
  CHECK(trace["steps"][0]["cycles"] == 8);
  CHECK_FALSE(trace["steps"][1].contains("cycles"));
  CHECK(trace["steps"][2]["cycles"] == 6);
  CHECK(trace["counters"]["cycles"] == 16);
}

TEST_CASE("each step stands on a line of its own") {
  std::istringstream lines(json_text(bundled("softmax_online")));
  std::uint64_t steps = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("{\"step\"", 0) != 0) continue;
    if (line.back() == ',') line.pop_back();
    CHECK(Json::parse(line)["step"] == ++steps);
  }
  CHECK(steps == 14 * 4 - 4);
}

TEST_CASE("what a register is called changes in the JSON as in the table") {
  const Json steps = traced(bundled("softmax_online"))["steps"];
  for (const Json& step : steps) {
    if (step.value("instruction", "") != "LOAD x[2], R0") continue;
    CHECK(step["loops"] == Json{{"i", 2}});
    const std::string renamed = step["renamed"].dump();
    CHECK_THAT(
        renamed,
        contains(
            R"({"held":"m","held_unicode":"m","register":1,"symbol":"m","symbol_unicode":"m"})"));
    CHECK_THAT(renamed, contains(R"({"register":3,"symbol":"R3@11")"));
    break;
  }
}

TEST_CASE("numbers that JSON does not have are strings") {
  const BoundProgram program = bound(".isa softmax\n.input x[2]\nLOAD x[0], R0\nLOAD x[1], R1\n");
  std::vector<float> dram{-HUGE_VALF, 0.1f};
  std::ostringstream out;
  const auto sink = make_trace_json(out, {});
  REQUIRE(trace(program, std::span<float>(dram), {}, *sink));
  CHECK_THAT(out.str(), contains("\"initial\":[\"-inf\",0.1]"));  // the shortest float, too
  CHECK(Json::parse(out.str())["steps"][0]["writes"]["value"] == "-inf");
}

TEST_CASE("bytes that are no UTF-8 do not break the JSON") {
  const Json trace = traced(bound("; \xFF title \x01\n.isa softmax\n.input x[1]\nLOAD x[0], R0\n"));
  CHECK_THAT(trace["title"].get<std::string>(), contains("title"));
}

TEST_CASE("a run that goes wrong leaves valid JSON with its error") {
  const Json trace =
      traced(bound(".isa softmax\n.registers 2\n.input x[1]\nLOAD x[0], R0\nADD R0, R1, R0\n"));
  CHECK(trace["complete"] == false);
  CHECK(trace["counters"] == nullptr);
  CHECK(trace["error"]["line"] == 5);
  CHECK(trace["steps"].size() == 1);
}

TEST_CASE("left out steps are marked, and a part is not complete") {
  TraceOptions options;
  options.elide = true;
  const Json elided = traced(bundled("softmax_safe", params({{"n", 100}})), options);
  CHECK_THAT(elided["steps"].dump(), contains(R"({"elided":true,"first":6,"last":197})"));
  CHECK(elided["complete"] == true);
  options.elide = false;
  options.to = 5;
  CHECK(traced(bundled("softmax_safe"), options)["complete"] == false);
}

TEST_CASE("a JSON trace is written while the program runs") {
  Counting buffer;
  std::ostream out(&buffer);
  const auto json = make_trace_json(out, {});
  // Between the sink and the run stands one that looks at what has been written so far.
  struct Watcher : TraceSink {
    TraceSink& next;
    const Counting& written;
    std::uint64_t most_behind = 0, last = 0;
    Watcher(TraceSink& sink, const Counting& buf) : next(sink), written(buf) {}
    bool begin(const TraceHeader& header) override { return next.begin(header); }
    bool row(const TraceRow& row) override {
      const bool more = next.row(row);
      if (written.bytes == last) ++most_behind;
      last = written.bytes;
      return more;
    }
    void end(const TraceSummary& summary) override { next.end(summary); }
  } watcher(*json, buffer);
  const auto result = run_trace(bundled("softmax_online", params({{"n", 2000}})), watcher);
  INFO(messages(result));
  REQUIRE(result);
  CHECK(watcher.most_behind == 0);
  CHECK(buffer.bytes > 100 * 14 * 2000);
}

TEST_CASE("a file that cannot be written ends the run") {
  std::ostream nowhere(nullptr);
  const auto sink = make_trace_json(nowhere, {});
  const auto result = run_trace(bundled("softmax_safe"), *sink);
  REQUIRE(result);
  CHECK(result->stopped);
  CHECK(result->steps == 0);
}
