#include "exercises/grader/exercise/formula_lexer.hpp"

#include <cctype>
#include <iterator>
#include <utility>

#include "text/utf8.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostFormulaDigits = 1240;  // 4096 bits, the limit for results
constexpr unsigned long kLargestPowerOfTen = 60;

constexpr std::pair<std::string_view, TokenKind> kSymbols[] = {
    {"**", TokenKind::kPower},    {"+", TokenKind::kPlus},      {"-", TokenKind::kMinus},
    {"−", TokenKind::kMinus},     {"–", TokenKind::kMinus},     {"*", TokenKind::kTimes},
    {"·", TokenKind::kTimes},     {"⋅", TokenKind::kTimes},     {"×", TokenKind::kTimes},
    {"∗", TokenKind::kTimes},     {"/", TokenKind::kOver},      {"÷", TokenKind::kOver},
    {"∕", TokenKind::kOver},      {"⁄", TokenKind::kOver},      {"^", TokenKind::kPower},
    {"(", TokenKind::kOpen},      {")", TokenKind::kClose},     {"⌈", TokenKind::kOpenCeil},
    {"⌉", TokenKind::kCloseCeil}, {"⌊", TokenKind::kOpenFloor}, {"⌋", TokenKind::kCloseFloor}};
constexpr std::string_view kFormulaBlanks[] = {" ", "\t", "\n", "\r", "\u00A0", "\u2009", "\u202F"};
constexpr std::string_view kSuperscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Removes the digits at the front of `rest` and returns them.
std::string_view digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  const std::string_view run = rest.substr(0, count);
  rest.remove_prefix(count);
  return run;
}

mpz_class power_of_ten(unsigned long exponent) {
  mpz_class result;
  mpz_ui_pow_ui(result.get_mpz_t(), 10, exponent);
  return result;
}

/// True for "1e3", but not for "2e" or "2e + 1", where e is a name.
bool has_exponent(std::string_view rest) {
  if (rest.empty() || (rest[0] != 'e' && rest[0] != 'E')) return false;
  rest.remove_prefix(1);
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) rest.remove_prefix(1);
  return !rest.empty() && is_digit(rest[0]);
}

}  // namespace

void FormulaLexer::take(std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i, ++at_) {
    if (text_[at_] == '\n') {
      ++here_.line;
      here_.column = 1;
    } else {
      ++here_.column;
    }
  }
}

void FormulaLexer::skip_blanks() {
  for (bool found = true; found && at_ < text_.size();) {
    found = false;
    for (const std::string_view blank : kFormulaBlanks) {
      if (!text_.substr(at_).starts_with(blank)) continue;
      take(blank.size());
      found = token_.after_blank = true;
    }
  }
}

void FormulaLexer::next() {
  token_ = {};
  skip_blanks();
  token_.span = here_;
  if (at_ >= text_.size()) return;
  const std::size_t start = at_;
  const std::string_view rest = text_.substr(at_);
  const bool point = rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]);
  if (is_digit(rest[0]) || point) {
    read_number();
  } else if (is_letter(rest[0])) {
    token_.kind = TokenKind::kName;
    std::size_t length = 1;
    while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]))) ++length;
    take(length);
  } else if (!read_superscript() && !read_symbol()) {
    token_.kind = TokenKind::kUnknown;
    std::size_t length = 1;  // a whole UTF-8 character
    while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80) {
      ++length;
    }
    take(length);
  }
  token_.text = text_.substr(start, at_ - start);
  token_.span.length = static_cast<std::uint32_t>(at_ - start);
}

void FormulaLexer::read_number() {
  std::string_view rest = text_.substr(at_);
  const std::string_view whole = digits(rest);
  std::string_view fraction;
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction = digits(rest);
  }
  std::string_view power;
  bool small = false;
  if (has_exponent(rest)) {
    rest.remove_prefix(1);
    small = rest[0] == '-';
    if (!is_digit(rest[0])) rest.remove_prefix(1);
    power = digits(rest);
  }
  take(text_.size() - at_ - rest.size());
  token_.kind = TokenKind::kBadNumber;
  if (whole.size() + fraction.size() > kMostFormulaDigits || power.size() > 2) return;
  const unsigned long exponent = power.empty() ? 0 : std::stoul(std::string(power));
  if (exponent > kLargestPowerOfTen) return;
  token_.kind = TokenKind::kNumber;
  const std::string all = "0" + std::string(whole) + std::string(fraction);
  token_.number = mpq_class(mpz_class(all, 10), power_of_ten(fraction.size()));
  token_.number.canonicalize();
  const mpq_class scale(power_of_ten(exponent));
  token_.number = small ? mpq_class(token_.number / scale) : mpq_class(token_.number * scale);
}

bool FormulaLexer::read_symbol() {
  for (const auto& [symbol, kind] : kSymbols) {
    if (!text_.substr(at_).starts_with(symbol)) continue;
    token_.kind = kind;
    take(symbol.size());
    return true;
  }
  return false;
}

bool FormulaLexer::read_superscript() {
  std::string number;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t digit = 0; digit < std::size(kSuperscripts); ++digit) {
      if (!text_.substr(at_).starts_with(kSuperscripts[digit])) continue;
      number += static_cast<char>('0' + digit);
      take(kSuperscripts[digit].size());
      found = true;
    }
  }
  if (number.empty()) return false;
  token_.kind = number.size() > kMostFormulaDigits ? TokenKind::kBadNumber : TokenKind::kExponent;
  if (token_.kind == TokenKind::kExponent) token_.number = mpq_class(mpz_class(number, 10));
  return true;
}

}  // namespace flashlab::exercises
