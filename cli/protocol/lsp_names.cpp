// The language server's answers about words: where they are named, what could stand there, other
// names, and kinds.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/protocol/json_members.hpp"
#include "cli/protocol/lsp_positions.hpp"
#include "cli/protocol/lsp_server.hpp"
#include "text/lists.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;
using toy::WordKind;

/// How a kind of word is shown.
struct KindRow {
  WordKind kind;
  const char* token_type;  // a standard type of LSP, as colour themes know those
  int completion;          // of CompletionItemKind
  const char* noun;
};
constexpr int kFunctionItem = 3, kVariableItem = 6, kKeywordItem = 14, kConstantItem = 21;
constexpr std::array<KindRow, 11> kKindRows{{
    {WordKind::kInstruction, "function", kFunctionItem, "instruction"},
    {WordKind::kDirective, "macro", kKeywordItem, "directive"},
    {WordKind::kKeyword, "keyword", kKeywordItem, "keyword"},
    {WordKind::kFunction, "method", kFunctionItem, "function"},
    {WordKind::kNumber, "number", 0, "number"},
    {WordKind::kComment, "comment", 0, "comment"},
    {WordKind::kRegister, "property", kVariableItem, "register"},
    {WordKind::kArray, "variable", kVariableItem, "array"},
    {WordKind::kParam, "parameter", kConstantItem, "parameter"},
    {WordKind::kConst, "enumMember", kConstantItem, "constant"},
    {WordKind::kLoopVar, "parameter", kVariableItem, "loop variable"},
}};

std::size_t kind_row_of(WordKind kind) {
  const auto* const found = std::find_if(kKindRows.begin(), kKindRows.end(),
                                         [&](const KindRow& row) { return row.kind == kind; });
  return static_cast<std::size_t>(found - kKindRows.begin());
}

/// The part of a line before the cursor.
struct Typed {
  std::string_view before;  // without the word at the cursor
  std::string_view word;    // perhaps empty
  bool is_first() const { return trimmed(before).empty(); }
  bool is_in_comment() const { return before.find_first_of(";#") != std::string_view::npos; }
};

Typed typed_at(std::string_view line, std::size_t byte) {
  const std::string_view text = line.substr(0, byte);
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::size_t start = text.size();
  while (start > 0 && is_part(text[start - 1])) --start;
  // The dot of a directive belongs to it, those of a range do not.
  const bool has_dot = start > 0 && text[start - 1] == '.';
  if (has_dot && trimmed(text.substr(0, start - 1)).empty()) --start;
  return {text.substr(0, start), text.substr(start)};
}

/// Completion items that replace the typed word.
class Items {
 public:
  explicit Items(json range) : range_(std::move(range)) {}

  void add(std::string_view text, WordKind kind, std::string_view detail,
           const std::string& documentation = {}) {
    json item = {{"label", text},
                 {"kind", kKindRows[kind_row_of(kind)].completion},
                 {"detail", detail},
                 {"textEdit", {{"range", range_}, {"newText", text}}}};
    if (!documentation.empty()) item["documentation"] = documentation;
    items_.push_back(std::move(item));
  }
  json take() { return std::move(items_); }

 private:
  json range_, items_ = json::array();
};

void add_starts_of_lines(const ToyDocument& document, Items& items) {
  for (const std::size_t row : document.names().words().instructions) {
    const toy::InstructionSpec& spec = toy::instruction_set()[row];
    const std::string mnemonic(spec.mnemonic);
    items.add(mnemonic, WordKind::kInstruction, spec.meaning,
              mnemonic + " " + std::string(spec.operand_names) + ": " + std::string(spec.effect));
  }
  for (const std::string& word : toy::language_words().directives) {
    items.add(word, WordKind::kDirective, "directive");
  }
  for (const char* const word : {"for", "end"}) items.add(word, WordKind::kKeyword, "loop");
}

/// Whether the words of a line are names: not after .isa, .operands and .pass.
bool takes_names(std::string_view before) {
  const std::string_view word = trimmed(before).substr(0, trimmed(before).find_first_of(" \t"));
  return word != ".isa" && word != ".operands" && word != ".pass";
}

/// Returns a declaration's text. Each name of a long .reg list would repeat the whole list.
std::string declaration_text(const ToyDocument& document, std::uint32_t line) {
  constexpr std::size_t kLongest = 200;
  if (line == 0) return {};
  const std::string_view start = document.source().line(line).substr(0, 2 * kLongest);
  const std::string_view code = trimmed(start.substr(0, start.find_first_of(";#")));
  return code.size() <= kLongest ? std::string(code) : "declared in line " + std::to_string(line);
}

void add_names(const ToyDocument& document, std::uint32_t line, Items& items) {
  for (const toy::SourceName& name : document.names().words().names) {
    if (name.kind == WordKind::kLabel || line < name.first || line > name.last) continue;
    items.add(name.text, name.kind, kKindRows[kind_row_of(name.kind)].noun,
              declaration_text(document, name.declaration.line));
  }
}

/// Registers that the machine has, and the text does not name yet.
void add_registers(const ToyDocument& document, std::string_view before, Items& items) {
  constexpr std::int64_t kMost = 32;
  const std::string_view text = trimmed(before);
  const std::string_view start = text.substr(0, text.find_first_of(" \t"));
  if (start == "for" || (start.starts_with('.') && start != ".name")) return;
  const std::int64_t count = std::min(document.num_registers(), kMost);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string name = "R" + std::to_string(i);
    const auto& all = document.names().words().names;
    const bool is_named = std::any_of(all.begin(), all.end(), [&](const toy::SourceName& one) {
      return one.kind == WordKind::kRegister &&
             (one.text == name || one.text == "r" + name.substr(1));
    });
    if (!is_named) items.add(name, WordKind::kRegister, "register");
  }
}

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

json LspServer::completion(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  if (place.line == 0) return json::array();
  const Typed typed = typed_at(open.source().line(place.line), place.column - 1);
  if (typed.is_in_comment()) return json::array();
  LspPositions positions(open.source());
  json start = positions.position(place.line, typed.before.size() + 1);
  json end = positions.position(place.line, place.column);
  Items items({{"start", std::move(start)}, {"end", std::move(end)}});
  if (typed.is_first()) {
    add_starts_of_lines(open, items);
  } else if (takes_names(typed.before)) {
    add_names(open, place.line, items);
    add_registers(open, typed.before, items);
  }
  return items.take();
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
  return {{"changes", {{uri_in(params), std::move(edits)}}}};
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
