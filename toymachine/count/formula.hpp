// A number that depends on the program's parameters: polynomials, each with the region in
// which it holds.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy {

/// The polynomial is at least 0.
struct Condition {
  Polynomial polynomial;
  bool operator==(const Condition& other) const = default;
};

struct Piece {
  std::vector<Condition>
      conditions;  // all must hold; conditions implied by the domain are left out
  Polynomial value;
};

/// Correct for all whole parameters >= 0 that satisfy the domain, and undefined elsewhere. The
/// pieces cover the domain and do not overlap.
struct Formula {
  std::vector<Condition> domain;
  std::vector<Piece> pieces;
  std::vector<std::string> symbols;  // the parameters, in the order of their declaration

  /// Returns the polynomial if a single one covers the whole domain, else null.
  const Polynomial* polynomial() const { return pieces.size() == 1 ? &pieces[0].value : nullptr; }
  /// False if the formula is unknown. The domain is never empty, so a known formula has a piece.
  bool is_known() const { return !pieces.empty(); }
  bool is_zero() const { return pieces.size() == 1 && pieces[0].value.is_zero(); }
};

/// Values of parameters by name; `registers` is a name like the others.
using ParameterValues = std::map<std::string, std::int64_t>;

/// Returns the piece that holds there; null outside the domain, or if a parameter has no value.
const Piece* piece_at(const Formula& formula, const ParameterValues& values);

/// Returns the number; nothing outside the domain, or if a parameter has no value.
std::optional<mpz_class> evaluate(const Formula& formula, const ParameterValues& values);

/// The formula with one parameter fixed.
Formula substitute(const Formula& formula, const std::string& symbol, const mpz_class& value);

/// Makes disjoint pieces from terms that may overlap: their value is the sum of the terms whose
/// conditions hold. Drops pieces that no parameters reach, and merges pieces that agree.
Formula formula_of_terms(const std::vector<Condition>& domain, const std::vector<Piece>& terms,
                         std::vector<std::string> symbols);

/// Sums and differences hold on the intersection of both domains.
Formula operator+(const Formula& a, const Formula& b);
Formula operator-(const Formula& a, const Formula& b);
Formula operator*(const mpz_class& factor, const Formula& formula);

/// Whether both formulas have the same value wherever both have one.
bool equivalent(const Formula& a, const Formula& b);

/// numerator/denominator on a region.
struct QuotientPiece {
  std::vector<Condition> conditions;
  Polynomial numerator, denominator;  // the denominator is not the zero polynomial
};

/// Solves a.fixed + cost * a.slope = b.fixed + cost * b.slope for the cost: (b.fixed -
/// a.fixed) / (a.slope - b.slope), region by region. Regions with equal slopes have no answer
/// and are left out.
struct AffineInCost {
  Formula fixed, slope;
};
std::vector<QuotientPiece> crossing(const AffineInCost& a, const AffineInCost& b);

/// "3n"; with several pieces "n - 1 for n >= 1; 0 for n = 0". The domain is not printed.
std::string to_string(const Formula& formula, FormulaStyle style = {});
/// "n >= 1, r >= 1"; empty if every whole number from 0 on is allowed.
std::string to_string(const std::vector<Condition>& conditions, const FormulaStyle& style = {});
/// "4 - 3/n".
std::string to_string(const QuotientPiece& piece, const FormulaStyle& style = {});

}  // namespace flashlab::toy
