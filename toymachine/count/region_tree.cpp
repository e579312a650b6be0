#include "toymachine/count/region_tree.hpp"

#include <algorithm>

namespace flashlab::toy::detail {

// Not in an anonymous namespace, because RegionTree::Pending contains them.

/// A condition, and the forms in which terms state it: ceil(n/B) >= 1 is n >= 1.
struct PendingCondition {
  Polynomial plain;
  std::vector<Polynomial> forms;
};

/// A condition that is in many terms is decided once.
struct PendingTerm {
  std::size_t sum = 0;
  std::vector<std::size_t> conditions;
  const Polynomial* value = nullptr;
};

/// The conditions and terms that are undecided in one region.
struct RegionTree::Pending {
  const std::vector<PendingCondition>* conditions = nullptr;
  std::vector<PendingTerm> terms;

  /// Drops decided conditions, and terms that cannot count in the region.
  Pending within(const Inequalities& region) const {
    enum class Truth { kUnknown, kYes, kNo, kOpen };
    std::vector<Truth> truths(conditions->size());
    Pending result{conditions, {}};
    for (const PendingTerm& term : terms) {
      PendingTerm left{term.sum, {}, term.value};
      bool counts = true;
      for (const std::size_t id : term.conditions) {
        const Polynomial& condition = (*conditions)[id].plain;
        if (truths[id] == Truth::kUnknown) {
          truths[id] = region.implies(condition)             ? Truth::kYes
                       : region.implies(opposite(condition)) ? Truth::kNo
                                                             : Truth::kOpen;
        }
        counts = counts && truths[id] != Truth::kNo;
        if (truths[id] == Truth::kOpen) left.conditions.push_back(id);
      }
      if (counts) result.terms.push_back(std::move(left));
    }
    return result;
  }

  /// Returns the condition to cut at next: the shortest.
  const PendingCondition* simplest_condition() const {
    const PendingCondition* best = nullptr;
    for (const PendingTerm& term : terms) {
      for (const std::size_t id : term.conditions) {
        const PendingCondition& condition = (*conditions)[id];
        if (!best || condition.plain.terms().size() < best->plain.terms().size()) {
          best = &condition;
        }
      }
    }
    return best;
  }
};

namespace {

std::size_t number_of(const Polynomial& condition, std::vector<PendingCondition>& conditions) {
  const Polynomial plain = without_quotients(condition);
  const auto place = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const auto& other) { return other.plain == plain; });
  const std::size_t number = static_cast<std::size_t>(place - conditions.begin());
  if (place == conditions.end()) conditions.push_back({plain, {plain}});
  std::vector<Polynomial>& forms = conditions[number].forms;
  if (std::find(forms.begin(), forms.end(), condition) == forms.end()) forms.push_back(condition);
  return number;
}

}  // namespace

std::optional<RegionTree> RegionTree::build(const std::vector<Condition>& domain,
                                            const std::vector<GuardedTerm>& terms,
                                            std::size_t num_sums, std::size_t most_regions) {
  std::vector<PendingCondition> conditions;
  Pending pending{&conditions, {}};
  for (const GuardedTerm& term : terms) {
    PendingTerm& open = pending.terms.emplace_back(PendingTerm{term.sum, {}, &term.piece.value});
    for (const Condition& condition : term.piece.conditions) {
      open.conditions.push_back(number_of(condition.polynomial, conditions));
    }
  }
  if (conditions.size() / 3 > most_regions) return std::nullopt;  // it would take too long
  RegionTree tree;
  tree.domain_ = domain;
  const auto root = tree.grow(facts_of(domain), pending, num_sums, most_regions);
  if (!root) return std::nullopt;
  tree.root_ = *root;
  return tree;
}

