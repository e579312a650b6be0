// A session with the language server: requests that were typed from its specification, and answers.
#pragma once

#include <string>
#include <vector>

#include "tests/cli/editors/protocol_session.hpp"

namespace flashlab::test {

inline constexpr const char* kUri = "file:///home/p.toy";

/// The program of most sessions. Lines of requests count from 0.
inline constexpr const char* kCopyProgram = R"(.isa softmax
.registers 2
.param n = 4
.input x[n]
.output y[n]
.pass Copy
for i in 0..n
  LOAD x[i], R0 ; 😀 of x
  for j in 0..i
    MOV R0, r1
  end
  STORE R0, y[i]
end
)";

class LspSession {
 public:
  /// The client takes Markdown and trees of symbols, as most editors do, unless it says otherwise.
  explicit LspSession(nlohmann::json client = nlohmann::json::object()) {
    const nlohmann::json::json_pointer formats("/textDocument/hover/contentFormat");
    if (!client.contains(formats)) client[formats] = {"markdown", "plaintext"};
    const nlohmann::json::json_pointer trees(
        "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport");
    if (!client.contains(trees)) client[trees] = true;
    request("initialize", {{"capabilities", client}});
  }

  LspSession& request(const std::string& method, const nlohmann::json& params) {
    return send({{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}});
  }
  LspSession& notify(const std::string& method, const nlohmann::json& params) {
    return send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  LspSession& open(const std::string& text, const std::string& uri = kUri) {
    return notify(
        "textDocument/didOpen",
        {{"textDocument", {{"uri", uri}, {"languageId", "toy"}, {"version", 1}, {"text", text}}}});
  }
  /// A request about a place in the document.
  LspSession& at(const std::string& method, int line, int character) {
    return request(method, {{"textDocument", {{"uri", kUri}}},
                            {"position", {{"line", line}, {"character", character}}}});
  }
  LspSession& rename(int line, int character, const std::string& name) {
    return request("textDocument/rename", {{"textDocument", {{"uri", kUri}}},
                                           {"position", {{"line", line}, {"character", character}}},
                                           {"newName", name}});
  }
  /// A request about the whole document.
  LspSession& whole(const std::string& method) {
    return request(method, {{"textDocument", {{"uri", kUri}}}});
  }
  LspSession& raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }

  /// The results of all requests but the first, in order, and what was published.
  void run() {
    request("shutdown", nullptr);
    send({{"jsonrpc", "2.0"}, {"method", "exit"}});
    for (const nlohmann::json& message : protocol_session(Workplace(), "lsp", bytes_)) {
      if (message.value("method", "") == "textDocument/publishDiagnostics") {
        published.push_back(message["params"]["diagnostics"]);
      } else if (message.contains("error")) {
        errors.push_back(message["error"]["code"]);
        refusals.push_back(message["error"]["message"]);
      } else if (message["id"] == 1) {
        capabilities = message["result"]["capabilities"];
      } else {
        results.push_back(message["result"]);
      }
    }
  }

  nlohmann::json capabilities;
  std::vector<nlohmann::json> results, published;
  std::vector<int> errors;
  std::vector<std::string> refusals;  // the messages of the errors

 private:
  LspSession& send(const nlohmann::json& message) { return raw(frame_of(message.dump())); }

  int id_ = 0;
  std::string bytes_;
};

}  // namespace flashlab::test
