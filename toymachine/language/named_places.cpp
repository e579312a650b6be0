#include "toymachine/language/named_places.hpp"

#include <algorithm>
#include <utility>

#include "text/utf8.hpp"
#include "text/visible.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::toy {
namespace {

/// Whether a word names something that the program declares.
bool is_declared(const SourceWords& words, const SourceWord& word) {
  return word.name != kNoName && words.names[word.name].declaration.line > 0;
}

bool is_plain_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

/// Whether all words mean the same in both texts; their places and the texts of names may differ.
bool mean_the_same(const SourceWords& a, const SourceWords& b) {
  return std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
                    [](const SourceWord& one, const SourceWord& other) {
                      return one.kind == other.kind && one.name == other.name;
                    });
}

std::string first_reason(const std::vector<Diagnostic>& errors, const std::string& name) {
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const Diagnostic& one) {
    return one.what.find("'" + name + "'") != std::string::npos;
  });
  const Diagnostic& error = found == errors.end() ? errors.front() : *found;
  return "line " + std::to_string(error.span.line) + " would be wrong: " + error.what;
}

}  // namespace

NamedPlaces::NamedPlaces(std::shared_ptr<const SourceText> source)
    : source_(std::move(source)), words_(source_words(*source_)) {}

const SourceWord* NamedPlaces::word_at(std::uint32_t line, std::uint32_t column) const {
  const SourceWord* result = nullptr;
  const auto first =
      std::partition_point(words_.words.begin(), words_.words.end(),
                           [&](const SourceWord& word) { return word.span.line < line; });
  for (auto word = first; word != words_.words.end() && word->span.line == line; ++word) {
    if (column >= word->span.column && column <= word->span.column + word->span.length &&
        word->kind != WordKind::kComment) {
      result = &*word;
    }
  }
  return result;
}

std::string_view NamedPlaces::text_of(const SourceWord& word) const {
  return source_->line(word.span.line).substr(word.span.column - 1, word.span.length);
}

std::optional<SourceSpan> NamedPlaces::declaration_of(const SourceWord& word) const {
  if (!is_declared(words_, word)) return std::nullopt;
  return words_.names[word.name].declaration;
}

std::vector<SourceSpan> NamedPlaces::places_of(const SourceWord& word) const {
  std::vector<SourceSpan> places;
  for (const SourceWord& one : words_.words) {
    const bool is_same = one.name == word.name && one.kind == word.kind &&
                         (word.name != kNoName || text_of(one) == text_of(word));
    if (is_same) places.push_back(one.span);
  }
  return places;
}

std::string NamedPlaces::why_not_renamed(const SourceWord& word) const {
  const std::string text = "'" + std::string(text_of(word)) + "'";
  if (word.kind == WordKind::kLabel) return text + " is a label; labels keep their names";
  if (is_declared(words_, word)) return {};
  if (word.kind == WordKind::kRegister) {
    return text + " is a register of the machine; only names of .reg lines can change";
  }
  if (word.kind == WordKind::kUnknown) return text + " is not declared";
  return text + (word.kind == WordKind::kNumber ? " is a number" : " is a word of the language");
}

std::string NamedPlaces::why_not_renamed(const SourceWord& word,
                                         const std::string& new_name) const {
  std::string reason = why_not_renamed(word);
  if (!reason.empty()) return reason;
  const std::string quoted = "'" + printable(new_name) + "'";
  if (!is_plain_name(new_name)) {
    return quoted + " is no name; expected letters, digits and _, with no digit first";
  }
  const SourceName& renamed = words_.names[word.name];
  if (new_name == renamed.text) return {};
  // The assembler allows some of these as loop variables, but nobody wants to read that.
  const LanguageWords& language = language_words();
  for (const auto* const list : {&language.keywords, &language.functions}) {
    if (std::find(list->begin(), list->end(), new_name) != list->end()) {
      return quoted + " is a word of the language";
    }
  }
  for (const SourceName& one : words_.names) {
    const bool is_visible = one.first <= renamed.last && renamed.first <= one.last;
    if (one.text != new_name || !is_visible) continue;
    return quoted + " is in use" +
           (one.declaration.line == 0 ? "" : ", see line " + std::to_string(one.declaration.line));
  }
  const auto source =
      std::make_shared<const SourceText>(source_->name(), with_name(word, new_name));
  // What else the language forbids, the assembler knows. A program with errors must get no more.
  const auto errors = assemble(source).diagnostics;
  if (errors.size() > assemble(source_).diagnostics.size()) {
    return first_reason(errors, new_name);
  }
  if (mean_the_same(words_, source_words(*source))) return {};
  return quoted + " has another meaning in one of these places";
}

std::string NamedPlaces::with_name(const SourceWord& word, const std::string& new_name) const {
  std::string result;
  const std::string_view text = source_->text();
  std::size_t copied = 0;
  for (const SourceSpan& span : places_of(word)) {
    const std::string_view line = source_->line(span.line);
    const auto start = static_cast<std::size_t>(line.data() - text.data()) + span.column - 1;
    result += text.substr(copied, start - copied);
    result += new_name;
    copied = start + span.length;
  }
  return result += text.substr(copied);
}

}  // namespace flashlab::toy
