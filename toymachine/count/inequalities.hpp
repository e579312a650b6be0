// Consequences of polynomials that are known to be at least 0. Private to the
// counting of executions.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <string>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy::detail {

/// A loop variable inside the sums; no parameter can have such a name. All other symbols are
/// parameters, and at least 0.
Atom loop_atom(std::size_t number);
bool is_loop_atom(const Atom& atom);
bool has_loop_atom(const Polynomial& polynomial);

/// Whether numbers x exist with rows[i][0] + sum_j rows[i][j] x[j - 1] >= 0 for all i. Exact.
bool has_rational_solution(const std::vector<std::vector<mpq_class>>& rows);

/// An equivalent condition on whole numbers with common factors divided out and the constant
/// rounded: 2n - 3 >= 0 becomes n - 2 >= 0.
Polynomial tightened(const Polynomial& nonnegative);

/// Returns an equivalent condition without quotients: ceil(n/B) >= 3 becomes n >= 2B + 1.
Polynomial without_quotients(const Polynomial& nonnegative);

/// Whether all coefficients are >= 0 and belong to parameters only.
bool obviously_nonnegative(const Polynomial& polynomial);

/// A conjunction. Answers are proofs: "no" means "not proved". Products of unknowns are treated as
/// separate unknowns, linked by the facts that sums over loops need.
class Inequalities {
 public:
  Inequalities() = default;
  explicit Inequalities(std::vector<Polynomial> nonnegative) : known_(std::move(nonnegative)) {}

  void add(const Polynomial& nonnegative) { known_.push_back(nonnegative); }
  const std::vector<Polynomial>& all() const { return known_; }
  /// Whether the polynomial, whole for whole numbers, is >= 0 wherever the known ones are.
  bool implies(const Polynomial& polynomial) const;
  /// The same without removing quotients; proves more if the facts are about the quotients.
  bool implies_as_it_stands(const Polynomial& polynomial) const;
  bool contradictory() const;

 private:
  bool implies_goal(const Polynomial& goal) const;

  std::vector<Polynomial> known_;
};

}  // namespace flashlab::toy::detail
