// Sessions typed from the specification of the Debug Adapter Protocol.
#include "tests/cli/editors/protocol_session.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

/// Requests with their numbers, as a client sends them.
class Requests {
 public:
  Requests& add(const std::string& command, const json& arguments = nullptr) {
    json request{{"seq", ++sequence_}, {"type", "request"}, {"command", command}};
    if (!arguments.is_null()) request["arguments"] = arguments;
    bytes_ += frame_of(request.dump());
    return *this;
  }
  Requests& raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  std::vector<json> run() const { return run_in(Workplace()); }
  std::vector<json> run_in(const Workplace& place) const {
    return protocol_session(place, "dap", bytes_);
  }

 private:
  int sequence_ = 0;
  std::string bytes_;
};

/// A session that has launched a program.
Requests launched(const json& launch) {
  Requests requests;
  requests.add("initialize", {{"adapterID", "flashlab"}}).add("launch", launch);
  return requests;
}

json softmax(int n) { return {{"program", "softmax_online"}, {"params", {{"n", n}}}}; }

std::vector<json> of_kind(const std::vector<json>& messages, const std::string& key,
                          const std::string& name) {
  std::vector<json> found;
  for (const json& message : messages) {
    if (message.value(key, "") == name) found.push_back(message);
  }
  return found;
}

/// The lines of all stack traces.
std::vector<int> lines_of(const std::vector<json>& messages) {
  std::vector<int> lines;
  for (const json& response : of_kind(messages, "command", "stackTrace")) {
    lines.push_back(response["body"]["stackFrames"][0]["line"]);
  }
  return lines;
}

std::string value_of(const json& variables, const std::string& name) {
  for (const json& one : variables["body"]["variables"]) {
    if (one["name"] == name) return one["value"];
  }
  return "none";
}

}  // namespace

TEST_CASE("initialize offers stepping back, and events come in the protocol's order", "[dap]") {
  const auto messages = launched(softmax(4)).add("configurationDone").add("disconnect").run();
  REQUIRE(messages.size() == 7);
  CHECK(messages[0]["body"]["supportsStepBack"] == true);
  CHECK(messages[0]["request_seq"] == 1);
  CHECK(messages[1]["command"] == "launch");
  CHECK(messages[1]["success"] == true);
  CHECK(messages[2]["event"] == "initialized");
  CHECK(messages[3]["command"] == "configurationDone");
  CHECK(messages[4]["event"] == "stopped");
  CHECK(messages[4]["body"]["reason"] == "entry");
  CHECK(messages[5]["command"] == "disconnect");
  CHECK(messages[6]["event"] == "terminated");
  for (std::size_t i = 0; i < messages.size(); ++i) CHECK(messages[i]["seq"] == i + 1);
}

TEST_CASE("steps go forwards and backwards, and breakpoints stop in both directions", "[dap]") {
  const auto messages =
      launched(softmax(8))
          .add("setBreakpoints", {{"source", {{"path", "softmax_online.toy"}}},
                                  {"breakpoints", {{{"line", 24}, {"condition", "R0 > 0.4"}}}}})
          .add("configurationDone")
          .add("next", {{"threadId", 1}})
          .add("stackTrace", {{"threadId", 1}})
          .add("stepBack", {{"threadId", 1}})
          .add("stackTrace", {{"threadId", 1}})
          .add("continue", {{"threadId", 1}})
          .add("stackTrace", {{"threadId", 1}})
          .add("continue", {{"threadId", 1}})
          .add("reverseContinue", {{"threadId", 1}})
          .add("stackTrace", {{"threadId", 1}})
          .add("variables", {{"variablesReference", 1}})
          .add("reverseContinue", {{"threadId", 1}})
          .run();
  CHECK(lines_of(messages) == std::vector<int>{15, 14, 24, 24});
  const auto stops = of_kind(messages, "event", "stopped");
  REQUIRE(stops.size() == 7);
  CHECK(stops[1]["body"]["reason"] == "step");
  CHECK(stops[3]["body"]["reason"] == "breakpoint");
  CHECK(stops[5]["body"]["reason"] == "breakpoint");
  CHECK(stops[6]["body"]["description"] == "at the start");
  const json loops = of_kind(messages, "command", "variables").at(0);
  CHECK(value_of(loops, "i") == "2");
  CHECK(value_of(loops, "n") == "8");
}

