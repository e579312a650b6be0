// Sessions of an editor in any order, with members missing or of any type, made from choices: bytes of a
// fuzzer, or random numbers of a test.
#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/protocol/frames.hpp"

namespace flashlab::fuzz {

/// Makes messages. `Choose` returns a number below the given one.
template <class Choose>
class SessionMessages {
 public:
  using Json = nlohmann::json;
  explicit SessionMessages(Choose choose) : choose_(std::move(choose)) {}

  /// The bytes of a session with the language server, or with the debug adapter.
  std::string session(bool is_lsp) {
    std::string bytes;
    if (choose_(8) != 0) bytes += begin(is_lsp);
    for (std::size_t count = choose_(24); count > 0; --count) {
      if (choose_(40) == 0) {
        bytes += pick<std::string>(
            {"Content-Length: x\r\n\r\n", "\r\n\r\n", "{}", "Content-Length: 2\r\n\r\n[]"});
      }
      bytes += cli::framed(cli::message_text(is_lsp ? lsp() : dap()));
    }
    return bytes;
  }

  /// A command of the debugger's screen.
  std::string command() {
    const auto verb = pick<std::string>(
        {"next",  "back",   "continue",    "reverse", "step",  "line",    "back-line",
         "break", "delete", "breakpoints", "who",     "print", "symbols", "help",
         "?",     "n",      "L",           "out",     "o",     "fly",     ""});
    return choose_(5) == 0 ? verb : verb + " " + text();
  }

 private:
  template <class One>
  One pick(const std::vector<One>& all) {
    return all[choose_(all.size())];
  }

  std::string text() {
    return pick<std::string>({"R1",
                              "x[i]",
                              "x[0]",
                              "i",
                              "n",
                              "out[2]",
                              "y[9]",
                              "R1 > 0",
                              "24 if i == 2",
                              "24",
                              "15",
                              "i > 1 && R0 < 2",
                              "x[i + 1] > R1 || !(i % 2 == 0)",
                              "out[1] is written",
                              "R0 is written if i == 2 && R0 > 0",
                              "who wrote R1",
                              "R0 == ",
                              "x[",
                              "((((",
                              "-inf",
                              "1e999",
                              "5",
                              ">= 2",
                              "% 0",
                              "% 2",
                              "{x[i]}",
                              "{",
                              "}",
                              "",
                              "R99999999999999999999",
                              "i[0]",
                              "9223372036854775807 + 1",
                              "n / 0",
                              "n % 0",
                              "\xff\xfe",
                              "\xe2\x82",
                              "😀",
                              "for",
                              ".param",
                              "LOAD x[0], R0"});
  }

  Json number() {
    return pick<Json>({0, 1, 2, 3, 7, 24, 1000, 1001, 1'000'001, -1, 4'294'967'296, INT64_MAX,
                       INT64_MIN, 1.5, UINT64_MAX});
  }

