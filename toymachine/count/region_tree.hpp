// Divides the parameters into regions in which every count is one polynomial. Private to formulas.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/regions.hpp"

namespace flashlab::toy::detail {

/// A value that is added to one of several sums (by number) wherever its conditions hold.
struct GuardedTerm {
  std::size_t sum = 0;
  Piece piece;
};

/// A decision tree over the conditions of all terms.
class RegionTree {
 public:
  /// Returns nothing if there are more than `most_regions` regions.
  static std::optional<RegionTree> build(const std::vector<Condition>& domain,
                                         const std::vector<GuardedTerm>& terms,
                                         std::size_t num_sums, std::size_t most_regions);

  /// Returns the regions needed for sum_j rows[i][j] * (sum j), for all i. Regions that agree are
  /// merged. They cover the domain and do not overlap.
  std::vector<Region> combine(const std::vector<std::vector<mpz_class>>& rows) const;

 private:
  /// Unknowns that have one value in a case; a region may consist of several cases.
  using Fixed = std::vector<std::pair<Atom, Polynomial>>;
  using Cases = std::vector<Fixed>;
  struct Node {
    std::vector<Polynomial> values;  // of a leaf, by sum
    std::optional<Condition> condition;
    std::size_t yes = 0, no = 0;                   // nodes
    std::vector<Cases> cases_of_yes, cases_of_no;  // ways to split a region into cases
  };

  RegionTree() = default;
  struct Pending;
  std::optional<std::size_t> grow(const Inequalities& region, const Pending& outside,
                                  std::size_t num_sums, std::size_t& regions_left);
  std::vector<Region> combine(std::size_t node,
                              const std::vector<std::vector<mpz_class>>& rows) const;
  static Fixed fixed_by(const Polynomial& zero);
  static std::vector<Cases> cases_of(const std::vector<Polynomial>& forms,
                                     const Inequalities& region);
  static bool vanishes(const Polynomial& difference, const std::vector<Cases>& ways);
  static std::optional<std::vector<Region>> merged(const Node& node, const std::vector<Region>& yes,
                                                   const std::vector<Region>& no);

  std::vector<Condition> domain_;
  std::vector<Node> nodes_;
  std::size_t root_ = 0;
};

}  // namespace flashlab::toy::detail
