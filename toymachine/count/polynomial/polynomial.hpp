// Polynomials with rational coefficients over named quantities, in which counts are expressed.
#pragma once

#include <gmpxx.h>

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab::toy {

class Polynomial;

/// How formulas are written.
struct FormulaStyle {
  bool unicode = false;  // n², m·n, ⌈n/B⌉ and ≥ instead of n^2, m*n, ceil(n/B) and >=
  std::vector<std::string> order;  // symbols in the order for products; others follow
};

/// A variable of a polynomial: a symbol ("n"), or floor or ceil of a quotient of polynomials that
/// is kept unevaluated ("ceil(n/B)"). Two atoms are equal if their texts are.
class Atom {
 public:
  enum class Kind { kSymbol, kFloorDiv, kCeilDiv };

  explicit Atom(std::string symbol);

  Kind kind() const;
  /// The symbol, or the ASCII text of the quotient, which identifies the atom.
  const std::string& key() const;
  const Polynomial& numerator() const;  // kFloorDiv and kCeilDiv only
  const Polynomial& denominator() const;

  std::strong_ordering operator<=>(const Atom& other) const;
  bool operator==(const Atom& other) const { return std::is_eq(*this <=> other); }

 private:
  friend Polynomial floor_quotient(const Polynomial&, const Polynomial&);
  friend std::string to_string(const Atom&, const FormulaStyle&);
  struct Data;
  Atom(Kind kind, const Polynomial& numerator, const Polynomial& denominator);
  static std::string quotient_text(Kind kind, const Polynomial& numerator,
                                   const Polynomial& denominator, const FormulaStyle& style);
  std::shared_ptr<const Data> data_;
};

/// A product of powers; sorted by atom, no exponent is 0. Empty: the constant 1.
using Monomial = std::vector<std::pair<Atom, unsigned>>;

class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(long value) : Polynomial(mpq_class(value)) {}  // NOLINT: numbers are polynomials
  Polynomial(const mpz_class& value) : Polynomial(mpq_class(value)) {}  // NOLINT
  Polynomial(const mpq_class& value);                                   // NOLINT
  Polynomial(const Atom& atom);                                         // NOLINT
  static Polynomial symbol(std::string name) { return Polynomial(Atom(std::move(name))); }

  /// No coefficient is 0.
  const std::map<Monomial, mpq_class>& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  std::optional<mpq_class> as_constant() const;
  mpq_class constant_term() const;
  /// The highest power of the atom.
  unsigned degree(const Atom& atom) const;
  /// The coefficient of atom^power, a polynomial in the other atoms.
  Polynomial coefficient(const Atom& atom, unsigned power) const;
  /// Every atom of the polynomial, sorted; those inside quotients are not listed.
  std::vector<Atom> atoms() const;

  Polynomial& operator+=(const Polynomial& other);
  Polynomial& operator-=(const Polynomial& other);
  Polynomial& operator*=(const Polynomial& other) { return *this = *this * other; }
  friend Polynomial operator+(Polynomial a, const Polynomial& b) { return a += b; }
  friend Polynomial operator-(Polynomial a, const Polynomial& b) { return a -= b; }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  Polynomial operator-() const { return Polynomial() - *this; }
  bool operator==(const Polynomial& other) const { return terms_ == other.terms_; }

  void add_term(const Monomial& monomial, const mpq_class& coefficient);

 private:
  std::map<Monomial, mpq_class> terms_;
};

Polynomial power(const Polynomial& base, unsigned exponent);

/// dividend = quotient * divisor + remainder, divided as far as the divisor's leading term allows.
/// With `whole`, only whole coefficients are divided out. The divisor must not be 0.
struct Division {
  Polynomial quotient, remainder;
};
Division divide(const Polynomial& dividend, const Polynomial& divisor, bool whole);

/// floor(numerator / denominator) for a denominator of at least 1. Whole multiples of the
/// denominator are taken out, so that equal quotients have equal atoms: floor((n + 5)/2) is
/// ceil(n/2) + 2. Both polynomials must have whole values.
Polynomial floor_quotient(const Polynomial& numerator, const Polynomial& denominator);
Polynomial ceil_quotient(const Polynomial& numerator, const Polynomial& denominator);

/// Returns an equal polynomial, by what floor(x/2) and ceil(x/2) have to do with each other: their sum is x, and
/// x - 2*floor(x/2) is its own square. Of what follows from that, it has the fewest terms.
Polynomial with_fewest_terms(const Polynomial& polynomial);

/// The sum of `summand` over the whole numbers atom = lower, …, upper. It is also correct (0) if
/// upper is lower - 1. Neither bound may contain the atom.
Polynomial sum_over(const Polynomial& summand, const Atom& atom, const Polynomial& lower,
                    const Polynomial& upper);

/// Replaces the atom everywhere, inside quotients too.
Polynomial substitute(const Polynomial& polynomial, const Atom& atom, const Polynomial& value);

/// Returns the value; nothing if `lookup` does not know a symbol or a denominator is below 1.
using SymbolValues = std::function<std::optional<mpz_class>(const std::string& symbol)>;
std::optional<mpq_class> evaluate(const Polynomial& polynomial, const SymbolValues& lookup);

/// Parses a polynomial as typed by a person: + - * ^ ( ), names, whole numbers, "3n" and "s(n - 1)"
/// for products. Returns nothing for any other text.
std::optional<Polynomial> parse_polynomial(std::string_view text);

std::string to_string(const Atom& atom, const FormulaStyle& style = {});
/// The usual notation: "3n", "11n - 1", "(n^2 + n)/2", "m*n*k", "2*ceil(n/B)".
std::string to_string(const Polynomial& polynomial, const FormulaStyle& style = {});

/// numerator / denominator, divided out if the denominator is one term: "4 - 3/n".
std::string quotient_to_string(const Polynomial& numerator, const Polynomial& denominator,
                               const FormulaStyle& style = {});

}  // namespace flashlab::toy
