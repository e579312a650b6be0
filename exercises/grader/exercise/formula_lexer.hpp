// The tokens of a typed formula.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

enum class TokenKind {
  kEnd,
  kNumber,    // 2, 0.5, 1e3
  kName,      //
  kExponent,  // ², ¹⁰
  kPlus,
  kMinus,  // - and its Unicode forms
  kTimes,  // *, ·, ×
  kOver,
  kPower,  // ^, **
  kOpen,
  kClose,
  kOpenCeil,  // ⌈
  kCloseCeil,
  kOpenFloor,
  kCloseFloor,
  kUnknown,
  kBadNumber,  // too long
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // as written
  mpq_class number;  // kNumber, kExponent
  toy::SourceSpan span;
  bool after_blank = false;
};

/// Reads one token after another. After the last one, it returns kEnd forever.
class FormulaLexer {
 public:
  explicit FormulaLexer(std::string_view text) : text_(text) { next(); }

  const Token& token() const { return token_; }
  void next();

 private:
  void skip_blanks();
  void take(std::size_t bytes);
  void read_number();
  bool read_symbol();
  bool read_superscript();

  std::string_view text_;
  std::size_t at_ = 0;
  toy::SourceSpan here_{1, 1, 1};
  Token token_;
};

}  // namespace flashlab::exercises
