// The forms that the inequalities of a lattice sum are brought into. Private to counting.
#pragma once

#include <gmpxx.h>

#include <optional>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/iteration_space.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy::detail {

/// Divides out what multiplies all variables of each constraint (64i <= n becomes i <=
/// floor(n/64)), drops constraints that others or the domain make superfluous, and replaces
/// variables that have only one value. False: no point satisfies the constraints.
bool simplify(LatticeSum& sum, const Inequalities& domain);

struct Choice {
  enum class Kind { kSumOut, kSplitRemainders, kEntangled };
  Kind kind = Kind::kEntangled;
  std::optional<Atom>
      variable;  // kSumOut; kSplitRemainders: to be replaced by modulus * itself + remainder
  mpz_class modulus = 1;  // kSplitRemainders
  Polynomial constraint;  // kEntangled
};

/// The next variable to be taken, the one with the fewest cases; later variables first.
Choice choose_variable(const LatticeSum& sum);

/// Two constraints, one of which holds for every point. Under the first, polynomial >= 0; under the
/// second, polynomial <= 0.
struct Cut {
  Polynomial nonnegative, other;
};

/// Cuts beside the quotients that occur in bounds: a - B*i >= 0 is decided by i < ceil(a/B), so
/// that full tiles come apart from the last one.
Cut cut_at(const Polynomial& polynomial, const Inequalities& domain);

}  // namespace flashlab::toy::detail
