// Polynomials in usual notation.

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "toymachine/count/polynomial/polynomial.hpp"
#include "toymachine/count/polynomial/polynomial_parts.hpp"

namespace flashlab::toy {
namespace {

using detail::total_degree;
using Term = std::pair<Monomial, mpq_class>;

/// Orders symbols as requested, then other symbols, then quotients.
std::size_t rank_of(const Atom& atom, const FormulaStyle& style) {
  if (atom.kind() != Atom::Kind::kSymbol) return style.order.size() + 1;
  const auto place = std::find(style.order.begin(), style.order.end(), atom.key());
  return static_cast<std::size_t>(place - style.order.begin());
}

bool precedes(const Atom& a, const Atom& b, const FormulaStyle& style) {
  const std::size_t rank_a = rank_of(a, style);
  const std::size_t rank_b = rank_of(b, style);
  return rank_a != rank_b ? rank_a < rank_b : a < b;
}

Monomial in_order(Monomial monomial, const FormulaStyle& style) {
  std::stable_sort(monomial.begin(), monomial.end(),
                   [&](const auto& a, const auto& b) { return precedes(a.first, b.first, style); });
  return monomial;
}

bool comes_first(const Monomial& a, const Monomial& b, const FormulaStyle& style) {
  const unsigned degree_a = total_degree(a);
  const unsigned degree_b = total_degree(b);
  if (degree_a != degree_b) return degree_a > degree_b;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].first != b[i].first) return precedes(a[i].first, b[i].first, style);
    if (a[i].second != b[i].second) return a[i].second > b[i].second;
  }
  return false;
}

/// Highest degree first, unless the text then begins with a minus that the reverse order avoids.
std::vector<Term> ordered_terms(const Polynomial& polynomial, const FormulaStyle& style) {
  std::vector<Term> terms;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    terms.emplace_back(in_order(monomial, style), coefficient);
  }
  std::sort(terms.begin(), terms.end(),
            [&](const Term& a, const Term& b) { return comes_first(a.first, b.first, style); });
  if (!terms.empty() && terms.front().second < 0 && terms.back().second > 0) {
    std::reverse(terms.begin(), terms.end());
  }
  return terms;
}

std::string superscript(unsigned exponent) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char digit : std::to_string(exponent)) text += kDigits[digit - '0'];
  return text;
}

std::string monomial_text(const Monomial& monomial, const FormulaStyle& style) {
  std::string text;
  for (const auto& [atom, exponent] : monomial) {
    if (!text.empty()) text += style.unicode ? "·" : "*";
    text += to_string(atom, style);
    if (exponent == 1) continue;
    text +=
        style.unicode ? superscript(exponent) : std::string("^").append(std::to_string(exponent));
  }
  return text;
}

/// `3n`, but `3*nk`: two letters after a number would look like a product.
std::string whole_term_text(const mpz_class& factor, const Monomial& monomial,
                            const FormulaStyle& style) {
  if (monomial.empty()) return factor.get_str();
  if (factor == 1) return monomial_text(monomial, style);
  const std::string first = to_string(monomial[0].first, style);
  const bool joins =
      first.size() == 1 || (style.unicode && monomial[0].first.kind() != Atom::Kind::kSymbol);
  const std::string sign = joins ? "" : (style.unicode ? "·" : "*");
  return factor.get_str() + sign + monomial_text(monomial, style);
}

std::string sum_text(const std::vector<std::pair<std::string, bool>>& terms_and_negative) {
  std::string text;
  for (const auto& [term, negative] : terms_and_negative) {
    if (text.empty()) {
      text = (negative ? "-" : "") + term;
    } else {
      text += (negative ? " - " : " + ") + term;
    }
  }
  return text.empty() ? "0" : text;
}

/// Writes a polynomial whose coefficients are all whole.
std::string whole_text(const Polynomial& polynomial, const FormulaStyle& style) {
  std::vector<std::pair<std::string, bool>> texts;
  for (const auto& [monomial, coefficient] : ordered_terms(polynomial, style)) {
    texts.emplace_back(whole_term_text(abs(coefficient.get_num()), monomial, style),
                       coefficient < 0);
  }
  return sum_text(texts);
}

mpz_class common_denominator(const Polynomial& polynomial) {
  mpz_class scale = 1;
  for (const auto& term : polynomial.terms()) scale = lcm(scale, mpz_class(term.second.get_den()));
  return scale;
}

