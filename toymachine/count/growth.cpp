#include "toymachine/count/growth.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/count/symbolic_nest.hpp"

namespace flashlab::toy {
namespace {

/// The factor by which sizes grow: 2^kDoublings. Coefficients and sizes are far smaller, so that a
/// higher degree counts for more than they do.
constexpr unsigned kDoublings = 200;

void add_symbols(const Polynomial& polynomial, std::set<std::string>& symbols) {
  for (const Atom& atom : polynomial.atoms()) {
    if (atom.kind() == Atom::Kind::kSymbol) {
      symbols.insert(atom.key());
    } else {
      add_symbols(atom.numerator(), symbols);
      add_symbols(atom.denominator(), symbols);
    }
  }
}

void add_divisors(const Polynomial& polynomial, std::set<std::string>& symbols) {
  for (const Atom& atom : polynomial.atoms()) {
    if (atom.kind() == Atom::Kind::kSymbol) continue;
    add_divisors(atom.numerator(), symbols);
    add_symbols(atom.denominator(), symbols);
  }
}

}  // namespace

std::set<std::string> divisor_symbols(const Formula& formula) {
  std::set<std::string> symbols;
  for (const Piece& piece : formula.pieces) {
    add_divisors(piece.value, symbols);
    for (const Condition& condition : piece.conditions) {
      add_divisors(condition.polynomial, symbols);
    }
  }
  return symbols;
}

Growth::Growth(const ParameterValues& sizes, const std::set<std::string>& fixed)
    : sizes_(sizes), fixed_(fixed) {
  fixed_.insert(std::string(detail::kRegistersSymbol));
}

mpq_class Growth::grown(const Polynomial& polynomial) const {
  const SymbolValues values = [&](const std::string& symbol) {
    const auto place = sizes_.find(symbol);
    const mpz_class size = place == sizes_.end() ? 1 : std::max<std::int64_t>(place->second, 1);
    if (fixed_.contains(symbol)) return std::optional(size);
    return std::optional(mpz_class((size << kDoublings) + 1));  // no multiple of a tile
  };
  return evaluate(polynomial, values).value_or(0);
}

std::vector<Polynomial> Growth::terms(const Polynomial& polynomial) const {
  std::vector<std::pair<mpq_class, Polynomial>> valued;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    Polynomial term;
    term.add_term(monomial, coefficient);
    valued.emplace_back(abs(grown(term)), std::move(term));
  }
  std::stable_sort(valued.begin(), valued.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Polynomial> terms;
  for (auto& [value, term] : valued) terms.push_back(std::move(term));
  return terms;
}

bool Growth::represents(const Polynomial& terms, const Polynomial& whole) const {
  const mpq_class part = grown(terms), all = grown(whole);
  return sgn(part) == sgn(all) && abs(part) <= 2 * abs(all);
}

LeadingTerms leading_terms(const std::vector<Polynomial>& fastest_first, std::size_t number) {
  LeadingTerms result;
  for (std::size_t i = 0; i < fastest_first.size(); ++i) {
    if (i < number) {
      result.kept += fastest_first[i];
    } else {
      ++result.left_out;
    }
  }
  return result;
}

}  // namespace flashlab::toy
