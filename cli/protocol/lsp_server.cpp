#include "cli/protocol/lsp_server.hpp"

#include <algorithm>
#include <utility>

#include "cli/protocol/json_members.hpp"
#include "cli/protocol/lsp_positions.hpp"
#include "cli/protocol/word_text.hpp"
#include "cli/terminal/failure.hpp"
#include "text/markdown.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"
#include "toymachine/language/formatting.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

// Of JSON-RPC.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602;
constexpr int kNotInitialized = -32002;
constexpr int kRequestFailed = -32803;  // of LSP: valid, and refused

constexpr std::size_t kMostDiagnostics = 1000;  // more would only make an editor slow

json lsp_diagnostic(LspPositions& positions, const toy::Diagnostic& one) {
  std::string message = one.what;
  if (!one.expected.empty()) message += "; expected " + one.expected;
  if (!one.suggestion.empty()) message += "; did you mean '" + one.suggestion + "'?";
  return {{"range", positions.visible_range(one.span)},
          {"severity", one.severity == toy::Severity::kError     ? 1
                       : one.severity == toy::Severity::kWarning ? 2
                                                                 : 3},
          {"source", "flashlab"},
          {"message", message}};
}

/// A position's line, from 1.
std::int64_t line_in(const json& position) {
  constexpr std::int64_t kLargest = UINT32_MAX;
  return std::clamp<std::int64_t>(whole_number_of(position, "line"), -1, kLargest) + 1;
}

}  // namespace

/// Which requests and notifications there are, and in which state they are served.
const RequestTable<LspServer::Handler>& LspServer::table() {
  static const RequestTable<Handler> kTable = {
      {"initialize", {&LspServer::initialize, kNew}},
      {"initialized", {&LspServer::nothing, kReady}},
      {"textDocument/didOpen", {&LspServer::did_open, kReady}},
      {"textDocument/didChange", {&LspServer::did_change, kReady}},
      {"textDocument/didClose", {&LspServer::did_close, kReady}},
      {"textDocument/didSave", {&LspServer::nothing, kReady}},
      {"textDocument/hover", {&LspServer::hover, kReady}},
      {"textDocument/inlayHint", {&LspServer::inlay_hint, kReady}},
      {"textDocument/definition", {&LspServer::definition, kReady}},
      {"textDocument/references", {&LspServer::references, kReady}},
      {"textDocument/documentSymbol", {&LspServer::document_symbol, kReady}},
      {"textDocument/foldingRange", {&LspServer::folding_range, kReady}},
      {"textDocument/documentHighlight", {&LspServer::document_highlight, kReady}},
      {"textDocument/codeAction", {&LspServer::code_action, kReady}},
      {"textDocument/completion", {&LspServer::completion, kReady}},
      {"textDocument/prepareRename", {&LspServer::prepare_rename, kReady}},
      {"textDocument/rename", {&LspServer::rename, kReady}},
      {"textDocument/semanticTokens/full", {&LspServer::semantic_tokens, kReady}},
      {"textDocument/codeLens", {&LspServer::code_lens, kReady}},
      {"textDocument/formatting", {&LspServer::formatting, kReady}},
      {"shutdown", {&LspServer::shutdown, kReady}},
      {"exit", {&LspServer::exit, kAlways}},
  };
  return kTable;
}

int LspServer::run() {
  while (!has_exited_) {
    const auto frame = stream_.read();
    if (!frame) break;
    serve(*frame);
  }
  if (!has_exited_) return stream_.exit_code_at_end();
  return state_ == kEnded ? kExitGood : kExitProgramWrong;
}

