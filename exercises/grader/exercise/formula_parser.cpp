// Parses typed formulas into quotients of polynomials.
//
//   sum     = product {("+" | "-") product}
//   product = factor {("*" | "/" | nothing) factor}     nothing: not before a number
//   factor  = ("-" | "+") factor | primary ["^" exponent]
//   primary = number | name | "(" sum ")" | ("ceil" | "floor") "(" sum ")" | "⌈" sum "⌉" | …
#include <algorithm>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/formula_lexer.hpp"
#include "exercises/grader/exercise/rational.hpp"
#include "text/lists.hpp"
#include "text/lookalikes.hpp"
#include "text/nearest.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {
namespace {

using toy::Diagnostic;
using toy::SourceSpan;
using Value = RationalArithmetic::Optional;

constexpr int kDeepestFormula = 64;
constexpr unsigned kLargestExponent = 64;
constexpr std::size_t kMostFormulaBytes = 4096;
constexpr const char* kCeil = "ceil";
constexpr const char* kFloor = "floor";

/// Reads "nd" as a product of variables, "n*d".
std::optional<std::string> as_product(std::string_view word,
                                      const std::vector<std::string>& variables) {
  constexpr std::size_t kLongest = 12;  // a longer word is not a forgotten product
  if (word.size() > kLongest) return std::nullopt;
  for (const std::string& name : variables) {
    if (!word.starts_with(name)) continue;
    if (word.size() == name.size()) return name;
    if (const auto rest = as_product(word.substr(name.size()), variables)) {
      return name + "*" + *rest;
    }
  }
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& variables,
         const std::vector<std::string>& reals)
      : lexer_(text), variables_(variables), reals_(reals) {}

  toy::Result<RationalFunction> run() {
    Value value;
    if (token().kind == TokenKind::kEnd) {
      refuse("there is no formula", expected_operand());
    } else {
      value = sum();
    }
    if (value && token().kind != TokenKind::kEnd) value = unexpected();
    if (value) return std::move(*value);
    return std::move(error_);
  }

 private:
  const Token& token() const { return lexer_.token(); }

  std::nullopt_t refuse(const SourceSpan& where, std::string what, std::string expected,
                        std::string suggestion = {}, toy::Fault fault = toy::Fault::kProgram) {
    if (error_.what.empty()) {
      error_ = {toy::Severity::kError, fault, where, std::move(what), std::move(expected),
                std::move(suggestion)};
    }
    return std::nullopt;
  }
  std::nullopt_t refuse(std::string what, std::string expected) {
    return refuse(token().span, std::move(what), std::move(expected));
  }

  std::string expected_operand() const {
    if (variables_.empty()) return "a number, such as 12, 0.5, 1/3 or 2^10";
    return "a formula in " + joined(variables_) + ", such as 2*" + variables_.front() + " + 1";
  }

  std::string shown() const {
    return token().kind == TokenKind::kEnd ? "the end" : "'" + printable(token().text) + "'";
  }

  /// Reports a token that is not allowed at its place.
  std::nullopt_t unexpected() {
    switch (token().kind) {
      case TokenKind::kNumber:
        return refuse("unexpected number " + shown() + " after a factor",
                      "an operator; numbers have no blanks or separators inside");
      case TokenKind::kBadNumber:
        return refuse("this number is too long", "at most 1240 digits, and powers of ten up to 60");
      case TokenKind::kPower:
      case TokenKind::kExponent:
        return refuse("a power of a power", "parentheses: (n^2)^3");
      case TokenKind::kUnknown:
        if (token().text == "=") return refuse("unexpected '='", "the right-hand side alone");
        if (token().text == ",") return refuse("unexpected ','", "1000 without separators, 0.5");
        if (token().text == "#") return refuse("unexpected '#'", "a comment on a line of its own");
        return unexpected_character();
      default:
        return refuse("unexpected " + shown(), "an operator, or the end");
    }
  }

