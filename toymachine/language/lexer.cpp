#include "toymachine/language/lexer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "text/lookalikes.hpp"
#include "text/read_number.hpp"
#include "text/utf8.hpp"

namespace flashlab::toy::detail {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr std::string_view kSingles = "+-*/()[],:=^";

class Lexer {
 public:
  Lexer(std::string_view line, std::uint32_t number, std::vector<Diagnostic>& diagnostics)
      : line_(line), number_(number), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    while (skip_blanks()) next();
    add(TokenKind::kEnd, at_, at_);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
  }

  bool skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
    return at_ < line_.size() && line_[at_] != ';' && line_[at_] != '#';
  }

  SourceSpan span(std::size_t from, std::size_t to) const {
    return {number_, static_cast<std::uint32_t>(from + 1), static_cast<std::uint32_t>(to - from)};
  }

  Token& add(TokenKind kind, std::size_t from, std::size_t to) {
    tokens_.push_back({kind, line_.substr(from, to - from), 0, 0, span(from, to)});
    return tokens_.back();
  }

  void error(std::size_t from, std::size_t to, std::string what, std::string expected) {
    diagnostics_.push_back({Severity::kError,
                            Fault::kProgram,
                            span(from, to),
                            std::move(what),
                            std::move(expected),
                            {}});
  }

  void next() {
    const char c = peek();
    if (is_letter(c)) return word(TokenKind::kIdentifier);
    if (is_digit(c)) return number();
    if (c == '.' && is_letter(peek(1))) return word(TokenKind::kDirective);
    if (c == '.' && peek(1) == '.') {
      add(TokenKind::kPunctuation, at_, at_ + 2);
      at_ += 2;
      return;
    }
    if (c == '/' && (peek(1) == '/' || peek(1) == '*')) return comment_of_others();
    if (c != '\0' && kSingles.find(c) != std::string_view::npos) {
      add(TokenKind::kPunctuation, at_, at_ + 1);
      ++at_;
      return;
    }
    bad_bytes();
  }

  void word(TokenKind kind) {
    const std::size_t start = at_++;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    while (kind == TokenKind::kIdentifier && peek() == '\'') ++at_;
    add(kind, start, at_);
  }

  void number() {
    const std::size_t start = at_;
    bool real = false;
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const std::size_t sign = peek(1) == '-' || peek(1) == '+' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
      real = true;
      at_ += sign;
      while (is_digit(peek())) ++at_;
    }
    Token& token = add(real ? TokenKind::kReal : TokenKind::kInteger, start, at_);
    const std::errc bad =
        real ? read_number(token.text, token.real).ec : read_number(token.text, token.integer).ec;
    if (bad != std::errc{} || (real && !std::isfinite(token.real))) {
      error(start, at_, "number " + shortened(start) + " is out of range",
            real ? "a number that a double can hold" : "an integer below 2^63");
    }
  }

  std::string shortened(std::size_t start) const {
    constexpr std::size_t kLongest = 24;
    const std::string_view text = line_.substr(start, at_ - start);
    return text.size() <= kLongest ? std::string(text)
                                   : std::string(text.substr(0, kLongest)) + "…";
  }

  /// A comment as other languages write it: the rest of the line.
  void comment_of_others() {
    error(at_, at_ + 2, "unexpected '" + std::string(line_.substr(at_, 2)) + "'",
          "';', with which comments begin");
    at_ = line_.size();
  }

  /// A run of bytes that belong to no token is reported as a single error.
  void bad_bytes() {
    const std::size_t start = at_;
    const auto first = static_cast<unsigned char>(line_[at_]);
    if (first >= 0x80) return bad_characters();
    ++at_;
    while (at_ < line_.size() && line_[at_] == line_[start]) ++at_;
    std::string shown;
    if (first > 0x20 && first < 0x7F) {
      shown = "'" + std::string(1, line_[start]) + "'";
    } else {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "control character 0x%02X", first);
      shown = text.data();
    }
    error(start, at_, "unexpected " + shown, "an instruction, a directive or a comment");
  }

  /// One that looks like a character of the language is taken for it, and told once for a line.
  void bad_characters() {
    const std::size_t start = at_;
    const CodePoint point = code_point(line_, at_);
    const auto like = point.valid ? lookalike(point.code) : std::nullopt;
    if (!like) {
      while (at_ < line_.size() && static_cast<unsigned char>(line_[at_]) >= 0x80) ++at_;
      error(start, at_,
            "unexpected character outside ASCII" +
                (point.valid ? ", " + code_point_text(point.code) : std::string()),
            "ASCII outside comments");
      return;
    }
    const std::string_view bytes = line_.substr(start, point.bytes);
    while (line_.substr(at_).starts_with(bytes)) at_ += point.bytes;
    if (std::find(told_.begin(), told_.end(), point.code) == told_.end()) {
      error(start, at_, "unexpected " + code_point_text(point.code) + ", " + like->name,
            expected_instead(*like));
      told_.push_back(point.code);
    }
    if (like->ascii == ";" || like->ascii == "#") at_ = line_.size();
    const bool is_sign = like->ascii == ".." ||
                         (like->ascii.size() == 1 && kSingles.find(like->ascii) != kSingles.npos);
    if (is_sign) tokens_.push_back({TokenKind::kPunctuation, like->ascii, 0, 0, span(start, at_)});
  }

  std::string_view line_;
  std::uint32_t number_;
  std::vector<Diagnostic>& diagnostics_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> told_;  // characters that were reported in this line
};

}  // namespace

std::vector<Token> tokenize(std::string_view line, std::uint32_t number,
                            std::vector<Diagnostic>& diagnostics) {
  return Lexer(line, number, diagnostics).run();
}

}  // namespace flashlab::toy::detail
