#include "toymachine/count/tile_terms.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {
namespace {

/// The first number of loops over elements: far above the numbers of the program's loops.
constexpr std::size_t kElements = 2'000'000'000;

WorkTerm product_of(std::size_t site, std::initializer_list<const Dimension*> dimensions) {
  WorkTerm term;
  term.site = site;
  for (const Dimension* dimension : dimensions) {
    if (const auto number = dimension->number()) {
      term.factor *= *number;
    } else {
      term.path.push_back(dimension->loop(kElements + term.path.size()));
    }
  }
  return term;
}

}  // namespace

void add_terms(WorkTerms& terms, const WorkTerms& more, const mpz_class& factor) {
  for (const WorkTerm& term : more) {
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const WorkTerm& other) {
      return other.site == term.site && other.path == term.path;
    });
    if (same == terms.end()) {
      terms.push_back(term);
      terms.back().factor *= factor;
    } else {
      same->factor += term.factor * factor;
    }
  }
  std::erase_if(terms, [](const WorkTerm& term) { return term.factor == 0; });
}

WorkTerms work_terms(std::size_t site, FlopKind kind, const TileShape& first,
                     const TileShape& written) {
  WorkTerms terms;
  if (kind == FlopKind::kReduction) {
    add_terms(terms, {product_of(site, {&first.rows, &first.cols})});
    add_terms(terms, {product_of(site, {&first.rows})}, -1);
  } else if (kind == FlopKind::kProduct) {
    add_terms(terms, {product_of(site, {&written.rows, &first.cols, &written.cols})});
  } else {
    add_terms(terms, {product_of(site, {&written.rows, &written.cols})});
  }
  return terms;
}

WorkTerms inside(const NestLoop& loop, WorkTerms terms) {
  for (WorkTerm& term : terms) term.path.insert(term.path.begin(), loop);
  return terms;
}

WorkTerms at_value(WorkTerms terms, const Atom& variable, const Polynomial& value) {
  for (WorkTerm& term : terms) {
    for (NestLoop& loop : term.path) substitute_in(loop, variable, value);
  }
  return terms;
}

}  // namespace flashlab::toy::detail