  std::nullopt_t unexpected_character() {
    const CodePoint point = code_point(token().text, 0);
    const auto like = point.valid ? lookalike(point.code) : std::nullopt;
    if (!like) return refuse("unexpected " + shown(), "numbers, names and + - * / ^ ( )");
    return refuse("unexpected " + code_point_text(point.code) + ", " + like->name,
                  expected_instead(*like));
  }

  Value too_large(const Value& value, const SourceSpan& where) {
    if (value) return value;
    return refuse(where, "this formula is too large to be multiplied out",
                  "at most 200 terms, degree 256 and numbers of 1200 digits", {},
                  toy::Fault::kLimit);
  }

  bool enter() {
    if (++depth_ <= kDeepestFormula) return true;
    refuse("too many parentheses or signs inside one another", "at most 64");
    return false;
  }

  Value sum() {
    if (!enter()) return std::nullopt;
    Value total = product();
    while (total && (token().kind == TokenKind::kPlus || token().kind == TokenKind::kMinus)) {
      const bool minus = token().kind == TokenKind::kMinus;
      const SourceSpan where = token().span;
      lexer_.next();
      const Value next = product();
      if (!next) return std::nullopt;
      total = too_large(arithmetic_.add(*total, minus ? negated(*next) : *next), where);
    }
    --depth_;
    return total;
  }

  bool begins_implicit_factor() const {
    const TokenKind kind = token().kind;
    return kind == TokenKind::kName || kind == TokenKind::kOpen || kind == TokenKind::kOpenCeil ||
           kind == TokenKind::kOpenFloor;
  }

  Value product() {
    Value total = factor();
    bool divided = false;
    while (total) {
      const TokenKind kind = token().kind;
      const SourceSpan where = token().span;
      const bool written = kind == TokenKind::kTimes || kind == TokenKind::kOver;
      if (!written && !begins_implicit_factor()) break;
      if (!written && divided) {
        return refuse("a product without a sign after '/' can be read in two ways",
                      "1/(2*n) or (1/2)*n");
      }
      if (written) lexer_.next();
      divided = kind == TokenKind::kOver;
      const Value next = factor();
      if (!next) return std::nullopt;
      if (divided && next->numerator.is_zero()) {
        return refuse(where, "division by 0", "a divisor that is not always 0");
      }
      total = too_large(
          divided ? arithmetic_.divide(*total, *next) : arithmetic_.multiply(*total, *next), where);
    }
    return total;
  }

  Value factor() {
    if (token().kind == TokenKind::kMinus || token().kind == TokenKind::kPlus) {
      const bool minus = token().kind == TokenKind::kMinus;
      if (!enter()) return std::nullopt;
      lexer_.next();
      const Value inner = factor();
      --depth_;
      return inner && minus ? Value(negated(*inner)) : inner;
    }
    const Value base = primary();
    const SourceSpan where = token().span;
    if (!base) return std::nullopt;
    if (token().kind == TokenKind::kExponent) {
      const mpq_class exponent = token().number;
      lexer_.next();
      return power(*base, exponent, where);
    }
    if (token().kind != TokenKind::kPower) return base;
    lexer_.next();
    const SourceSpan at = token().span;
    if (token().kind == TokenKind::kMinus) return bad_exponent(at, "a negative exponent");
    const Value exponent = primary();
    if (!exponent) return std::nullopt;
    const auto number = exponent->numerator.as_constant();
    if (!number || !exponent->denominator.as_constant()) {
      return bad_exponent(at, "an exponent that is not a number");
    }
    return power(*base, *number / *exponent->denominator.as_constant(), at);
  }

  std::nullopt_t bad_exponent(const SourceSpan& where, const std::string& what) {
    return refuse(where, what, "a whole number from 0 to 64; 1/n instead of n^-1");
  }

  Value power(const RationalFunction& base, const mpq_class& exponent, const SourceSpan& where) {
    if (exponent < 0 || exponent.get_den() != 1 || exponent > kLargestExponent) {
      return bad_exponent(where, "the exponent " + to_string(RationalFunction{exponent, 1}));
    }
    return too_large(arithmetic_.power(base, static_cast<unsigned>(exponent.get_num().get_ui())),
                     where);
  }

