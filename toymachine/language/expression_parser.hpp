// Parses expressions: resolves names, checks usage, and reports one message for each mistake.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "toymachine/language/expression.hpp"
#include "toymachine/language/lexer.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::toy::detail {

/// Reads one line's tokens from left to right.
class Cursor {
 public:
  explicit Cursor(const std::vector<Token>& tokens) : tokens_(tokens) {}
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view punctuation) {
    if (!peek().is(punctuation)) return false;
    take();
    return true;
  }
  bool at_end() const { return peek().kind == TokenKind::kEnd; }

 private:
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

/// The thing that a name of the program refers to.
struct NamedThing {
  enum class Kind : std::uint8_t { kParam, kConst, kArray, kRegister, kLoopVar };
  Kind kind = Kind::kParam;
  std::size_t index = 0;
  SourceSpan span{};  // where it is declared
};

/// A name that stands for an expression: in a score function, what the mark says.
struct GivenName {
  ExpressionPtr value;  // null: not known yet, or no expression
  bool varies = false;  // has loop variables
};

/// The names that are visible on a line.
struct Scope {
  std::map<std::string, NamedThing, std::less<>> declared;  // by directives
  std::vector<std::pair<std::string, std::size_t>> loops;   // enclosing, outermost first
  std::map<std::string, int, std::less<>> labels;           // every label of a .name line
  std::size_t visible_params = SIZE_MAX;                    // those declared earlier
  std::size_t visible_consts = SIZE_MAX;
  // Of a score function:
  std::map<std::string, GivenName, std::less<>> given;
  const Scope* outer = nullptr;  // the program's
};

/// The place of an expression, which decides what it may contain.
enum class Usage : std::uint8_t {
  kParam,  // params, registers
  kConst,  // params, registers, consts, real numbers
  kBound,  // params, registers, loop variables: affine, with min, max, ceildiv, floordiv
  kIndex,  // the same without min, max, ceildiv, floordiv
  kClaim,  // everything; also cells, labels, sum and max over a range
};

/// Reads the longest expression at the cursor. Null after an error has been reported.
class ExpressionParser {
 public:
  ExpressionParser(Cursor& cursor, const Scope& scope, Program& program,
                   std::vector<Diagnostic>& diagnostics)
      : cursor_(cursor), scope_(scope), program_(program), diagnostics_(diagnostics) {}

  ExpressionPtr parse(Usage usage);

 private:
  ExpressionPtr sum();
  ExpressionPtr product();
  ExpressionPtr factor();
  ExpressionPtr primary();
  ExpressionPtr name();
  ExpressionPtr call(const Token& name);
  ExpressionPtr array_function(const Token& name, ExpressionOp op);
  ExpressionPtr reduction(const Token& name, ExpressionOp op);
  ExpressionPtr cell_or_label(const Token& name);
  ExpressionPtr reference(const Token& name);
  ExpressionPtr unknown(const Token& name);
  ExpressionPtr make(Expression expression);
  ExpressionPtr binary(ExpressionOp op, ExpressionPtr a, ExpressionPtr b);
  bool arguments(std::vector<ExpressionPtr>& args);
  bool expect(std::string_view punctuation, std::string_view after);
  ExpressionPtr fail(const SourceSpan& span, std::string what, std::string expected,
                     std::string suggestion = {});

  Cursor& cursor_;
  const Scope& scope_;
  Program& program_;
  std::vector<Diagnostic>& diagnostics_;
  Usage usage_ = Usage::kParam;
  std::vector<std::pair<std::string, std::size_t>> bound_;  // variables of sum and max
  int depth_ = 0;
  int nodes_ = 0;
};

/// The names of functions, for messages and grammars.
const std::vector<std::string>& function_names();

/// Returns the name of a token in messages: "'foo'" or "the end of the line".
std::string describe(const Token& token);

}  // namespace flashlab::toy::detail