std::string in_parentheses(const std::string& text) { return std::string("(").append(text) + ")"; }

/// Whether it is one number or one power, which needs no parentheses as a denominator.
bool is_single_factor(const Polynomial& polynomial) {
  if (polynomial.as_constant()) return true;
  if (polynomial.terms().size() != 1) return false;
  const auto& [monomial, coefficient] = *polynomial.terms().begin();
  return coefficient == 1 && monomial.size() == 1;
}

std::string ratio_text(const Polynomial& numerator, const Polynomial& denominator,
                       const FormulaStyle& style) {
  std::string text = to_string(numerator, style);
  if (denominator == Polynomial(1)) return text;
  if (numerator.terms().size() > 1) text = in_parentheses(text);
  const std::string below = to_string(denominator, style);
  return text + "/" + (is_single_factor(denominator) ? below : in_parentheses(below));
}

Polynomial from_term(Monomial monomial, const mpq_class& coefficient) {
  std::sort(monomial.begin(), monomial.end());  // from printing order to polynomial order
  Polynomial result;
  result.add_term(monomial, coefficient);
  return result;
}

/// Divides both by the powers that divide every term of both, and by common numbers; makes
/// the denominator positive.
void reduce(Polynomial& numerator, Polynomial& denominator) {
  const mpz_class scale = lcm(common_denominator(numerator), common_denominator(denominator));
  mpz_class shared = 0;
  for (Polynomial* polynomial : {&numerator, &denominator}) {
    *polynomial *= scale;
    for (const auto& term : polynomial->terms()) shared = gcd(shared, term.second.get_num());
  }
  if (ordered_terms(denominator, {}).front().second < 0) shared = -shared;
  Polynomial divisor = mpq_class(shared);
  for (const Atom& atom : denominator.atoms()) {
    unsigned lowest = denominator.degree(atom);
    for (const Polynomial* polynomial : {&numerator, &denominator}) {
      while (lowest > 0 && !divide(*polynomial, power(atom, lowest), false).remainder.is_zero()) {
        --lowest;
      }
    }
    divisor *= power(atom, lowest);
  }
  numerator = divide(numerator, divisor, false).quotient;
  denominator = divide(denominator, divisor, false).quotient;
}

}  // namespace

std::string Atom::quotient_text(Kind kind, const Polynomial& numerator,
                                const Polynomial& denominator, const FormulaStyle& style) {
  const std::string ratio = ratio_text(numerator, denominator, style);
  if (style.unicode) return kind == Kind::kFloorDiv ? "⌊" + ratio + "⌋" : "⌈" + ratio + "⌉";
  return (kind == Kind::kFloorDiv ? "floor(" : "ceil(") + ratio + ")";
}

std::string to_string(const Atom& atom, const FormulaStyle& style) {
  if (atom.kind() == Atom::Kind::kSymbol) return atom.key();
  return Atom::quotient_text(atom.kind(), atom.numerator(), atom.denominator(), style);
}

std::string to_string(const Polynomial& polynomial, const FormulaStyle& style) {
  const mpz_class denominator = common_denominator(polynomial);
  if (denominator == 1) return whole_text(polynomial, style);
  const std::string text = whole_text(polynomial * denominator, style);
  const bool single = polynomial.terms().size() == 1;
  return (single ? text : in_parentheses(text)) + "/" + denominator.get_str();
}

std::string quotient_to_string(const Polynomial& numerator, const Polynomial& denominator,
                               const FormulaStyle& style) {
  if (numerator.is_zero()) return "0";
  const Division division = divide(numerator, denominator, false);
  if (division.remainder.is_zero()) return to_string(division.quotient, style);
  Polynomial above = numerator;
  Polynomial below = denominator;
  reduce(above, below);
  if (below.terms().size() > 1) return ratio_text(above, below, style);
  std::vector<std::pair<std::string, bool>> texts;
  for (const auto& [monomial, coefficient] : ordered_terms(above, style)) {
    Polynomial part = from_term(monomial, abs(coefficient));
    Polynomial divisor = below;
    reduce(part, divisor);
    texts.emplace_back(ratio_text(part, divisor, style), coefficient < 0);
  }
  return sum_text(texts);
}

}  // namespace flashlab::toy
