// The language server's answers about a program's parts: passes, loops and blocks of comments.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/protocol/lsp_positions.hpp"
#include "cli/protocol/lsp_server.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;

int symbol_kind(const ToyDocument::Symbol& symbol) {
  constexpr int kNamespace = 3, kArray = 18;  // of SymbolKind: a pass, a loop
  return symbol.is_pass ? kNamespace : kArray;
}

json symbol_range(LspPositions& positions, const toy::SourceText& source,
                  const ToyDocument::Symbol& symbol) {
  json start = positions.position(symbol.first, 1);
  json end = positions.position(symbol.last, source.line(symbol.last).size() + 1);
  return {{"start", std::move(start)}, {"end", std::move(end)}};
}

json lsp_symbols(const toy::SourceText& source, const std::vector<ToyDocument::Symbol>& symbols) {
  LspPositions positions(source);
  json result = json::array();
  for (const ToyDocument::Symbol& one : symbols) {
    const auto first_length = static_cast<std::uint32_t>(source.line(one.first).size());
    json line = positions.range({one.first, 1, first_length});
    result.push_back({{"name", printable(one.name)},
                      {"kind", symbol_kind(one)},
                      {"range", symbol_range(positions, source, one)},
                      {"selectionRange", std::move(line)},
                      {"children", lsp_symbols(source, one.inside)}});
  }
  return result;
}

/// The same as a list, for clients that know no trees: each names what it is in.
void add_flat_symbols(const toy::SourceText& source, const std::string& uri,
                      const std::vector<ToyDocument::Symbol>& symbols, const std::string& container,
                      json& result) {
  LspPositions positions(source);
  for (const ToyDocument::Symbol& one : symbols) {
    const std::string name = printable(one.name);
    json location{{"uri", uri}, {"range", symbol_range(positions, source, one)}};
    result.push_back(
        {{"name", name}, {"kind", symbol_kind(one)}, {"location", std::move(location)}});
    if (!container.empty()) result.back()["containerName"] = container;
    add_flat_symbols(source, uri, one.inside, name, result);
  }
}

/// Lines from 1. A fold shows its first line and hides the others.
void add_fold(std::uint32_t first, std::uint32_t last, const char* kind, json& folds) {
  if (last <= first) return;
  folds.push_back({{"startLine", first - 1}, {"endLine", last - 1}});
  if (kind != nullptr) folds.back()["kind"] = kind;
}

/// A loop's `end` stays, and so do blank lines behind a pass.
void add_folds(const toy::SourceText& source, const std::vector<ToyDocument::Symbol>& symbols,
               json& folds) {
  for (const ToyDocument::Symbol& one : symbols) {
    std::uint32_t last = one.last;
    const bool has_end = !one.is_pass && trimmed(source.line(last)).starts_with("end");
    if (has_end) --last;
    while (last > one.first && trimmed(source.line(last)).empty()) --last;
    add_fold(one.first, last, nullptr, folds);
    add_folds(source, one.inside, folds);
  }
}

void add_comment_folds(const toy::SourceText& source, json& folds) {
  const auto count = static_cast<std::uint32_t>(source.num_lines());
  std::uint32_t first = 0;  // of a block; 0: outside
  for (std::uint32_t line = 1; line <= count + 1; ++line) {
    const std::string_view text = trimmed(source.line(line));
    const bool is_comment = text.starts_with(';') || text.starts_with('#');
    if (is_comment && first == 0) first = line;
    if (is_comment || first == 0) continue;
    add_fold(first, line - 1, "comment", folds);
    first = 0;
  }
}

}  // namespace

json LspServer::document_symbol(const json& params) {
  const ToyDocument& open = document(params);
  if (has_symbol_trees_) return lsp_symbols(open.source(), open.symbols());
  json result = json::array();
  add_flat_symbols(open.source(), uri_in(params), open.symbols(), {}, result);
  return result;
}

json LspServer::folding_range(const json& params) {
  const ToyDocument& open = document(params);
  json folds = json::array();
  add_folds(open.source(), open.symbols(), folds);
  add_comment_folds(open.source(), folds);
  return folds;
}

}  // namespace flashlab::cli
