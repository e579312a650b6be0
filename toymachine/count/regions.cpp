#include "toymachine/count/regions.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace flashlab::toy::detail {
namespace {

bool implies_all(const Inequalities& facts, const std::vector<Condition>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    return facts.implies(condition.polynomial);
  });
}

Inequalities with_all(Inequalities facts, const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) facts.add(condition.polynomial);
  return facts;
}

/// Returns the union of `a` and `b` if it is `a` without one of its conditions.
std::optional<std::vector<Condition>> joined_region(const std::vector<Condition>& a,
                                                    const std::vector<Condition>& b,
                                                    const Inequalities& domain) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<Condition> wider = a;
    wider.erase(wider.begin() + static_cast<std::ptrdiff_t>(i));
    const Inequalities added = with(with_all(domain, wider), opposite(a[i].polynomial));
    if (implies_all(added, b) && implies_all(with_all(domain, b), wider)) return wider;
  }
  return std::nullopt;
}

/// Joins the first two regions with equal values whose union is a simple conjunction.
bool join_any(std::vector<Region>& regions, const std::vector<Condition>& domain) {
  const Inequalities known = facts_of(domain);
  for (Region& a : regions) {
    for (std::size_t j = 0; j < regions.size(); ++j) {
      const Region& b = regions[j];
      if (&a == &b || !(a.values == b.values)) continue;
      auto both = joined_region(a.conditions, b.conditions, known);
      if (!both) continue;
      a.conditions = simplified(*both, domain);
      regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
  }
  return false;
}

}  // namespace

Inequalities facts_of(const std::vector<Condition>& conditions) {
  Inequalities facts;
  for (const Condition& condition : conditions) facts.add(condition.polynomial);
  return facts;
}

Inequalities with(Inequalities facts, const Polynomial& nonnegative) {
  facts.add(nonnegative);
  return facts;
}

Polynomial opposite(const Polynomial& nonnegative) { return -nonnegative - 1; }

std::vector<Condition> simplified(const std::vector<Condition>& conditions,
                                  const std::vector<Condition>& domain) {
  std::vector<Condition> kept;
  for (const Condition& condition : conditions) {
    kept.push_back({without_quotients(condition.polynomial)});
  }
  for (std::size_t i = 0; i < kept.size();) {
    Inequalities others = facts_of(domain);
    for (std::size_t j = 0; j < kept.size(); ++j) {
      if (j != i) others.add(kept[j].polynomial);
    }
    if (others.implies(kept[i].polynomial)) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  Inequalities all = facts_of(domain);
  for (const Condition& condition : kept) all.add(condition.polynomial);
  for (std::size_t i = 0, count = kept.size(); i < count; ++i) {
    const Condition reverse{-kept[i].polynomial};
    const bool stated = std::find(kept.begin(), kept.end(), reverse) != kept.end();
    if (!stated && all.implies(reverse.polynomial)) kept.push_back(reverse);
  }
  return kept;
}

void join_equal(std::vector<Region>& regions, const std::vector<Condition>& domain) {
  while (join_any(regions, domain)) {
  }
}

}  // namespace flashlab::toy::detail
