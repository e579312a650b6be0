// The language server's answer about what could stand at a place.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cli/protocol/json_members.hpp"
#include "cli/protocol/lsp_positions.hpp"
#include "cli/protocol/lsp_server.hpp"
#include "cli/protocol/lsp_word_kinds.hpp"
#include "text/lists.hpp"
#include "text/utf8.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/next_names.hpp"

namespace flashlab::cli {
namespace {

using nlohmann::json;
using toy::WordKind;

/// The line around the cursor.
struct Typed {
  std::string_view before;  // without the word at the cursor
  std::string_view word;    // the word's part before the cursor, perhaps empty
  std::string_view behind;  // its part behind the cursor
  bool is_first() const { return trimmed(before).empty(); }
  bool is_in_comment() const { return before.find_first_of(";#") != std::string_view::npos; }
  bool is_number() const { return !word.empty() && is_digit(word[0]); }
};

Typed typed_at(std::string_view line, std::size_t byte) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
  };
  std::size_t start = byte, end = byte;
  while (start > 0 && is_part(line[start - 1])) --start;
  while (end < line.size() && is_part(line[end])) ++end;
  // The dot of a directive belongs to it, those of a range do not.
  const bool has_dot = start > 0 && line[start - 1] == '.';
  if (has_dot && trimmed(line.substr(0, start - 1)).empty()) --start;
  return {line.substr(0, start), line.substr(start, byte - start), line.substr(byte, end - byte)};
}

/// Completion items that replace the typed word.
class Items {
 public:
  /// `edit`: all of it but the text.
  explicit Items(json edit) : edit_(std::move(edit)) {}

  void add(std::string_view text, WordKind kind, std::string_view detail,
           const std::string& documentation = {}) {
    json item = {{"label", text},
                 {"kind", kKindRows[kind_row_of(kind)].completion},
                 {"detail", detail},
                 {"textEdit", edit_}};
    item["textEdit"]["newText"] = text;
    if (!documentation.empty()) item["documentation"] = documentation;
    items_.push_back(std::move(item));
  }
  bool has(std::string_view text) const {
    return std::any_of(items_.begin(), items_.end(),
                       [&](const json& item) { return item["label"] == text; });
  }
  json take() { return std::move(items_); }

 private:
  json edit_, items_ = json::array();
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

/// Returns a declaration's text. Each name of a long .reg list would repeat the whole list.
std::string declaration_text(const ToyDocument& document, std::uint32_t line) {
  constexpr std::size_t kLongest = 200;
  if (line == 0) return {};
  const std::string_view start = document.source().line(line).substr(0, 2 * kLongest);
  const std::string_view code = trimmed(start.substr(0, start.find_first_of(";#")));
  return code.size() <= kLongest ? std::string(code) : "declared in line " + std::to_string(line);
}

/// Names that the text has, where `place` is.
class NamesAt {
 public:
  NamesAt(const ToyDocument& document, BytePlace place, const toy::NextNames& next)
      : document_(document), place_(place), next_(next) {}

  void add_to(Items& items) const {
    for (const toy::SourceName& name : document_.names().words().names) {
      if (!is_taken(name)) continue;
      if (name.kind == WordKind::kLabel) {
        if (!items.has(name.text)) items.add(name.text, WordKind::kRegister, "label");
        continue;
      }
      items.add(name.text, name.kind, kKindRows[kind_row_of(name.kind)].noun,
                declaration_text(document_, name.declaration.line));
    }
  }

 private:
  bool is_taken(const toy::SourceName& name) const {
    if (!next_.takes(name.kind) || place_.line < name.first || place_.line > name.last) {
      return false;
    }
    if (name.kind == WordKind::kRegister && next_.factor) {
      return name.text == "R" + std::to_string(*next_.factor);
    }
    if (name.kind == WordKind::kArray && next_.only_written) return !is_input(name);
    if (next_.before_column == 0 || name.kind != next_.declared_kind) return true;
    const toy::SourceSpan& where = name.declaration;
    return where.line < place_.line ||
           (where.line == place_.line && where.column < next_.before_column);
  }
  bool is_input(const toy::SourceName& name) const {
    return trimmed(document_.source().line(name.declaration.line)).starts_with(".input");
  }

  const ToyDocument& document_;
  BytePlace place_;
  const toy::NextNames& next_;
};

/// Registers that the machine has, and the text does not name yet.
void add_registers(const ToyDocument& document, const toy::NextNames& next, Items& items) {
  constexpr std::int64_t kMost = 32;
  const std::int64_t count = std::min(document.num_registers(), kMost);
  for (std::int64_t i = 0; i < count; ++i) {
    if (next.factor && *next.factor != i) continue;
    const std::string name = "R" + std::to_string(i);
    const auto& all = document.names().words().names;
    const bool is_named = std::any_of(all.begin(), all.end(), [&](const toy::SourceName& one) {
      return one.kind == WordKind::kRegister &&
             (one.text == name || one.text == "r" + name.substr(1));
    });
    if (!is_named) items.add(name, WordKind::kRegister, "register");
  }
}

}  // namespace

json LspServer::completion(const json& params) {
  const ToyDocument& open = document(params);
  const BytePlace place = place_in(open.source(), params);
  if (place.line == 0) return json::array();
  const Typed typed = typed_at(open.source().line(place.line), place.column - 1);
  if (typed.is_in_comment() || typed.is_number()) return json::array();
  LspPositions positions(open.source());
  const json start = positions.position(place.line, typed.before.size() + 1);
  const json end = positions.position(place.line, place.column);
  const json typed_range = {{"start", start}, {"end", end}};
  json edit = {{"range", typed_range}};
  if (inserts_or_replaces_) {
    const json word_end = positions.position(place.line, place.column + typed.behind.size());
    edit = {{"insert", typed_range}, {"replace", {{"start", start}, {"end", word_end}}}};
  }
  Items items(std::move(edit));
  if (typed.is_first()) {
    add_starts_of_lines(open, items);
    return items.take();
  }
  const toy::NextNames next = toy::next_names(typed.before, toy::operand_style(open.source()));
  if (next.keyword != nullptr) items.add(next.keyword, WordKind::kKeyword, "loop");
  NamesAt(open, place, next).add_to(items);
  if (next.registers) add_registers(open, next, items);
  return items.take();
}

}  // namespace flashlab::cli
