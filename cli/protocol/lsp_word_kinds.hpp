// How the language server shows kinds of words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "toymachine/language/source_words.hpp"

namespace flashlab::cli {

/// How a kind of word is shown.
struct KindRow {
  toy::WordKind kind;
  const char* token_type;  // a standard type of LSP, as colour themes know those
  int completion;          // of CompletionItemKind
  const char* noun;
};
inline constexpr int kFunctionItem = 3, kVariableItem = 6, kKeywordItem = 14, kConstantItem = 21;
inline constexpr std::array<KindRow, 11> kKindRows{{
    {toy::WordKind::kInstruction, "function", kFunctionItem, "instruction"},
    {toy::WordKind::kDirective, "macro", kKeywordItem, "directive"},
    {toy::WordKind::kKeyword, "keyword", kKeywordItem, "keyword"},
    {toy::WordKind::kFunction, "method", kFunctionItem, "function"},
    {toy::WordKind::kNumber, "number", 0, "number"},
    {toy::WordKind::kComment, "comment", 0, "comment"},
    {toy::WordKind::kRegister, "property", kVariableItem, "register"},
    {toy::WordKind::kArray, "variable", kVariableItem, "array"},
    {toy::WordKind::kParam, "parameter", kConstantItem, "parameter"},
    {toy::WordKind::kConst, "enumMember", kConstantItem, "constant"},
    {toy::WordKind::kLoopVar, "parameter", kVariableItem, "loop variable"},
}};

inline std::size_t kind_row_of(toy::WordKind kind) {
  const auto* const found = std::find_if(kKindRows.begin(), kKindRows.end(),
                                         [&](const KindRow& row) { return row.kind == kind; });
  return static_cast<std::size_t>(found - kKindRows.begin());
}

}  // namespace flashlab::cli
