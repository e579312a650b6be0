#include "exercises/grader/exercise/rational.hpp"

#include <algorithm>
#include <limits>

namespace flashlab::exercises {
namespace {

using toy::Atom;
using toy::Monomial;
using toy::Polynomial;

constexpr std::size_t kMostTerms = 200;
constexpr unsigned kHighestDegree = 256;
constexpr std::size_t kMostBits = 4096;
// Limits for the arguments of ceil and floor, where quotients are divided out.
constexpr std::size_t kMostTermsInside = 16;
constexpr std::size_t kMostTermsBelow = 4;
constexpr unsigned kHighestDegreeInside = 6;
constexpr int kDeepestAtom = 16;
constexpr std::size_t kLongestAtom = 2000;  // length of the text that names it

unsigned degree_of(const Monomial& monomial) {
  unsigned degree = 0;
  for (const auto& factor : monomial) degree += factor.second;
  return degree;
}

unsigned degree_of(const Polynomial& polynomial) {
  unsigned degree = 0;
  for (const auto& term : polynomial.terms()) degree = std::max(degree, degree_of(term.first));
  return degree;
}

std::size_t bits_of(const Polynomial& polynomial) {
  std::size_t bits = 0;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    bits = std::max({bits, mpz_sizeinbase(factor.get_num_mpz_t(), 2),
                     mpz_sizeinbase(factor.get_den_mpz_t(), 2)});
  }
  return bits;
}

bool fits(const Polynomial& polynomial) {
  return polynomial.terms().size() <= kMostTerms && degree_of(polynomial) <= kHighestDegree &&
         bits_of(polynomial) <= kMostBits;
}

unsigned exponent_of(const Monomial& monomial, const Atom& atom) {
  for (const auto& [factor, exponent] : monomial) {
    if (factor == atom) return exponent;
  }
  return 0;
}

/// The powers of single quantities that divide every term of both.
Monomial shared_powers(const Polynomial& a, const Polynomial& b) {
  Monomial shared;
  for (const Atom& atom : b.atoms()) {
    unsigned lowest = std::numeric_limits<unsigned>::max();
    for (const Polynomial* polynomial : {&a, &b}) {
      for (const auto& term : polynomial->terms()) {
        lowest = std::min(lowest, exponent_of(term.first, atom));
      }
    }
    if (lowest > 0) shared.emplace_back(atom, lowest);
  }
  return shared;
}

Polynomial divided(const Polynomial& polynomial, const Monomial& powers, const mpq_class& number) {
  Polynomial result;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    Monomial rest;
    for (const auto& [atom, exponent] : monomial) {
      const unsigned left = exponent - exponent_of(powers, atom);
      if (left > 0) rest.emplace_back(atom, left);
    }
    result.add_term(rest, factor / number);
  }
  return result;
}

/// The factor by which both are divided, so that all coefficients are integers without
/// a common factor.
mpq_class content(const Polynomial& a, const Polynomial& b) {
  mpz_class scale = 1, shared = 0;
  for (const Polynomial* polynomial : {&a, &b}) {
    for (const auto& term : polynomial->terms()) {
      scale = lcm(scale, mpz_class(term.second.get_den()));
    }
  }
  for (const Polynomial* polynomial : {&a, &b}) {
    for (const auto& term : polynomial->terms()) {
      shared = gcd(shared, mpz_class(term.second * scale));
    }
  }
  if (b.terms().rbegin()->second < 0) shared = -shared;
  mpq_class result(shared, scale);
  result.canonicalize();
  return result;
}

/// An upper bound for the length of an atom's text that contains this polynomial.
std::size_t text_length(const Polynomial& polynomial) {
  std::size_t length = 0;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    length += mpz_sizeinbase(factor.get_num_mpz_t(), 10) + 4;
    for (const auto& [atom, exponent] : monomial) length += atom.key().size() + 4;
  }
  return length;
}

