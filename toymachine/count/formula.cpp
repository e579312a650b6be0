#include "toymachine/count/formula.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/region_tree.hpp"

namespace flashlab::toy {
namespace {

using detail::GuardedTerm;
using detail::Region;
using detail::RegionTree;

std::vector<std::string> united(std::vector<std::string> a, const std::vector<std::string>& b) {
  for (const std::string& name : b) {
    if (std::find(a.begin(), a.end(), name) == a.end()) a.push_back(name);
  }
  return a;
}

std::vector<Condition> united(std::vector<Condition> a, const std::vector<Condition>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return detail::simplified(a, {});
}

bool contradictory(const std::vector<Condition>& conditions) {
  detail::Inequalities facts;
  for (const Condition& condition : conditions) facts.add(condition.polynomial);
  return facts.contradictory();
}

void add_guarded_terms(const Formula& formula, std::size_t sum, std::vector<GuardedTerm>& terms) {
  for (const Piece& piece : formula.pieces) terms.push_back({sum, piece});
}

std::vector<Region> regions_of(const std::vector<Condition>& domain,
                               const std::vector<GuardedTerm>& terms, std::size_t num_sums,
                               const std::vector<std::vector<mpz_class>>& rows) {
  if (contradictory(domain)) return {};
  return RegionTree::build(domain, terms, num_sums, SIZE_MAX)->combine(rows);
}

Formula combination(const Formula& a, const Formula& b, const mpz_class& factor) {
  std::vector<GuardedTerm> terms;
  add_guarded_terms(a, 0, terms);
  add_guarded_terms(b, 1, terms);
  Formula result{united(a.domain, b.domain), {}, united(a.symbols, b.symbols)};
  for (Region& region : regions_of(result.domain, terms, 2, {{1, factor}})) {
    result.pieces.push_back({std::move(region.conditions), std::move(region.values[0])});
  }
  return result;
}

SymbolValues lookup_in(const ParameterValues& values) {
  return [&values](const std::string& symbol) -> std::optional<mpz_class> {
    const auto place = values.find(symbol);
    if (place == values.end()) return std::nullopt;
    return mpz_class(place->second);
  };
}

bool holds(const std::vector<Condition>& conditions, const SymbolValues& lookup) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    const auto value = evaluate(condition.polynomial, lookup);
    return value && *value >= 0;
  });
}

Condition substituted_condition(const Condition& condition, const Atom& atom,
                                const mpz_class& value) {
  return {substitute(condition.polynomial, atom, Polynomial(value))};
}

}  // namespace

const Piece* piece_at(const Formula& formula, const ParameterValues& values) {
  for (const std::string& symbol : formula.symbols) {
    const auto place = values.find(symbol);
    if (place != values.end() && place->second < 0) return nullptr;
  }
  const SymbolValues lookup = lookup_in(values);
  if (!holds(formula.domain, lookup)) return nullptr;
  const auto piece = std::find_if(formula.pieces.begin(), formula.pieces.end(),
                                  [&](const Piece& one) { return holds(one.conditions, lookup); });
  return piece == formula.pieces.end() ? nullptr : &*piece;
}

std::optional<mpz_class> evaluate(const Formula& formula, const ParameterValues& values) {
  const Piece* const piece = piece_at(formula, values);
  if (piece == nullptr) return std::nullopt;
  const auto value = evaluate(piece->value, lookup_in(values));
  if (!value) return std::nullopt;
  return value->get_num();
}

Formula substitute(const Formula& formula, const std::string& symbol, const mpz_class& value) {
  const Atom atom(symbol);
  std::vector<Condition> domain;
  for (const Condition& condition : formula.domain) {
    domain.push_back(substituted_condition(condition, atom, value));
  }
  if (value < 0) domain.push_back({Polynomial(-1)});
  std::vector<Piece> pieces = formula.pieces;
  for (Piece& piece : pieces) {
    for (Condition& condition : piece.conditions) {
      condition = substituted_condition(condition, atom, value);
    }
    piece.value = substitute(piece.value, atom, Polynomial(value));
  }
  std::vector<std::string> symbols = formula.symbols;
  std::erase(symbols, symbol);
  return formula_of_terms(domain, pieces, std::move(symbols));
}

Formula formula_of_terms(const std::vector<Condition>& domain, const std::vector<Piece>& terms,
                         std::vector<std::string> symbols) {
  const Formula sum{detail::simplified(domain, {}), terms, std::move(symbols)};
  return combination(sum, Formula{}, 0);
}

Formula operator+(const Formula& a, const Formula& b) { return combination(a, b, 1); }
Formula operator-(const Formula& a, const Formula& b) { return combination(a, b, -1); }

Formula operator*(const mpz_class& factor, const Formula& formula) {
  Formula result = formula;
  for (Piece& piece : result.pieces) piece.value *= factor;
  return result;
}

bool equivalent(const Formula& a, const Formula& b) {
  const Formula difference = a - b;
  return std::all_of(difference.pieces.begin(), difference.pieces.end(),
                     [](const Piece& piece) { return piece.value.is_zero(); });
}

std::vector<QuotientPiece> crossing(const AffineInCost& a, const AffineInCost& b) {
  std::vector<GuardedTerm> terms;
  add_guarded_terms(b.fixed, 0, terms);
  add_guarded_terms(a.fixed, 1, terms);
  add_guarded_terms(a.slope, 2, terms);
  add_guarded_terms(b.slope, 3, terms);
  const auto domain =
      united(united(a.fixed.domain, b.fixed.domain), united(a.slope.domain, b.slope.domain));
  std::vector<QuotientPiece> pieces;
  for (Region& region : regions_of(domain, terms, 4, {{1, -1, 0, 0}, {0, 0, 1, -1}})) {
    if (region.values[1].is_zero()) continue;
    pieces.push_back(
        {std::move(region.conditions), std::move(region.values[0]), std::move(region.values[1])});
  }
  return pieces;
}

}  // namespace flashlab::toy
