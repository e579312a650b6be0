// What the language server and its client can do.
#include <string>

#include "cli/protocol/json_members.hpp"
#include "cli/protocol/lsp_server.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

/// Whether the client takes Markdown there, and prefers it. Without a word about it, it takes plain
/// text.
bool takes_markdown(const json& params, const char* formats) {
  const json::json_pointer where(formats);
  if (!params.contains(where) || !params.at(where).is_array()) return false;
  for (const json& one : params.at(where)) {
    if (one == "markdown" || one == "plaintext") return one == "markdown";
  }
  return false;
}

/// Whether the client has a capability, by its place in `capabilities`.
bool can(const json& params, const char* capability) {
  const json::json_pointer where(std::string("/capabilities") + capability);
  return params.contains(where) && params.at(where) == true;
}

}  // namespace

json LspServer::initialize(const json& params) {
  constexpr int kIncremental = 2;  // of TextDocumentSyncKind
  stream_.end_with(number_in(params, "processId", 0));
  state_ = kReady;
  wants_markdown_ = takes_markdown(params, "/capabilities/textDocument/hover/contentFormat");
  inserts_or_replaces_ =
      can(params, "/textDocument/completion/completionItem/insertReplaceSupport");
  has_symbol_trees_ = can(params, "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport");
  has_versioned_edits_ = can(params, "/workspace/workspaceEdit/documentChanges");
  const bool can_prepare = can(params, "/textDocument/rename/prepareSupport");
  // Others expect commands, which could not edit the text.
  const json::json_pointer actions(
      "/capabilities/textDocument/codeAction/codeActionLiteralSupport");
  const bool knows_actions = params.contains(actions);
  return {{"capabilities",
           {{"textDocumentSync", {{"openClose", true}, {"change", kIncremental}}},
            {"hoverProvider", true},
            {"inlayHintProvider", true},
            {"definitionProvider", true},
            {"referencesProvider", true},
            {"documentSymbolProvider", true},
            {"documentHighlightProvider", true},
            {"foldingRangeProvider", true},
            {"codeActionProvider",
             knows_actions ? json{{"codeActionKinds", json::array({"quickfix"})}} : json(false)},
            {"completionProvider", {{"triggerCharacters", {"."}}}},
            // The options are only for clients that know them.
            {"renameProvider", can_prepare ? json{{"prepareProvider", true}} : json(true)},
            {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}},
            {"documentFormattingProvider", true},
            {"codeLensProvider", json::object()}}},
          {"serverInfo", {{"name", "flashlab"}}}};
}

}  // namespace flashlab::cli