/// The depth to which ceil and floor are nested.
int nesting(const Polynomial& polynomial) {
  int deepest = 0;
  for (const Atom& atom : polynomial.atoms()) {
    if (atom.kind() == Atom::Kind::kSymbol) continue;
    deepest = std::max({deepest, 1 + nesting(atom.numerator()), 1 + nesting(atom.denominator())});
  }
  return deepest;
}

bool fits_inside(const RationalFunction& value) {
  const auto& [above, below] = value;
  return above.terms().size() <= kMostTermsInside && below.terms().size() <= kMostTermsBelow &&
         degree_of(above) <= kHighestDegreeInside && degree_of(below) <= kHighestDegreeInside &&
         text_length(above) + text_length(below) <= kLongestAtom && nesting(above) < kDeepestAtom &&
         nesting(below) < kDeepestAtom;
}

/// The degree in t if every quantity is t times a number.
int growth(const Polynomial& polynomial);

int growth(const Atom& atom) {
  if (atom.kind() == Atom::Kind::kSymbol) return 1;
  return std::max(0, growth(atom.numerator()) - growth(atom.denominator()));
}

int growth(const Polynomial& polynomial) {
  int highest = 0;
  for (const auto& term : polynomial.terms()) {
    int sum = 0;
    for (const auto& [atom, exponent] : term.first) {
      sum += growth(atom) * static_cast<int>(exponent);
    }
    highest = std::max(highest, sum);
  }
  return highest;
}

/// The terms that grow fastest.
Polynomial leading(const Polynomial& polynomial) {
  const int highest = growth(polynomial);
  Polynomial result;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    Polynomial term;
    term.add_term(monomial, factor);
    if (growth(term) == highest) result += term;
  }
  return result;
}

/// The leading part of a formula. Replaces ceil(x) and floor(x) by x if x grows.
class LeadingPart {
 public:
  std::optional<RationalFunction> of(const RationalFunction& formula) {
    const auto above = without_rounding(formula.numerator);
    const auto below = without_rounding(formula.denominator);
    if (!above || !below || below->numerator.is_zero()) return std::nullopt;
    const auto quotient = arithmetic_.divide(*above, *below);
    if (!quotient) return std::nullopt;
    return RationalFunction{leading(quotient->numerator), leading(quotient->denominator)};
  }

 private:
  RationalArithmetic::Optional without_rounding(const Polynomial& polynomial) {
    RationalFunction sum{0, 1};
    for (const auto& [monomial, factor] : polynomial.terms()) {
      RationalFunction term{factor, 1};
      for (const auto& [atom, exponent] : monomial) {
        const auto base = without_rounding(atom);
        const auto power = base ? arithmetic_.power(*base, exponent) : std::nullopt;
        const auto product = power ? arithmetic_.multiply(term, *power) : std::nullopt;
        if (!product) return std::nullopt;
        term = *product;
      }
      const auto total = arithmetic_.add(sum, term);
      if (!total) return std::nullopt;
      sum = *total;
    }
    return sum;
  }

  RationalArithmetic::Optional without_rounding(const Atom& atom) {
    if (atom.kind() == Atom::Kind::kSymbol || growth(atom) == 0) return RationalFunction{atom, 1};
    const auto above = without_rounding(atom.numerator());
    const auto below = without_rounding(atom.denominator());
    if (!above || !below || below->numerator.is_zero()) return std::nullopt;
    return arithmetic_.divide(*above, *below);
  }

  RationalArithmetic arithmetic_;
};

}  // namespace

std::optional<Polynomial> RationalArithmetic::product(const Polynomial& a, const Polynomial& b) {
  const std::size_t work = a.terms().size() * b.terms().size();
  if (work > work_left_ || degree_of(a) + degree_of(b) > kHighestDegree ||
      bits_of(a) + bits_of(b) > kMostBits) {
    return std::nullopt;
  }
  work_left_ -= work;
  Polynomial result = a * b;
  return fits(result) ? std::optional(std::move(result)) : std::nullopt;
}

