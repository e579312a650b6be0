// The normal forms of the inequalities of a lattice sum. Private to counting.
#pragma once

#include <gmpxx.h>

#include <optional>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/iteration_space.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy::detail {

/// Divides each constraint by the common factor of its variables (64i <= n becomes i <=
/// floor(n/64)), drops constraints that follow from others or from the domain, and replaces
/// variables that have only one value. Returns false if no point satisfies the constraints.
bool simplify(LatticeSum& sum, const Inequalities& domain);

struct Choice {
  enum class Kind { kSumOut, kSplitRemainders, kEntangled };
  Kind kind = Kind::kEntangled;
  std::optional<Atom>
      variable;  // kSumOut; kSplitRemainders: to be replaced by modulus * itself + remainder
  mpz_class modulus = 1;  // kSplitRemainders
  Polynomial constraint;  // kEntangled
};

/// Returns the variable to sum over next: the one with the fewest cases, and among those
/// the last one.
Choice choose_variable(const LatticeSum& sum);

/// Two constraints, of which exactly one holds at every point. Where `nonnegative` holds,
/// polynomial >= 0; where `other` holds, polynomial <= 0.
struct Cut {
  Polynomial nonnegative, other;
};

/// Cuts at the quotients that occur in bounds: a - B*i >= 0 is decided by i < ceil(a/B), so that
/// full tiles are separated from the last one.
Cut cut_at(const Polynomial& polynomial, const Inequalities& domain);

}  // namespace flashlab::toy::detail