  Value primary() {
    const Token start = token();
    switch (start.kind) {
      case TokenKind::kNumber:
        lexer_.next();
        return RationalFunction{start.number, 1};
      case TokenKind::kName:
        lexer_.next();
        return name(start);
      case TokenKind::kOpen:
        lexer_.next();
        return closed(sum(), start, TokenKind::kClose, ")");
      case TokenKind::kOpenCeil:
        lexer_.next();
        return rounded(closed(sum(), start, TokenKind::kCloseCeil, "⌉"), start, true);
      case TokenKind::kOpenFloor:
        lexer_.next();
        return rounded(closed(sum(), start, TokenKind::kCloseFloor, "⌋"), start, false);
      case TokenKind::kUnknown:
      case TokenKind::kBadNumber:
        return unexpected();
      default:
        return refuse("unexpected " + shown(), expected_operand());
    }
  }

  Value closed(const Value& inner, const Token& open, TokenKind close, const std::string& sign) {
    if (!inner) return std::nullopt;
    if (token().kind != close) {
      if (token().kind != TokenKind::kEnd && token().kind != TokenKind::kClose) {
        return unexpected();
      }
      return refuse(open.span, "'" + open.text + "' is not closed", "'" + sign + "'");
    }
    lexer_.next();
    return inner;
  }

  Value rounded(const Value& inner, const Token& start, bool up) {
    if (!inner) return std::nullopt;
    for (const std::string& name : reals_) {
      const toy::Atom atom(name);
      if (inner->numerator.degree(atom) == 0 && inner->denominator.degree(atom) == 0) continue;
      return refuse(start.span,
                    std::string(up ? kCeil : kFloor) + " of '" + name +
                        "', which is not always a whole number",
                    "a formula without it");
    }
    return too_large(up ? arithmetic_.ceil(*inner) : arithmetic_.floor(*inner), start.span);
  }

  Value name(const Token& start) {
    if (std::find(variables_.begin(), variables_.end(), start.text) != variables_.end()) {
      return RationalFunction{toy::Polynomial::symbol(start.text), 1};
    }
    const bool up = start.text == kCeil;
    if ((up || start.text == kFloor) && token().kind == TokenKind::kOpen) {
      const Token open = token();
      lexer_.next();
      return rounded(closed(sum(), open, TokenKind::kClose, ")"), start, up);
    }
    return unknown(start);
  }

  std::nullopt_t unknown(const Token& start) {
    const std::string what = "unknown name '" + start.text + "'";
    if (variables_.empty()) return refuse(start.span, what, "a number without names or units");
    const auto product = as_product(start.text, variables_);
    std::vector<std::string> names = variables_;
    names.insert(names.end(), {kCeil, kFloor});
    return refuse(start.span, what, joined(variables_) + ", ceil(…) or floor(…)",
                  product ? *product : nearest(start.text, names).value_or(""));
  }

  FormulaLexer lexer_;
  const std::vector<std::string>&variables_, &reals_;
  RationalArithmetic arithmetic_;
  int depth_ = 0;
  Diagnostic error_;
};

}  // namespace

toy::Result<RationalFunction> parse_formula(const toy::SourceText& text,
                                            const std::vector<std::string>& variables,
                                            const std::vector<std::string>& reals) {
  const std::size_t first = text.text().find_first_not_of(" \t\r\n");
  const std::size_t size = first == std::string::npos ? 0 : text.text().size() - first;
  if (size > kMostFormulaBytes) {
    return Diagnostic{toy::Severity::kError,
                      toy::Fault::kLimit,
                      {1, 1, 1},
                      "the formula has " + std::to_string(size) + " bytes",
                      "at most " + std::to_string(kMostFormulaBytes),
                      {}};
  }
  return Parser(text.text(), variables, reals).run();
}

}  // namespace flashlab::exercises