void LspServer::fail(const json& id, int code, const std::string& message) {
  stream_.write(
      {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void LspServer::serve(const Frame& frame) {
  if (!frame.error.empty()) {
    return fail(nullptr, frame.is_json ? kInvalidRequest : kParseError, frame.error);
  }
  const auto id = frame.body.find("id");
  const bool is_request = id != frame.body.end();
  const auto method = frame.body.find("method");
  if (method == frame.body.end()) return;  // an answer to nothing
  if (!method->is_string()) {
    return is_request ? fail(*id, kInvalidRequest, "\"method\" is no text") : void();
  }
  const auto row = table().find(method->get<std::string>());
  const unsigned states = row == table().end() ? unsigned{kReady} : row->second.states;
  if ((states & state_) == 0) {
    if (!is_request) return;
    if (state_ == kNew) return fail(*id, kNotInitialized, "initialize comes first");
    return fail(*id, kInvalidRequest,
                state_ == kEnded ? "the server was shut down; only exit follows"
                                 : "the server was initialized already");
  }
  if (row == table().end()) {
    if (is_request) {
      fail(*id, kMethodNotFound,
           "there is no method '" + printable(method->get<std::string>()) + "'");
    }
    return;
  }
  text_result_.clear();
  try {
    const json* const params = member_of(frame.body, "params");
    json result = (this->*row->second.handler)(params == nullptr ? json::object() : *params);
    const std::string text = std::exchange(text_result_, {});
    if (!is_request) return;
    if (text.empty()) {
      stream_.write({{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(result)}});
    } else {
      stream_.write_text(R"({"jsonrpc":"2.0","id":)" + message_text(*id) + R"(,"result":)" + text +
                         "}");
    }
  } catch (const RefusedRequest& refused) {
    if (is_request) fail(*id, kRequestFailed, refused.what());
  } catch (const std::exception& error) {  // a member is missing or of another type
    if (is_request) fail(*id, kInvalidParams, error.what());
  }
}

std::string LspServer::uri_in(const json& params) {
  return text_of(object_of(params, "textDocument"), "uri");
}

const ToyDocument& LspServer::document(const json& params) const {
  const std::string uri = uri_in(params);
  const auto found = documents_.find(uri);
  if (found == documents_.end()) throw std::runtime_error(printable(uri) + " is not open");
  return *found->second.document;
}

json LspServer::nothing(const json&) { return nullptr; }

void LspServer::open(const std::string& uri, const std::string& text, const json& params) {
  Open& open = documents_[uri];
  open.document = std::make_shared<const ToyDocument>(uri, text, open.document);
  const json* const version = member_of(object_of(params, "textDocument"), "version");
  const bool has_version = version != nullptr && version->is_number_integer();
  open.version = has_version ? std::optional(version->get<std::int64_t>()) : std::nullopt;
  publish(uri);
}

json LspServer::did_open(const json& params) {
  const std::string uri = uri_in(params);
  const auto text = text_of(object_of(params, "textDocument"), "text");
  open(uri, text, params);
  return nullptr;
}

/// Applies the changes in their order: each counts its places in the text after the one before.
json LspServer::did_change(const json& params) {
  const json& changes = objects_of(params, "contentChanges");
  if (changes.empty()) return nullptr;
  std::string text = changed_text(document(params).source(), changes.front());
  for (std::size_t i = 1; i < changes.size(); ++i) {
    text = changed_text(toy::SourceText(std::string(), std::move(text)), changes[i]);
  }
  open(uri_in(params), text, params);
  return nullptr;
}

json LspServer::did_close(const json& params) {
  documents_.erase(uri_in(params));
  publish(uri_in(params));
  return nullptr;
}

void LspServer::publish(const std::string& uri) {
  json list = json::array();
  json published{{"uri", uri}};
  if (const auto found = documents_.find(uri); found != documents_.end()) {
    const ToyDocument& document = *found->second.document;
    if (found->second.version) published["version"] = *found->second.version;
    LspPositions positions(document.source());
    const std::vector<toy::Diagnostic>& all = document.diagnostics();
    for (const toy::Diagnostic& one : all) {
      if (list.size() == kMostDiagnostics) break;
      list.push_back(lsp_diagnostic(positions, one));
    }
    if (all.size() > kMostDiagnostics) {
      list.back()["message"] = list.back()["message"].get<std::string>() + " (and " +
                               std::to_string(all.size() - kMostDiagnostics) + " more)";
    }
  }
  published["diagnostics"] = std::move(list);
  stream_.write({{"jsonrpc", "2.0"},
                 {"method", "textDocument/publishDiagnostics"},
                 {"params", std::move(published)}});
}

json LspServer::hover(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  const toy::SourceWord* const word = open.names().word_at(place.line, place.column);
  std::string text = word == nullptr ? std::string() : about_word(open, *word);
  const bool is_about_word = !text.empty();
  const std::string line = open.about_line(place.line);
  text += (is_about_word && !line.empty() ? "\n\n---\n\n" : "") + line;
  if (text.empty()) return nullptr;
  json contents{{"kind", wants_markdown_ ? "markdown" : "plaintext"},
                {"value", wants_markdown_ ? text : without_markdown(text)}};
  json result{{"contents", std::move(contents)}};
  if (is_about_word) result["range"] = LspPositions(open.source()).range(word->span);
  return result;
}

json LspServer::inlay_hint(const json& params) {
  const ToyDocument& open = document(params);
  const json& range = object_of(params, "range");
  const std::int64_t first = line_in(object_of(range, "start")),
                     last = line_in(object_of(range, "end"));
  LspPositions positions(open.source());
  json result = json::array();
  for (const LineHint& hint : open.hints()) {
    if (hint.line < first || hint.line > last) continue;
    const std::size_t end = open.source().line(hint.line).size() + 1;
    result.push_back({{"position", positions.position(hint.line, end)},
                      {"label", hint.text},
                      {"paddingLeft", true}});
    if (!hint.details.empty()) result.back()["tooltip"] = hint.details;
  }
  return result;
}

/// The words that the diagnostics suggest, for the client to put in. The diagnostics that the client
/// sends are not needed: the server knows its own.
json LspServer::code_action(const json& params) {
  json result = json::array();
  const json::json_pointer kinds("/context/only");
  if (params.contains(kinds)) {
    const json& only = params.at(kinds);
    const auto wants = [](const json& kind) { return kind == "quickfix" || kind == ""; };
    if (std::none_of(only.begin(), only.end(), wants)) return result;
  }
  const ToyDocument& open = document(params);
  const auto place = [](const json& position) {
    return std::pair(whole_number_of(position, "line"), whole_number_of(position, "character"));
  };
  const json& wanted = object_of(params, "range");
  LspPositions positions(open.source());
  for (const toy::Diagnostic& one : open.diagnostics()) {
    if (one.suggestion.empty() || one.span.line == 0 || one.span.length == 0) continue;
    const json diagnostic = lsp_diagnostic(positions, one);
    const json& range = diagnostic.at("range");
    if (place(range.at("end")) < place(object_of(wanted, "start")) ||
        place(object_of(wanted, "end")) < place(range.at("start"))) {
      continue;
    }
    const std::string_view line = open.source().line(one.span.line);
    const std::string_view now =
        line.substr(std::min<std::size_t>(one.span.column - 1, line.size()), one.span.length);
    json edit{{"range", range}, {"newText", one.suggestion}};
    result.push_back({{"title", "Write " + one.suggestion + " instead of " + printable(now)},
                      {"kind", "quickfix"},
                      {"isPreferred", true},
                      {"diagnostics", json::array({diagnostic})},
                      {"edit", workspace_edit(params, json::array({std::move(edit)}))}});
    if (result.size() == kMostDiagnostics) break;
  }
  return result;
}

json LspServer::code_lens(const json& params) {
  if (!document(params).is_valid()) return json::array();
  const json top = {{"line", 0}, {"character", 0}};
  json result = json::array();
  const std::string uri = uri_in(params);
  std::vector<std::string> titles{"Run", "Trace", "Debug"};
  // Files of exercises begin with their number.
  const std::size_t name = uri.rfind('/') + 1;
  if (name < uri.size() && is_digit(uri[name])) titles.emplace_back("Check");
  for (const std::string& title : titles) {
    std::string command = title;
    command[0] = static_cast<char>(command[0] - 'A' + 'a');
    result.push_back({{"range", {{"start", top}, {"end", top}}},
                      {"command",
                       {{"title", title},
                        {"command", "flashlab." + command},
                        {"arguments", json::array({uri})}}}});
  }
  return result;
}

/// Edits for what differs only, so that cursors stay at their words. The client's wishes for
/// tabs are ignored: programs look the same everywhere.
json LspServer::formatting(const json& params) {
  const toy::SourceText& source = document(params).source();
  const std::vector<std::string> lines = toy::formatted_lines(source);
  const auto count = static_cast<std::uint32_t>(lines.size()) - 1;  // the last one is empty
  LspPositions positions(source);
  json edits = json::array();
  const auto edit = [&](std::uint32_t first, std::size_t from, std::uint32_t last, std::size_t to,
                        std::string_view text) {
    edits.push_back(
        {{"range",
          {{"start", positions.position(first, from)}, {"end", positions.position(last, to)}}},
         {"newText", text}});
  };
  const bool has_end =
      !source.text().empty() && (source.text().back() == '\n' || source.text().back() == '\r');
  for (std::uint32_t line = 1; line <= count; ++line) {
    const bool adds_end = line == source.num_lines() && !has_end;
    const std::size_t behind = source.line(line).size() + 1;
    std::string_view end = adds_end ? source.line_end() : std::string_view();
    for (const toy::LineEdit& one : toy::line_edits(source.line(line), lines[line - 1])) {
      const bool is_last = one.to == behind;
      edit(line, one.from, line, one.to,
           std::string(one.text) + std::string(is_last ? std::exchange(end, {}) : ""));
    }
    if (!end.empty()) edit(line, behind, line, behind, end);
  }
  const auto old_count = static_cast<std::uint32_t>(source.num_lines());
  if (old_count > count) {
    const std::uint32_t last = old_count + (has_end ? 1 : 0);
    edit(count + 1, 1, last, source.line(last).size() + 1, "");
  }
  return edits;
}

json LspServer::shutdown(const json&) {
  state_ = kEnded;
  return nullptr;
}

json LspServer::exit(const json&) {
  has_exited_ = true;
  return nullptr;
}

}  // namespace flashlab::cli