RationalArithmetic::Optional RationalArithmetic::reduced(const Polynomial& numerator,
                                                         const Polynomial& denominator) {
  if (numerator.is_zero()) return RationalFunction{0, 1};
  const Monomial powers = shared_powers(numerator, denominator);
  const mpq_class number = content(numerator, denominator);
  RationalFunction result{divided(numerator, powers, number), divided(denominator, powers, number)};
  if (!fits(result.numerator) || !fits(result.denominator)) return std::nullopt;
  return result;
}

RationalArithmetic::Optional RationalArithmetic::add(const RationalFunction& a,
                                                     const RationalFunction& b) {
  if (a.denominator == b.denominator) return reduced(a.numerator + b.numerator, a.denominator);
  const auto left = product(a.numerator, b.denominator);
  const auto right = product(b.numerator, a.denominator);
  const auto below = product(a.denominator, b.denominator);
  if (!left || !right || !below) return std::nullopt;
  return reduced(*left + *right, *below);
}

RationalArithmetic::Optional RationalArithmetic::multiply(const RationalFunction& a,
                                                          const RationalFunction& b) {
  const auto above = product(a.numerator, b.numerator);
  const auto below = product(a.denominator, b.denominator);
  if (!above || !below) return std::nullopt;
  return reduced(*above, *below);
}

RationalArithmetic::Optional RationalArithmetic::divide(const RationalFunction& a,
                                                        const RationalFunction& b) {
  return multiply(a, {b.denominator, b.numerator});
}

RationalArithmetic::Optional RationalArithmetic::power(const RationalFunction& base,
                                                       unsigned exponent) {
  Optional result = RationalFunction{1, 1};
  for (unsigned i = 0; i < exponent && result; ++i) result = multiply(*result, base);
  return result;
}

RationalArithmetic::Optional RationalArithmetic::floor(const RationalFunction& value) {
  if (!fits_inside(value)) return std::nullopt;
  return reduced(toy::floor_quotient(value.numerator, value.denominator), 1);
}

RationalArithmetic::Optional RationalArithmetic::ceil(const RationalFunction& value) {
  if (!fits_inside(value)) return std::nullopt;
  return reduced(toy::ceil_quotient(value.numerator, value.denominator), 1);
}

RationalFunction negated(const RationalFunction& value) {
  return {-value.numerator, value.denominator};
}

bool equal(const RationalFunction& a, const RationalFunction& b) {
  return a.numerator * b.denominator == b.numerator * a.denominator;
}

bool equal_to_leading_order(const RationalFunction& a, const RationalFunction& b) {
  const auto left = LeadingPart().of(a);
  const auto right = LeadingPart().of(b);
  return left && right && equal(*left, *right);
}

std::optional<mpq_class> constant_ratio(const RationalFunction& a, const RationalFunction& b) {
  const Polynomial left = a.numerator * b.denominator;
  const Polynomial right = b.numerator * a.denominator;
  if (left.is_zero()) return mpq_class(0);
  const mpq_class ratio = left.terms().begin()->second / right.terms().begin()->second;
  return left == right * ratio ? std::optional(ratio) : std::nullopt;
}

std::optional<mpq_class> value_at(const RationalFunction& formula, const Size& size) {
  const auto lookup = [&](const std::string& symbol) {
    const auto found = size.find(symbol);
    return found == size.end() ? std::nullopt : std::optional<mpz_class>(found->second);
  };
  const auto above = toy::evaluate(formula.numerator, lookup);
  const auto below = toy::evaluate(formula.denominator, lookup);
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

std::string to_string(const RationalFunction& formula) {
  const auto& [above, below] = formula;
  if (const auto number = below.as_constant()) {
    return toy::to_string(above * mpq_class(1 / *number));
  }
  std::string text = toy::to_string(above);
  if (above.terms().size() > 1) text = "(" + text + ")";
  return text + "/(" + toy::to_string(below) + ")";
}

std::string to_string(const mpq_class& number) { return number.get_str(); }

}  // namespace flashlab::exercises