TEST_CASE("registers, arrays and counters are variables", "[dap]") {
  const auto messages =
      launched({{"program", "softmax_online"}, {"inputs", {{"x", {1, 2, 3, 4}}}}, {"step", 7}})
          .add("scopes", {{"frameId", 1}})
          .add("variables", {{"variablesReference", 2}})
          .add("variables", {{"variablesReference", 3}})
          .add("variables", {{"variablesReference", 1000}, {"start", 1}, {"count", 2}})
          .add("variables", {{"variablesReference", 4}})
          .add("evaluate", {{"expression", "r3"}})
          .add("evaluate", {{"expression", "R9"}})
          .run();
  CHECK(of_kind(messages, "command", "scopes").at(0)["body"]["scopes"].size() == 4);
  const auto variables = of_kind(messages, "command", "variables");
  REQUIRE(variables.size() == 4);
  CHECK(value_of(variables[0], "R0") == "2");
  CHECK(variables[0]["body"]["variables"][0]["type"] == "x₁");
  CHECK(value_of(variables[0], "R3") == "1");
  CHECK(variables[1]["body"]["variables"][0]["indexedVariables"] == 4);
  CHECK(variables[2]["body"]["variables"].size() == 2);
  CHECK(value_of(variables[2], "x[2]") == "3");
  CHECK(value_of(variables[3], "loads") == "2");
  const auto evaluated = of_kind(messages, "command", "evaluate");
  CHECK(evaluated[0]["body"]["result"] == "1");
  CHECK(evaluated[1]["success"] == false);
}

TEST_CASE("a watched cell stops after its write, and its writer can be asked for", "[dap]") {
  const auto messages =
      launched(softmax(4))
          .add("dataBreakpointInfo", {{"name", "out[2]"}})
          .add("setDataBreakpoints", {{"breakpoints", {{{"dataId", "out[2]"}}}}})
          .add("setFunctionBreakpoints", {{"breakpoints", {{{"name", "R2 > 2"}}, {{"name", "?"}}}}})
          .add("continue")
          .add("continue")
          .add("evaluate", {{"expression", "who wrote out[2]"}, {"context", "repl"}})
          .add("stackTrace")
          .add("continue")
          .add("continue")
          .run();
  CHECK(of_kind(messages, "command", "dataBreakpointInfo")[0]["body"]["dataId"] == "out[2]");
  CHECK(of_kind(messages, "command", "dataBreakpointInfo")[0]["body"]["accessTypes"][0] == "write");
  const json set = of_kind(messages, "command", "setFunctionBreakpoints")[0]["body"]["breakpoints"];
  CHECK(set[0]["verified"] == true);
  CHECK(set[1]["verified"] == false);
  const auto stops = of_kind(messages, "event", "stopped");
  REQUIRE(stops.size() == 5);
  CHECK(stops[0]["body"]["reason"] == "function breakpoint");
  CHECK(stops[1]["body"]["reason"] == "data breakpoint");
  CHECK(lines_of(messages) == std::vector<int>{43});
  CHECK(stops[4]["body"]["description"] == "at the end");
}

TEST_CASE("a run that fails stops with an exception, and steps back from it", "[dap]") {
  const Workplace place;
  place.write("wrong.toy",
              ".isa softmax\n.registers 2\n.input x[1]\n.output y[1]\nLOAD x[0], R0\n"
              "SUB R0, R0, R1\nDIV R0, R1, R0\nSTORE R0, y[0]\n");
  const auto messages =
      launched(
          {{"program", "wrong.toy"}, {"inputs", {{"x", "constant:1"}}}, {"stopOnEntry", false}})
          .add("configurationDone")
          .add("stackTrace")
          .add("stepBack")
          .add("stackTrace")
          .run_in(place);
  const auto stops = of_kind(messages, "event", "stopped");
  REQUIRE(stops.size() == 2);
  CHECK(stops[0]["body"]["reason"] == "exception");
  CHECK(lines_of(messages) == std::vector<int>{7, 6});
}

TEST_CASE("a long search can be paused", "[dap]") {
  const auto messages =
      launched(softmax(20'000'000))
          .add("setFunctionBreakpoints", {{"breakpoints", {{{"name", "R2 > 1e30"}}}}})
          .add("continue")
          .add("pause")
          .add("stackTrace")
          .run();
  const auto stops = of_kind(messages, "event", "stopped");
  REQUIRE(stops.size() == 1);
  CHECK(stops[0]["body"]["reason"] == "pause");
}

