// The language server's answers about words: where they are declared and used.
#include <optional>

#include "cli/protocol/lsp_positions.hpp"
#include "cli/protocol/lsp_server.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

}  // namespace

json LspServer::definition(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  const toy::SourceWord* const word = open.word_at(place.line, place.column);
  const auto span = word == nullptr ? std::nullopt : open.declaration_of(*word);
  if (!span) return nullptr;
  return {{"uri", uri_in(params)}, {"range", LspPositions(open.source()).range(*span)}};
}

json LspServer::references(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  const toy::SourceWord* const word = open.word_at(place.line, place.column);
  json result = json::array();
  if (word == nullptr) return result;
  LspPositions positions(open.source());
  for (const toy::SourceSpan& span : open.places_of(*word)) {
    result.push_back({{"uri", uri_in(params)}, {"range", positions.range(span)}});
  }
  return result;
}

}  // namespace flashlab::cli
