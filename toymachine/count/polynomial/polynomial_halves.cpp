// Halves in polynomials: floor(x/2) and ceil(x/2) of the same x depend on each other, so that sums
// over even and over odd steps have a short form.

#include <algorithm>
#include <optional>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy {
namespace {

bool is_half(const Atom& atom) {
  if (atom.kind() == Atom::Kind::kSymbol) return false;
  const auto divisor = atom.denominator().as_constant();
  return divisor && *divisor == 2;
}

/// Returns the atom if the polynomial is one.
std::optional<Atom> sole_half(const Polynomial& polynomial) {
  const std::vector<Atom> atoms = polynomial.atoms();
  if (atoms.size() != 1 || !(polynomial == Polynomial(atoms[0]))) return std::nullopt;
  return atoms[0];
}

/// Replaces the atom, but not inside quotients.
Polynomial with_value(const Polynomial& polynomial, const Atom& atom, const Polynomial& value) {
  Polynomial result;
  for (unsigned k = 0; k <= polynomial.degree(atom); ++k) {
    result += polynomial.coefficient(atom, k) * power(value, k);
  }
  return result;
}

/// Replaces the square of the atom until its degree is at most 1.
Polynomial without_squares(Polynomial polynomial, const Atom& atom, const Polynomial& square) {
  for (unsigned k = polynomial.degree(atom); k > 1; --k) {
    const Polynomial leading = polynomial.coefficient(atom, k);
    polynomial += leading * power(Polynomial(atom), k - 2) * (square - power(Polynomial(atom), 2));
  }
  return polynomial;
}

/// Writes the polynomial with one of floor(x/2) and ceil(x/2), and that without squares. It is x -
/// 2 floor(x/2), or 2 ceil(x/2) - x, that is 0 or 1 and therefore its own square.
Polynomial with_one_half(const Polynomial& polynomial, const Atom& kept, const Atom& replaced,
                         const Polynomial& x) {
  const int sign = kept.kind() == Atom::Kind::kFloorDiv ? 1 : -1;
  const Polynomial half = mpq_class(1, 2), quarter = mpq_class(1, 4);
  const Polynomial square =
      x * Polynomial(kept) - quarter * (x * x - sign * x) - sign * half * Polynomial(kept);
  return without_squares(with_value(polynomial, replaced, x - Polynomial(kept)), kept, square);
}

}  // namespace

Polynomial with_fewest_terms(const Polynomial& polynomial) {
  Polynomial shortest = polynomial;
  for (const Atom& atom : polynomial.atoms()) {
    if (!is_half(atom)) continue;
    const Polynomial& x = atom.numerator();
    const auto floor = sole_half(floor_quotient(x, 2)), ceil = sole_half(ceil_quotient(x, 2));
    if (!floor || !ceil) continue;  // of a quotient, whose half is another quotient
    for (const Polynomial& other :
         {with_one_half(shortest, *floor, *ceil, x), with_one_half(shortest, *ceil, *floor, x)}) {
      if (other.terms().size() < shortest.terms().size()) shortest = other;
    }
  }
  return shortest;
}

}  // namespace flashlab::toy