std::optional<std::size_t> RegionTree::grow(const Inequalities& region, const Pending& outside,
                                            std::size_t num_sums, std::size_t& regions_left) {
  const Pending pending = outside.within(region);
  Node node;
  if (const PendingCondition* condition = pending.simplest_condition()) {
    const Inequalities yes = with(region, condition->plain);
    const Inequalities no = with(region, opposite(condition->plain));
    const auto yes_node = grow(yes, pending, num_sums, regions_left);
    const auto no_node = yes_node ? grow(no, pending, num_sums, regions_left) : std::nullopt;
    if (!no_node) return std::nullopt;
    node.condition = Condition{condition->plain};
    node.yes = *yes_node;
    node.no = *no_node;
    node.cases_of_yes = cases_of(condition->forms, yes);
    std::vector<Polynomial> opposites;
    for (const Polynomial& form : condition->forms) opposites.push_back(opposite(form));
    node.cases_of_no = cases_of(opposites, no);
  } else {
    if (regions_left == 0) return std::nullopt;
    --regions_left;
    node.values.resize(num_sums);
    for (const PendingTerm& term : pending.terms) node.values[term.sum] += *term.value;
  }
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

/// Returns the values of single unknowns that follow from the equation polynomial = 0.
RegionTree::Fixed RegionTree::fixed_by(const Polynomial& zero) {
  Fixed fixed;
  if (obviously_nonnegative(zero)) {  // every term is 0
    for (const auto& term : zero.terms()) {
      if (term.first.size() == 1) fixed.emplace_back(term.first[0].first, 0);
    }
  }
  for (const Atom& atom : zero.atoms()) {
    if (!fixed.empty()) break;
    const Polynomial own = zero.coefficient(atom, 1);
    if (zero.degree(atom) != 1 || (own != Polynomial(1) && own != Polynomial(-1))) continue;
    const Polynomial rest = zero - own * atom;
    fixed.emplace_back(atom, own == Polynomial(1) ? -rest : rest);
  }
  const std::vector<std::pair<Atom, Polynomial>> found = fixed;
  for (const auto& [atom, value] : found) {  // ceil(n/B) = 0 where n = 0
    const bool numerator_is_zero = atom.kind() == Atom::Kind::kCeilDiv && value.is_zero() &&
                                   obviously_nonnegative(atom.numerator());
    if (!numerator_is_zero) continue;
    const Fixed more = fixed_by(atom.numerator());
    fixed.insert(fixed.end(), more.begin(), more.end());
  }
  return fixed;
}

/// `forms` are >= 0 in the region. A form that cannot exceed 0 gives one case; a form of one
/// unknown that cannot exceed 1 gives two.
std::vector<RegionTree::Cases> RegionTree::cases_of(const std::vector<Polynomial>& forms,
                                                    const Inequalities& region) {
  Fixed fixed;
  std::vector<Cases> ways;
  for (const Polynomial& form : forms) {
    if (region.implies(-form)) {
      const Fixed more = fixed_by(form);
      fixed.insert(fixed.end(), more.begin(), more.end());
    } else if (form.atoms().size() == 1 && region.implies(1 - form)) {
      ways.push_back({fixed_by(form), fixed_by(form - 1)});
    }
  }
  if (!fixed.empty()) ways.push_back({fixed});
  return ways;
}

bool RegionTree::vanishes(const Polynomial& difference, const std::vector<Cases>& ways) {
  const auto vanishes_in = [&](const Fixed& fixed) {
    Polynomial rest = difference;
    for (const auto& [atom, value] : fixed) rest = substitute(rest, atom, value);
    return rest.is_zero();
  };
  return std::any_of(ways.begin(), ways.end(), [&](const Cases& cases) {
    return std::all_of(cases.begin(), cases.end(), vanishes_in);
  });
}

std::optional<std::vector<Region>> RegionTree::merged(const Node& node,
                                                      const std::vector<Region>& yes,
                                                      const std::vector<Region>& no) {
  if (yes.size() != no.size()) return std::nullopt;
  std::vector<Region> result = yes;
  for (std::size_t r = 0; r < yes.size(); ++r) {
    if (yes[r].conditions != no[r].conditions) return std::nullopt;
    for (std::size_t i = 0; i < yes[r].values.size(); ++i) {
      const Polynomial difference = yes[r].values[i] - no[r].values[i];
      if (difference.is_zero() || vanishes(difference, node.cases_of_no)) continue;
      if (!vanishes(difference, node.cases_of_yes)) return std::nullopt;
      result[r].values[i] = no[r].values[i];
    }
  }
  return result;
}

std::vector<Region> RegionTree::combine(std::size_t at,
                                        const std::vector<std::vector<mpz_class>>& rows) const {
  const Node& node = nodes_[at];
  if (!node.condition) {
    Region region;
    for (const std::vector<mpz_class>& row : rows) {
      Polynomial& value = region.values.emplace_back();
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (row[j] != 0) value += node.values[j] * row[j];
      }
      value = with_fewest_terms(value);
    }
    return {region};
  }
  std::vector<Region> yes = combine(node.yes, rows);
  std::vector<Region> no = combine(node.no, rows);
  if (auto both = merged(node, yes, no)) return std::move(*both);
  for (Region& region : yes) region.conditions.push_back(*node.condition);
  for (Region& region : no) {
    region.conditions.push_back({opposite(node.condition->polynomial)});
    yes.push_back(std::move(region));
  }
  return yes;
}

std::vector<Region> RegionTree::combine(const std::vector<std::vector<mpz_class>>& rows) const {
  std::vector<Region> regions = combine(root_, rows);
  for (Region& region : regions) region.conditions = simplified(region.conditions, domain_);
  join_equal(regions, domain_);
  return regions;
}

}  // namespace flashlab::toy::detail