TEST_CASE("a long search shows its progress, and only its own number cancels it", "[dap]") {
  const Workplace place;
  Requests first, second, third;
  first.add("initialize", {{"adapterID", "flashlab"}, {"supportsProgressReporting", true}})
      .add("launch", {{"program", "matmul_naive"},
                      {"params", {{"m", 1400}, {"k", 1400}, {"n", 1400}}}})  // 8 * 10^9 steps
      .add("setFunctionBreakpoints", {{"breakpoints", {{{"name", "R2 > 1e30"}}}}})
      .add("continue");
  second.add("cancel", {{"progressId", "search 3"}});
  third.add("cancel", {{"progressId", "search 4"}}).add("stackTrace");
  place.write("first", first.bytes());
  place.write("second", second.bytes());
  place.write("third", third.bytes());
  const Outcome outcome =
      place.shell("(cat first; sleep 0.6; cat second; sleep 0.6; cat third) | flashlab dap");
  REQUIRE(outcome.code == 0);
  const auto messages = messages_in(outcome.out);
  const auto starts = of_kind(messages, "event", "progressStart");
  REQUIRE(starts.size() == 1);
  CHECK(starts[0]["body"]["progressId"] == "search 4");
  CHECK(starts[0]["body"]["cancellable"] == true);
  CHECK(starts[0]["body"]["requestId"] == 4);
  // Between the two requests to cancel.
  const auto updates = of_kind(messages, "event", "progressUpdate");
  REQUIRE_FALSE(updates.empty());
  CHECK(updates.back()["body"]["percentage"] <= 100);
  CHECK(of_kind(messages, "event", "progressEnd").size() == 1);
  const auto stops = of_kind(messages, "event", "stopped");
  REQUIRE(stops.size() == 1);
  CHECK(stops[0]["body"]["reason"] == "pause");
}

TEST_CASE("bad frames and requests get errors, and the session goes on", "[dap]") {
  Requests requests;
  requests.raw(frame_of("{no json"))
      .raw("Content-Length: many\r\n\r\n")
      .raw("Length: 3\r\n\r\n")
      .raw(frame_of("[1, 2]"))
      .raw(frame_of(std::string(100'000, '[')))
      .raw(frame_of("{\"command\": 7, \"seq\": \"x\"}"))
      .add("fly")
      .add("next")
      .add("launch", {{"program", 5}})
      .add("launch", {{"program", "nowhere.toy"}})
      .add("launch", {{"program", "softmax_online"}, {"params", {{"n", "x"}}}})
      .add("launch", {{"program", "softmax_online"}, {"params", {{"n", 9'000'000'000'000'000}}}})
      .add("launch", softmax(4))
      .add("setBreakpoints", {{"breakpoints", {{{"line", -3}}, {{"line", 1'000'000}}}}})
      .add("setBreakpoints", {{"breakpoints", {{{"line", 14}}, 7}}})
      .add("goto", {{"targetId", 99'999}})
      .add("variables", {{"variablesReference", -1}})
      .add("next")
      .add("threads");
  const auto messages = requests.run();
  CHECK(of_kind(messages, "event", "output").size() == 5);
  const auto launches = of_kind(messages, "command", "launch");
  REQUIRE(launches.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(launches[i]["success"] == false);
    CHECK_FALSE(launches[i]["message"].get<std::string>().empty());
  }
  CHECK(launches[4]["success"] == true);
  CHECK(of_kind(messages, "command", "fly")[0]["success"] == false);
  const auto steps = of_kind(messages, "command", "next");
  CHECK(steps[0]["success"] == false);
  CHECK(steps[1]["success"] == true);
  const auto answers = of_kind(messages, "command", "setBreakpoints");
  for (const json& one : answers[0]["body"]["breakpoints"]) {
    CHECK(one["verified"] == false);
  }
  CHECK(answers[1]["success"] == false);
  CHECK(answers[1]["message"] == "\"breakpoints[1]\" is 7; expected an object");
  CHECK(messages.back()["body"]["threads"][0]["id"] == 1);
}

}  // namespace flashlab::test
