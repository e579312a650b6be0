// Formulas and conditions in usual notation.

#include <algorithm>
#include <cstddef>

#include "toymachine/count/formula.hpp"

namespace flashlab::toy {
namespace {

/// Writes polynomial >= 0, or = 0, as a comparison of two sides without minus signs: m > n, n >= 1.
std::string comparison(const Polynomial& polynomial, bool is_equation, const FormulaStyle& style) {
  Polynomial left;
  Polynomial right;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    if (!monomial.empty() && coefficient > 0) left.add_term(monomial, coefficient);
    if (!monomial.empty() && coefficient < 0) right.add_term(monomial, -coefficient);
  }
  const std::string at_least = style.unicode ? " ≥ " : " >= ";
  const std::string at_most = style.unicode ? " ≤ " : " <= ";
  mpq_class constant = polynomial.constant_term();
  if (left.is_zero()) {  // 3 - n >= 0
    return to_string(right, style) + (is_equation ? " = " : at_most) +
           to_string(Polynomial(constant), style);
  }
  std::string sign = is_equation ? " = " : at_least;
  if (constant == -1 && !is_equation && !right.is_zero()) {
    sign = " > ";
    constant = 0;
  }
  (constant > 0 ? left : right) += mpq_class(abs(constant));
  return to_string(left, style) + sign + to_string(right, style);
}

std::string joined_conditions(const std::vector<Condition>& conditions, const std::string& between,
                              const FormulaStyle& style) {
  std::string text;
  std::vector<Polynomial> done;
  for (const Condition& condition : conditions) {
    const Polynomial& polynomial = condition.polynomial;
    if (std::find(done.begin(), done.end(), -polynomial) != done.end()) continue;
    done.push_back(polynomial);
    const bool is_equation =
        std::find(conditions.begin(), conditions.end(), Condition{-polynomial}) != conditions.end();
    if (!text.empty()) text += between;
    text += comparison(polynomial, is_equation, style);
  }
  return text;
}

}  // namespace

std::string to_string(const std::vector<Condition>& conditions, const FormulaStyle& style) {
  return joined_conditions(conditions, ", ", style);
}

std::string to_string(const Formula& formula, FormulaStyle style) {
  if (style.order.empty()) style.order = formula.symbols;
  if (const Polynomial* polynomial = formula.polynomial()) return to_string(*polynomial, style);
  std::string text;
  for (const Piece& piece : formula.pieces) {
    if (!text.empty()) text += "; ";
    text += to_string(piece.value, style) + " for " +
            joined_conditions(piece.conditions, " and ", style);
  }
  return text;
}

std::string to_string(const QuotientPiece& piece, const FormulaStyle& style) {
  return quotient_to_string(piece.numerator, piece.denominator, style);
}

}  // namespace flashlab::toy