  Json any(int depth = 0) {
    switch (choose_(depth > 2 ? 4 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return number();
      case 2:
        return text();
      case 3:
        return choose_(2) == 0;
      case 4:
        return Json::array();
      case 5:
        return Json::array({any(depth + 1), any(depth + 1)});
      default:
        return Json{{pick<std::string>({"line", "character", "name", "path", "uri", "text"}),
                     any(depth + 1)}};
    }
  }

  /// Mostly the value; sometimes another, or none.
  void put(Json& object, const char* key, Json value) {
    const auto chance = choose_(16);
    if (chance == 0) return;
    object[key] = chance == 1 ? any() : std::move(value);
  }

  std::string begin(bool is_lsp) {
    if (is_lsp) {
      return framed({{"jsonrpc", "2.0"},
                     {"id", 0},
                     {"method", "initialize"},
                     {"params", {{"capabilities", Json::object()}}}}) +
             framed({{"jsonrpc", "2.0"},
                     {"method", "textDocument/didOpen"},
                     {"params",
                      {{"textDocument",
                        {{"uri", kUri},
                         {"languageId", "toy"},
                         {"version", 1},
                         {"text", program()}}}}}});
    }
    return framed({{"seq", 1},
                   {"type", "request"},
                   {"command", "initialize"},
                   {"arguments", Json::object()}}) +
           framed(
               {{"seq", 2}, {"type", "request"}, {"command", "launch"}, {"arguments", launch()}});
  }
  static std::string framed(const Json& message) { return cli::framed(cli::message_text(message)); }

  std::string program() {
    const std::string whole =
        ".isa softmax\n.registers 3\n.param n = 4\n.input x[n]\n.output y[n]\n"
        "for i in 0..n\n  LOAD x[i], R0 ; \xF0\x9F\x98\x80\n  STORE R0, y[i]\nend\n";
    switch (choose_(5)) {
      case 0:
        return "\xEF\xBB\xBF" + whole;
      case 1:
        return whole.substr(0, choose_(whole.size()));
      case 2: {
        std::string returns;
        for (const char c : whole) returns += c == '\n' ? "\r\n" : std::string(1, c);
        return returns;
      }
      case 3:
        return text();
      default:
        return whole;
    }
  }

  Json position() {
    Json result = Json::object();
    put(result, "line", choose_(4) == 0 ? number() : Json(choose_(10)));
    put(result, "character", choose_(4) == 0 ? number() : Json(choose_(24)));
    return result;
  }
  Json range() {
    Json result = Json::object();
    put(result, "start", position());
    put(result, "end", position());
    return result;
  }

  Json lsp() {
    const auto method = pick<std::string>({"textDocument/didChange",
                                           "textDocument/didChange",
                                           "textDocument/didChange",
                                           "textDocument/didOpen",
                                           "textDocument/didClose",
                                           "textDocument/hover",
                                           "textDocument/hover",
                                           "textDocument/inlayHint",
                                           "textDocument/definition",
                                           "textDocument/references",
                                           "textDocument/documentSymbol",
                                           "textDocument/documentHighlight",
                                           "textDocument/foldingRange",
                                           "textDocument/codeAction",
                                           "textDocument/completion",
                                           "textDocument/prepareRename",
                                           "textDocument/rename",
                                           "textDocument/semanticTokens/full",
                                           "textDocument/codeLens",
                                           "textDocument/formatting",
                                           "textDocument/didSave",
                                           "initialize",
                                           "initialized",
                                           "shutdown",
                                           "$/cancelRequest",
                                           "fly"});
    Json document{{"uri", choose_(12) == 0 ? "file:///other" : kUri}};
    put(document, "version", number());
    put(document, "text", program());
    Json params = Json::object();
    put(params, "textDocument", document);
    put(params, "position", position());
    put(params, "range", range());
    put(params, "newName", text());
    Json context{{"includeDeclaration", choose_(2) == 0}};
    if (choose_(3) == 0) put(context, "only", Json::array({"quickfix"}));
    put(params, "context", std::move(context));
    Json changes = Json::array();
    for (std::size_t count = choose_(4); count > 0; --count) {
      Json change = Json::object();
      if (choose_(4) != 0) put(change, "range", range());
      put(change, "text", choose_(2) == 0 ? program() : text());
      changes.push_back(std::move(change));
    }
    put(params, "contentChanges", std::move(changes));
    Json message{{"jsonrpc", "2.0"}};
    const bool notifies = method.find("did") != std::string::npos;
    if (choose_(12) == 0 ? notifies : !notifies) message["id"] = ++last_;
    put(message, "method", method);
    put(message, "params", std::move(params));
    return message;
  }

  Json launch() {
    Json arguments = Json::object();
    put(arguments, "program",
        choose_(6) == 0 ? text() : pick<std::string>({"softmax_online", "matmul_naive", "flash2"}));
    if (choose_(3) == 0)
      put(arguments, "params", {{"n", choose_(4) == 0 ? number() : Json(1 + choose_(60))}});
    if (choose_(6) == 0) put(arguments, "inputs", {{"x", any()}});
    if (choose_(4) == 0) put(arguments, "step", number());
    if (choose_(4) == 0) put(arguments, "precision", choose_(8) == 0 ? any() : Json("double"));
    if (choose_(4) == 0) put(arguments, "stopOnEntry", choose_(8) == 0 ? any() : Json(false));
    if (choose_(12) == 0) put(arguments, "noDebug", choose_(4) == 0 ? any() : Json(true));
    if (choose_(12) == 0) put(arguments, "cwd", choose_(4) == 0 ? any() : Json("."));
    return arguments;
  }

  Json dap() {
    const auto command = pick<std::string>({"initialize",
                                            "launch",
                                            "configurationDone",
                                            "setBreakpoints",
                                            "setBreakpoints",
                                            "setBreakpoints",
                                            "setFunctionBreakpoints",
                                            "setDataBreakpoints",
                                            "dataBreakpointInfo",
                                            "setExceptionBreakpoints",
                                            "threads",
                                            "stackTrace",
                                            "scopes",
                                            "variables",
                                            "variables",
                                            "evaluate",
                                            "evaluate",
                                            "completions",
                                            "setVariable",
                                            "setExpression",
                                            "next",
                                            "stepIn",
                                            "stepOut",
                                            "stepBack",
                                            "continue",
                                            "continue",
                                            "reverseContinue",
                                            "gotoTargets",
                                            "goto",
                                            "pause",
                                            "cancel",
                                            "source",
                                            "terminate",
                                            "disconnect",
                                            "attach",
                                            "restart",
                                            "fly"});
    Json arguments = command == "launch" ? launch() : Json::object();
    Json breakpoints = Json::array();
    for (std::size_t count = choose_(4); count > 0; --count) {
      Json one = Json::object();
      put(one, "line", choose_(4) == 0 ? number() : Json(choose_(50)));
      put(one, "name", text());
      put(one, "dataId",
          choose_(2) == 0 ? Json(text()) : Json(pick<std::string>({"R0", "R1", "out[1]", "c[0]"})));
      if (choose_(2) == 0) put(one, "condition", text());
      if (choose_(3) == 0) put(one, "hitCondition", choose_(3) == 0 ? text() : "% 2");
      if (choose_(3) == 0) put(one, "logMessage", text());
      if (choose_(4) == 0) put(one, "accessType", "read");
      breakpoints.push_back(std::move(one));
    }
    put(arguments, "breakpoints", std::move(breakpoints));
    put(arguments, "source",
        {{pick<std::string>({"path", "name", "sourceReference"}),
          choose_(3) == 0 ? any() : Json("softmax_online.toy")}});
    put(arguments, "line", number());
    put(arguments, "text", text());
    put(arguments, "column", choose_(3) == 0 ? number() : Json(choose_(12)));
    put(arguments, "expression", text());
    put(arguments, "context", pick<std::string>({"repl", "watch", "hover"}));
    put(arguments, "name", text());
    put(arguments, "variablesReference", choose_(3) == 0 ? number() : Json(1 + choose_(5)));
    if (choose_(3) == 0) put(arguments, "start", number());
    if (choose_(3) == 0) put(arguments, "count", number());
    if (choose_(3) == 0) put(arguments, "filter", pick<std::string>({"named", "indexed"}));
    put(arguments, "targetId", number());
    put(arguments, "threadId", 1);
    Json message = Json::object();
    put(message, "seq", ++last_);
    put(message, "type", choose_(20) == 0 ? "response" : "request");
    put(message, "command", command);
    put(message, "arguments", std::move(arguments));
    return message;
  }

  static constexpr const char* kUri = "file:///p.toy";
  Choose choose_;
  std::int64_t last_ = 2;
};

/// Runs a session in this process, and returns what the server wrote.
template <class Server>
std::string outcome_of_session(const std::string& bytes) {
  std::FILE* const input = std::tmpfile();
  std::fwrite(bytes.data(), 1, bytes.size(), input);
  std::fflush(input);
  std::rewind(input);
  std::FILE* const output = std::tmpfile();
  {
    cli::ProtocolStream stream(fileno(input), fileno(output));
    Server(stream).run();
  }
  std::fseek(output, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::ftell(output)), '\0');
  std::rewind(output);
  text.resize(std::fread(text.data(), 1, text.size(), output));
  std::fclose(input);
  std::fclose(output);
  return text;
}

}  // namespace flashlab::fuzz
