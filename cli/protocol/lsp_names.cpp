// The language server's answers about words: where they are named, other names, and kinds.
#include <optional>
#include <utility>

#include "cli/protocol/json_members.hpp"
#include "cli/protocol/lsp_positions.hpp"
#include "cli/protocol/lsp_server.hpp"
#include "cli/protocol/lsp_word_kinds.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

const toy::SourceWord& word_in(const ToyDocument& document, const json& params) {
  const BytePlace place = place_in(document.source(), params);
  const toy::SourceWord* const word = document.names().word_at(place.line, place.column);
  if (word == nullptr) throw RefusedRequest("there is no name at this place");
  return *word;
}

}  // namespace

json LspServer::definition(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  const toy::SourceWord* const word = open.names().word_at(place.line, place.column);
  const auto span = word == nullptr ? std::nullopt : open.names().declaration_of(*word);
  if (!span) return nullptr;
  return {{"uri", uri_in(params)}, {"range", LspPositions(open.source()).range(*span)}};
}

json LspServer::references(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  const toy::SourceWord* const word = open.names().word_at(place.line, place.column);
  if (word == nullptr) return json::array();
  LspPositions positions(open.source());
  const std::string before = R"({"uri":)" + json(uri_in(params)).dump() + R"(,"range":)";
  const bool with_declaration = member_of(params, "context") == nullptr ||
                                switch_in(object_of(params, "context"), "includeDeclaration", true);
  const auto declared = with_declaration ? std::nullopt : open.names().declaration_of(*word);
  for (const toy::SourceSpan& span : open.names().places_of(*word)) {
    if (declared && declared->line == span.line && declared->column == span.column) continue;
    text_result_ += (text_result_.empty() ? "[" : ",") + before + positions.range_text(span) + "}";
  }
  if (text_result_.empty()) return json::array();
  text_result_ += "]";
  return nullptr;
}

json LspServer::document_highlight(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  const toy::SourceWord* const word = open.names().word_at(place.line, place.column);
  if (word == nullptr) return json::array();
  LspPositions positions(open.source());
  for (const toy::SourceSpan& span : open.names().places_of(*word)) {
    text_result_ +=
        (text_result_.empty() ? "[" : ",") + (R"({"range":)" + positions.range_text(span) + "}");
  }
  if (text_result_.empty()) return json::array();
  text_result_ += "]";
  return nullptr;
}

json LspServer::prepare_rename(const json& params) {
  const ToyDocument& open = document(params);
  const toy::SourceWord& word = word_in(open, params);
  const std::string reason = open.names().why_not_renamed(word);
  if (!reason.empty()) throw RefusedRequest(reason);
  return {{"range", LspPositions(open.source()).range(word.span)},
          {"placeholder", open.names().text_of(word)}};
}

json LspServer::rename(const json& params) {
  const ToyDocument& open = document(params);
  const toy::SourceWord& word = word_in(open, params);
  const std::string name = text_of(params, "newName");
  const std::string reason = open.names().why_not_renamed(word, name);
  if (!reason.empty()) throw RefusedRequest(reason);
  LspPositions positions(open.source());
  json edits = json::array();
  for (const toy::SourceSpan& span : open.names().places_of(word)) {
    edits.push_back({{"range", positions.range(span)}, {"newText", name}});
  }
  return workspace_edit(params, std::move(edits));
}

/// The client refuses edits of another version than it has, if it can be told which one is meant.
json LspServer::workspace_edit(const json& params, json edits) const {
  const std::string uri = uri_in(params);
  if (!has_versioned_edits_) return {{"changes", {{uri, std::move(edits)}}}};
  const std::optional<std::int64_t> version = documents_.at(uri).version;
  json identifier{{"uri", uri}, {"version", version ? json(*version) : json(nullptr)}};
  json change{{"textDocument", std::move(identifier)}, {"edits", std::move(edits)}};
  return {{"documentChanges", json::array({std::move(change)})}};
}

json LspServer::semantic_legend() {
  json types = json::array();
  for (const KindRow& row : kKindRows) types.push_back(row.token_type);
  return {{"tokenTypes", std::move(types)}, {"tokenModifiers", {"declaration"}}};
}

json LspServer::semantic_tokens(const json& params) {
  const ToyDocument& open = document(params);
  LspPositions positions(open.source());
  std::vector<std::uint32_t> data;  // five numbers for each token, places relative to the last one
  std::uint32_t last_line = 1, last_start = 0;
  for (const toy::SourceWord& word : open.names().words().words) {
    const std::size_t row = kind_row_of(word.kind);
    if (row == kKindRows.size()) continue;  // labels and unknown words keep the grammar's colour
    const std::uint32_t line = word.span.line;
    const std::uint32_t start = positions.column(line, word.span.column);
    const std::uint32_t end = positions.column(line, word.span.column + word.span.length);
    const auto declared = open.names().declaration_of(word);
    const bool declares =
        declared && declared->line == line && declared->column == word.span.column;
    data.insert(data.end(), {line - last_line, line == last_line ? start - last_start : start,
                             end - start, static_cast<std::uint32_t>(row), declares ? 1U : 0U});
    last_line = line;
    last_start = start;
  }
  return {{"data", std::move(data)}};
}

}  // namespace flashlab::cli
