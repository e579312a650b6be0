// Parses polynomials as typed by a person: "n^2 - s(n - 1)", "3n", "2*n*d".
#include <cctype>
#include <string>
#include <string_view>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy {
namespace {

constexpr unsigned long kLargestExponent = 64;
constexpr int kDeepestParentheses = 200;
constexpr std::size_t kMostParsedTerms = 10'000;

/// sum = product {("+" | "-") product}
/// product = power {["*"] power}
/// power = primary ["^" digits]
/// primary = digits | name | "(" sum ")" | "-" power
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Polynomial> run() {
    auto value = sum();
    skip_blanks();
    return value && at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool begins_primary() {
    const char c = peek();
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '(';
  }

  std::optional<Polynomial> sum() {
    if (++depth_ > kDeepestParentheses) return std::nullopt;
    auto total = product();
    while (total) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) break;
      const auto next = product();
      if (!next) return std::nullopt;
      total = plus ? *total + *next : *total - *next;
    }
    --depth_;
    return total;
  }

  std::optional<Polynomial> product() {
    auto total = power();
    while (total && (accept('*') || begins_primary())) {
      const auto next = power();
      if (!next || total->terms().size() * next->terms().size() > kMostParsedTerms)
        return std::nullopt;
      total = *total * *next;
    }
    return total;
  }

  std::optional<Polynomial> power() {
    if (accept('-')) {
      if (++depth_ > kDeepestParentheses) return std::nullopt;
      const auto negated = power();
      --depth_;
      return negated ? std::optional(-*negated) : std::nullopt;
    }
    const auto base = primary();
    if (!base || !accept('^')) return base;
    const std::string digits = run_of([](unsigned char c) { return std::isdigit(c) != 0; });
    if (digits.empty() || digits.size() > 2 || std::stoul(digits) > kLargestExponent) {
      return std::nullopt;
    }
    if (base->terms().size() > 4) return std::nullopt;
    return toy::power(*base, static_cast<unsigned>(std::stoul(digits)));
  }

  std::optional<Polynomial> primary() {
    if (accept('(')) {
      auto inner = sum();
      return accept(')') ? inner : std::nullopt;
    }
    const std::string digits = run_of([](unsigned char c) { return std::isdigit(c) != 0; });
    if (!digits.empty()) return Polynomial(mpz_class(digits));
    const std::string name =
        run_of([](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (name.empty()) return std::nullopt;
    return Polynomial::symbol(name);
  }

  template <class Accepts>
  std::string run_of(Accepts accepts) {
    skip_blanks();
    std::string run;
    while (at_ < text_.size() && accepts(static_cast<unsigned char>(text_[at_]))) {
      run += text_[at_++];
    }
    return run;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<Polynomial> parse_polynomial(std::string_view text) { return Parser(text).run(); }

}  // namespace flashlab::toy
