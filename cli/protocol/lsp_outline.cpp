// The language server's answers about a program's parts: passes, loops and blocks of comments.
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

json lsp_symbols(const toy::SourceText& source, const std::vector<ToyDocument::Symbol>& symbols) {
  LspPositions positions(source);
  constexpr int kNamespace = 3, kArray = 18;  // of SymbolKind: a pass, a loop
  json result = json::array();
  for (const ToyDocument::Symbol& one : symbols) {
    const auto first_length = static_cast<std::uint32_t>(source.line(one.first).size());
    json line = positions.range({one.first, 1, first_length});
    json start = positions.position(one.first, 1);
    json end = positions.position(one.last, source.line(one.last).size() + 1);
    result.push_back({{"name", printable(one.name)},
                      {"kind", one.is_pass ? kNamespace : kArray},
                      {"range", {{"start", std::move(start)}, {"end", std::move(end)}}},
                      {"selectionRange", std::move(line)},
                      {"children", lsp_symbols(source, one.inside)}});
  }
  return result;
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
  return lsp_symbols(open.source(), open.symbols());
}

json LspServer::folding_range(const json& params) {
  const ToyDocument& open = document(params);
  json folds = json::array();
  add_folds(open.source(), open.symbols(), folds);
  add_comment_folds(open.source(), folds);
  return folds;
}

}  // namespace flashlab::cli
