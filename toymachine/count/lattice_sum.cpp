// Sums over one variable after the other. Each variable needs one lower and one upper bound; if
// there are several, the region is cut so that one of them is the tightest. A variable can be
// summed over when it has the factor 1 or -1 in every inequality, because its bounds are then
// polynomials. If there is no such variable, one of the others is replaced by a multiple plus
// each possible remainder.
#include "toymachine/count/lattice_sum.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "toymachine/count/constraint_form.hpp"

namespace flashlab::toy::detail {
namespace {

/// Constraints by their form for one variable: variable - l >= 0, u - variable >= 0, or without it.
struct Bounds {
  std::vector<Polynomial> lower, upper, others;
};

Bounds bounds_on(const Atom& variable, const std::vector<Polynomial>& constraints) {
  Bounds bounds;
  for (const Polynomial& constraint : constraints) {
    const int sign = sgn(constraint.coefficient(variable, 1).constant_term());
    (sign > 0 ? bounds.lower : sign < 0 ? bounds.upper : bounds.others).push_back(constraint);
  }
  return bounds;
}

class Summation {
 public:
  Summation(const Inequalities& domain, std::size_t& budget, std::vector<Piece>& terms)
      : domain_(domain), budget_(budget), terms_(terms) {}

  Obstacle run(LatticeSum sum) {
    while (obstacle_.kind == Obstacle::Kind::kNone && simplify(sum, domain_)) {
      if (sum.variables.empty()) {
        emit(sum);
        break;
      }
      const std::size_t work = 1 + sum.constraints.size() * sum.constraints.size() / 16;
      if (budget_ < work) return {Obstacle::Kind::kTooLong, {}};
      budget_ -= work;
      const Choice choice = choose_variable(sum);
      if (choice.kind == Choice::Kind::kEntangled)
        return {Obstacle::Kind::kEntangled, choice.constraint};
      if (choice.kind == Choice::Kind::kSplitRemainders) return run_remainders(sum, choice);
      if (!sum_out(sum, *choice.variable)) break;
    }
    return obstacle_;
  }

 private:
  void emit(const LatticeSum& sum) {
    if (sum.value.is_zero()) return;
    Piece& term = terms_.emplace_back(Piece{{}, sum.value});
    for (const Polynomial& constraint : sum.constraints) term.conditions.push_back({constraint});
  }

  void branch(LatticeSum sum) {
    if (obstacle_.kind == Obstacle::Kind::kNone) obstacle_ = run(std::move(sum));
  }

  Obstacle run_remainders(const LatticeSum& sum, const Choice& choice) {
    if (choice.modulus > static_cast<unsigned long>(budget_)) return {Obstacle::Kind::kTooLong, {}};
    for (mpz_class remainder = 0; remainder < choice.modulus; ++remainder) {
      LatticeSum part = sum;
      const Polynomial value = Polynomial(*choice.variable) * choice.modulus + remainder;
      for (Polynomial& constraint : part.constraints) {
        constraint = substitute(constraint, *choice.variable, value);
      }
      part.value = substitute(part.value, *choice.variable, value);
      branch(std::move(part));
      if (obstacle_.kind != Obstacle::Kind::kNone) break;
    }
    return obstacle_;
  }

  /// Sums over the variable and returns true. If its bounds must first be compared, sums over both
  /// sides of a cut instead and returns false: nothing is then left to do.
  bool sum_out(LatticeSum& sum, const Atom& variable) {
    Bounds bounds = bounds_on(variable, sum.constraints);
    // Ranges are finite, so a missing bound means that the region has no points.
    if (bounds.lower.empty() || bounds.upper.empty()) return false;
    if (!keep_tightest(bounds.lower, sum, bounds.others)) return false;
    if (!keep_tightest(bounds.upper, sum, bounds.others)) return false;
    const Polynomial lower = Polynomial(variable) - bounds.lower.front();
    const Polynomial upper = Polynomial(variable) + bounds.upper.front();
    require(upper - lower + 1, bounds.others);
    sum.value = sum_over(sum.value, variable, lower, upper);
    sum.constraints = std::move(bounds.others);
    std::erase(sum.variables, variable);
    return !sum.value.is_zero();
  }

  Inequalities facts(const std::vector<Polynomial>& constraints) const {
    Inequalities known = domain_;
    for (const Polynomial& constraint : constraints) known.add(constraint);
    return known;
  }

  void require(const Polynomial& nonnegative, std::vector<Polynomial>& constraints) const {
    if (!facts(constraints).implies(nonnegative)) constraints.push_back(nonnegative);
  }

  /// Leaves only the tightest bound; the conditions that make it so are added to `others`, which do
  /// not contain the variable. Returns false if the sum was cut in two and is done.
  bool keep_tightest(std::vector<Polynomial>& bounds, const LatticeSum& sum,
                     std::vector<Polynomial>& others) {
    while (bounds.size() > 1) {
      const Polynomial last = bounds.back();
      bounds.pop_back();
      Polynomial& other = bounds.back();
      const Polynomial excess = other - last;  // where it is >= 0, the last bound is tighter
      if (facts(sum.constraints).implies(excess)) {
        require(excess, others);
        other = last;
      } else if (facts(sum.constraints).implies(-excess)) {
        require(-excess, others);
      } else {
        const Cut cut = cut_at(excess, domain_);
        branch(side_of_cut(sum, cut.nonnegative, other));
        branch(side_of_cut(sum, cut.other, last));
        return false;
      }
    }
    return true;
  }

  static LatticeSum side_of_cut(LatticeSum sum, const Polynomial& added,
                                const Polynomial& superfluous) {
    std::erase(sum.constraints, superfluous);
    sum.constraints.push_back(added);
    return sum;
  }

  const Inequalities& domain_;
  std::size_t& budget_;
  std::vector<Piece>& terms_;
  Obstacle obstacle_;
};

}  // namespace

Obstacle add_lattice_sum(const LatticeSum& sum, const Inequalities& domain, std::size_t& budget,
                         std::vector<Piece>& terms) {
  return Summation(domain, budget, terms).run(sum);
}

}  // namespace flashlab::toy::detail
