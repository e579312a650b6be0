// What no client should send, to both servers: each answers with an error or a diagnostic, and then
// serves the next request.
#include <filesystem>

#include "tests/cli/editors/lsp_session.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

/// 10 MiB of comments.
std::string huge_program() {
  const std::string line = "; " + std::string(61, '-') + "\n";
  std::string text;
  while (text.size() < std::size_t{10} << 20) text += line;
  return text;
}

struct ProtocolServer {
  const char* name;
  std::string ping;  // a request that is always answered
};

/// Bytes before a request that must be answered: the number of errors that they caused, and whether
/// the request was answered.
std::pair<std::size_t, bool> errors_before_answer(const ProtocolServer& server,
                                                  const std::string& bytes) {
  const auto messages = protocol_session(Workplace(), server.name,
                                         bytes + frame_of(server.ping) + frame_of(server.ping));
  std::size_t errors = 0, answers = 0;
  for (const json& message : messages) {
    const bool is_second_ping = message.contains("error") && message["error"]["code"] == -32600 &&
                                !message["id"].is_null();  // initialize again
    const bool is_error = (message.contains("error") && !is_second_ping) ||
                          (message.value("event", "") == "output" &&
                           message["body"].value("category", "") == "stderr");
    (is_error ? errors : answers) += 1;
  }
  return {errors, answers >= 1};
}

}  // namespace

TEST_CASE("bad frames cost both servers an error each, and never the session", "[protocol]") {
  const ProtocolServer servers[] = {
      {"lsp", R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}})"},
      {"dap", R"({"seq":1,"type":"request","command":"threads"})"}};
  for (const ProtocolServer& server : servers) {
    INFO(server.name);
    const auto after = [&](const std::string& bytes) {
      return errors_before_answer(server, bytes);
    };
    const std::pair<std::size_t, bool> one{1, true}, two{2, true};
    CHECK(after(frame_of("no json")) == one);
    CHECK(after(frame_of("[1]")) == one);
    CHECK(after(frame_of("")) == one);
    CHECK(after("Content-Length: 3x\r\n\r\n") == one);
    CHECK(after("Content-Length: 99999999999999999999999\r\n\r\n") == one);
    CHECK(after("Content-Type: text\r\n\r\n") == one);
    // Longer than stated: the rest is skipped.
    CHECK(after("Content-Length: 5\r\n\r\n{\"rest\": \"of it\"}") == two);
    // Shorter than stated: the next frame's first bytes are lost, and so is that frame.
    CHECK(after("Content-Length: 9\r\n\r\n{}") == std::pair<std::size_t, bool>{3, true});
    CHECK(after(std::string(100'000, 'x')).second);
    CHECK(after(frame_of(std::string(std::size_t{17} << 20, ' '))) == one);
    CHECK(after(std::string("\0\r\n\r\n\xff\xfe", 7)).second);
  }
}

TEST_CASE("a program of 10 MB gets a diagnostic in its first line, and no hints", "[protocol]") {
  LspSession session;
  session.open(huge_program())
      .request("textDocument/inlayHint", {{"textDocument", {{"uri", kUri}}},
                                          {"range",
                                           {{"start", {{"line", 0}, {"character", 0}}},
                                            {"end", {{"line", 99}, {"character", 0}}}}}})
      .whole("textDocument/semanticTokens/full")
      .whole("textDocument/documentSymbol")
      .whole("textDocument/formatting")
      .at("textDocument/completion", 99'999, 0)
      .open(kCopyProgram)
      .run();
  REQUIRE(session.published.size() == 2);
  REQUIRE(session.published[0].size() == 1);
  CHECK(session.published[0][0]["range"]["start"]["line"] == 0);
  const std::string message = session.published[0][0]["message"];
  CHECK_THAT(message, contains("10485760 bytes") && contains("1048576"));
  CHECK(session.results.at(0).empty());
  CHECK(session.published[1].empty());
}

TEST_CASE("a program of 10 MB cannot be launched, and another can", "[protocol]") {
  const Workplace place;
  place.write("huge.toy", huge_program());
  const auto launch = [](const std::string& program) {
    return frame_of(json{{"seq", 1},
                         {"type", "request"},
                         {"command", "launch"},
                         {"arguments", {{"program", program}}}}
                        .dump());
  };
  const auto messages =
      protocol_session(place, "dap", launch("huge.toy") + launch("softmax_online"));
  CHECK(messages.at(0)["success"] == false);
  CHECK_THAT(messages[0]["message"].get<std::string>(), contains("huge.toy"));
  CHECK(messages.at(1)["success"] == true);
}

TEST_CASE("a file that vanishes is debugged on, and cannot be launched again", "[protocol]") {
  const Workplace place;
  place.write("p.toy", kCopyProgram);
  const auto request = [](const std::string& command, const json& arguments) {
    return frame_of(
        json{{"seq", 1}, {"type", "request"}, {"command", command}, {"arguments", arguments}}
            .dump());
  };
  place.write("before",
              request("launch", {{"program", "p.toy"}}) + request("next", json::object()));
  place.write("after", request("stackTrace", json::object()) + request("next", json::object()) +
                           request("launch", {{"program", "p.toy"}}) +
                           request("threads", json::object()));
  // The server answers before the file goes: the shell waits for its first output.
  const Outcome outcome = place.shell(
      "mkfifo in; flashlab dap < in > out & exec 3> in; cat before >&3; "
      "for i in $(seq 600); do grep -q stopped out && break; sleep 0.1; done; rm p.toy; "
      "cat after >&3; exec 3>&-; wait $!");
  CHECK(outcome.code == 0);
  const auto messages = messages_in(place.read("out"));
  const auto answer = [&](const std::string& command, std::size_t number) {
    for (const json& message : messages) {
      if (message.value("command", "") == command && number-- == 0) return message;
    }
    FAIL("no answer to " + command);
    return json();
  };
  CHECK(answer("stackTrace", 0)["success"] == true);
  CHECK(answer("next", 1)["success"] == true);
  CHECK(answer("launch", 1)["success"] == false);
  CHECK_THAT(answer("launch", 1)["message"].get<std::string>(), contains("p.toy"));
  CHECK(answer("threads", 0)["success"] == true);
}

}  // namespace flashlab::test
