// Splits one source line into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

enum class TokenKind : std::uint8_t {
  kIdentifier,  // letters, digits, _; primes may follow (labels)
  kDirective,   // a dot and a word
  kInteger,
  kReal,
  kPunctuation,  // + - * / ( ) [ ] , : = ..
  kEnd,          // of the line; always the last token
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // into the SourceText, or a sign of the language
  std::int64_t integer = 0;
  double real = 0;
  SourceSpan span;

  bool is(std::string_view punctuation) const {
    return kind == TokenKind::kPunctuation && text == punctuation;
  }
  bool is_word(std::string_view word) const {
    return kind == TokenKind::kIdentifier && text == word;
  }
};

/// Returns the tokens of a line; a comment ends it. Bad bytes and numbers out of range are reported
/// and skipped, so that they hide no other errors.
std::vector<Token> tokenize(std::string_view line, std::uint32_t number,
                            std::vector<Diagnostic>& diagnostics);

}  // namespace flashlab::toy::detail
