// The words of a source text and what they refer to, for editors. Unlike the assembler, this reading
// goes on after errors: a program is wrong while it is typed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

enum class WordKind : std::uint8_t {
  kInstruction,
  kDirective,
  kKeyword,   // also element types, levels, inf, registers and the T of a transposition
  kFunction,  // of expressions: min
  kNumber,
  kComment,   // the rest of a line
  kRegister,  // R0, or a name of a .reg line
  kArray,
  kParam,
  kConst,
  kLoopVar,  // of a loop, or of a sum or max in a claim
  kLabel,    // of a .name line
  kUnknown
};

/// A name that the source uses. Registers such as R0 have no declaration: line 0.
struct SourceName {
  std::string text;
  WordKind kind = WordKind::kUnknown;
  SourceSpan declaration;
  std::uint32_t first = 0, last = UINT32_MAX;  // lines between which it is visible
};

struct SourceWord {
  WordKind kind = WordKind::kUnknown;
  std::size_t name = kNoName;  // into SourceWords::names
  SourceSpan span;
};

struct SourceWords {
  std::vector<SourceName> names;
  std::vector<SourceWord> words;          // in source order
  std::vector<std::size_t> instructions;  // rows that the program's machine has
};

/// Returns all words of the text except those in titles of passes. Where names are hidden by others,
/// a word refers to the name that the assembler would take. Empty for a text that the assembler
/// refuses for its size.
SourceWords source_words(const SourceText& source);

}  // namespace flashlab::toy
