// The values of affine expressions over a loop nest.
#pragma once

#include <optional>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::toy::detail {

__extension__ using Int128 = __int128;

/// A larger index or bound is refused. Sums of a few such values still fit 64 bits.
inline constexpr std::int64_t kLargestIndex = std::int64_t{1} << 61;

/// Computes with 128 bits, so that a value that does not fit 64 bits is detected and does not wrap.
class Ranges {
 public:
  explicit Ranges(const std::vector<BoundLoop>& loops) : loops_(loops) {}

  /// Returns a superset of the expression's values inside its loops. It is tight for bounds
  /// that are affine in outer variables, or a min or max of these. Returns nothing if a value
  /// could exceed kLargestIndex.
  std::optional<Interval> of(const Affine& e) const;
  std::optional<Interval> of(const BoundExpression& e) const;
  /// Returns the range of upper - lower.
  std::optional<Interval> of_difference(const BoundExpression& upper,
                                        const BoundExpression& lower) const;

 private:
  struct Wide {
    Int128 constant = 0;
    std::vector<std::pair<std::uint32_t, Int128>> terms;  // sorted by loop
  };
  static Wide widen(const Affine& e);
  static Wide plus(const Wide& a, const Wide& b, Int128 factor);
  static Wide negated(const Wide& e);
  Int128 high(const Wide& e) const;
  Int128 low(const Wide& e) const { return -high(negated(e)); }
  Int128 high_at(const Wide& rest, Int128 coefficient, const BoundExpression& bound,
                 Int128 offset) const;
  Int128 bound_high(const BoundExpression& e) const;
  Int128 bound_low(const BoundExpression& e) const;
  Int128 difference(const BoundExpression& upper, const BoundExpression& lower,
                    bool want_high) const;

  const std::vector<BoundLoop>& loops_;
  mutable int work_ = 0;
};

}  // namespace flashlab::toy::detail
