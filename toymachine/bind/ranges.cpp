#include "toymachine/bind/ranges.hpp"

#include <algorithm>

namespace flashlab::toy::detail {
namespace {

using BoundOp = BoundExpression::Op;

constexpr int kMostWork =
    20'000;  // substitutions; then plain interval arithmetic, still a superset
// Values are limited to this, so that their products fit 128 bits.
constexpr Int128 kHuge = Int128{1} << 100;
constexpr Int128 kSaturation = Int128{1} << 64;

Int128 clamp(Int128 value) { return std::clamp(value, -kHuge, kHuge); }

Int128 saturated_product(Int128 a, Int128 b) {
  const auto squeeze = [](Int128 v) { return std::clamp(v, -kSaturation, kSaturation); };
  const Int128 x = squeeze(a);
  const Int128 y = std::clamp(b, -(kSaturation >> 2), kSaturation >> 2);
  return clamp(x / 4 * y * 4 + x % 4 * y);
}

Int128 floor_divide(Int128 a, Int128 b) { return a / b - (a % b < 0 ? 1 : 0); }
Int128 ceil_divide(Int128 a, Int128 b) { return a / b + (a % b > 0 ? 1 : 0); }

std::optional<Interval> narrowed(Int128 low, Int128 high) {
  if (low < -kLargestIndex || low > kLargestIndex || high > kLargestIndex ||
      high < -kLargestIndex) {
    return std::nullopt;
  }
  return Interval{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

}  // namespace

Ranges::Wide Ranges::widen(const Affine& e) {
  Wide wide;
  wide.constant = e.constant;
  for (const auto& [loop, coefficient] : e.terms) wide.terms.emplace_back(loop, coefficient);
  return wide;
}

Ranges::Wide Ranges::plus(const Wide& a, const Wide& b, Int128 factor) {
  Wide sum;
  sum.constant = clamp(a.constant + saturated_product(b.constant, factor));
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first)) {
      sum.terms.push_back(*x++);
      continue;
    }
    Int128 coefficient = saturated_product(y->second, factor);
    const std::uint32_t loop = y->first;
    if (x != a.terms.end() && x->first == loop) coefficient += (x++)->second;
    ++y;
    if (coefficient != 0) sum.terms.emplace_back(loop, clamp(coefficient));
  }
  return sum;
}

Ranges::Wide Ranges::negated(const Wide& e) { return plus(Wide{}, e, -1); }

/// Returns the largest value. The innermost variable takes the end of its range that the sign of
/// its coefficient selects, which leaves an expression in the outer variables.
Int128 Ranges::high(const Wide& e) const {
  if (e.terms.empty()) return e.constant;
  const auto [loop, coefficient] = e.terms.back();
  const BoundLoop& range = loops_[loop];
  if (++work_ > kMostWork) {
    Int128 sum = e.constant;
    for (const auto& [l, c] : e.terms) {
      sum = clamp(sum + saturated_product(c > 0 ? loops_[l].values.high : loops_[l].values.low, c));
    }
    return sum;
  }
  Wide rest = e;
  rest.terms.pop_back();
  return coefficient > 0 ? high_at(rest, coefficient, range.upper, -1)
                         : high_at(rest, coefficient, range.lower, 0);
}

/// Returns the largest value of rest + coefficient * (bound + offset).
Int128 Ranges::high_at(const Wide& rest, Int128 coefficient, const BoundExpression& bound,
                       Int128 offset) const {
  if (bound.op == BoundOp::kAffine) {
    Wide value = widen(bound.affine);
    value.constant += offset;
    return high(plus(rest, value, coefficient));
  }
  if (bound.op == BoundOp::kMin || bound.op == BoundOp::kMax) {
    const bool smallest = (bound.op == BoundOp::kMin) == (coefficient > 0);
    Int128 best = high_at(rest, coefficient, bound.args[0], offset);
    for (std::size_t i = 1; i < bound.args.size(); ++i) {
      const Int128 other = high_at(rest, coefficient, bound.args[i], offset);
      best = smallest ? std::min(best, other) : std::max(best, other);
    }
    return best;
  }
  const Int128 end = coefficient > 0 ? bound_high(bound) : bound_low(bound);
  return clamp(high(rest) + saturated_product(end + offset, coefficient));
}

Int128 Ranges::bound_high(const BoundExpression& e) const {
  switch (e.op) {
    case BoundOp::kAffine:
      return high(widen(e.affine));
    case BoundOp::kMin:
    case BoundOp::kMax: {
      Int128 best = bound_high(e.args[0]);
      for (const BoundExpression& arg : e.args) {
        const Int128 value = bound_high(arg);
        best = e.op == BoundOp::kMin ? std::min(best, value) : std::max(best, value);
      }
      return best;
    }
    case BoundOp::kCeilDiv:
      return ceil_divide(bound_high(e.args[0]), e.constant);
    case BoundOp::kFloorDiv:
      return floor_divide(bound_high(e.args[0]), e.constant);
    case BoundOp::kAdd: {
      Int128 sum = 0;
      for (const BoundExpression& arg : e.args) sum = clamp(sum + bound_high(arg));
      return sum;
    }
    case BoundOp::kScale:
      return saturated_product(e.constant > 0 ? bound_high(e.args[0]) : bound_low(e.args[0]),
                               e.constant);
  }
  return 0;
}

Int128 Ranges::bound_low(const BoundExpression& e) const {
  switch (e.op) {
    case BoundOp::kAffine:
      return low(widen(e.affine));
    case BoundOp::kMin:
    case BoundOp::kMax: {
      Int128 best = bound_low(e.args[0]);
      for (const BoundExpression& arg : e.args) {
        const Int128 value = bound_low(arg);
        best = e.op == BoundOp::kMin ? std::min(best, value) : std::max(best, value);
      }
      return best;
    }
    case BoundOp::kCeilDiv:
      return ceil_divide(bound_low(e.args[0]), e.constant);
    case BoundOp::kFloorDiv:
      return floor_divide(bound_low(e.args[0]), e.constant);
    case BoundOp::kAdd: {
      Int128 sum = 0;
      for (const BoundExpression& arg : e.args) sum = clamp(sum + bound_low(arg));
      return sum;
    }
    case BoundOp::kScale:
      return saturated_product(e.constant > 0 ? bound_low(e.args[0]) : bound_high(e.args[0]),
                               e.constant);
  }
  return 0;
}

Int128 Ranges::difference(const BoundExpression& upper, const BoundExpression& lower,
                          bool want_high) const {
  if (upper.op == BoundOp::kMin || upper.op == BoundOp::kMax) {
    Int128 best = difference(upper.args[0], lower, want_high);
    for (const BoundExpression& arg : upper.args) {
      const Int128 value = difference(arg, lower, want_high);
      best = upper.op == BoundOp::kMin ? std::min(best, value) : std::max(best, value);
    }
    return best;
  }
  if (lower.op == BoundOp::kMin || lower.op == BoundOp::kMax) {
    Int128 best = difference(upper, lower.args[0], want_high);
    for (const BoundExpression& arg : lower.args) {
      const Int128 value = difference(upper, arg, want_high);
      best = lower.op == BoundOp::kMax ? std::min(best, value) : std::max(best, value);
    }
    return best;
  }
  if (upper.op == BoundOp::kAffine && lower.op == BoundOp::kAffine) {
    const Wide e = plus(widen(upper.affine), widen(lower.affine), -1);
    return want_high ? high(e) : low(e);
  }
  return want_high ? bound_high(upper) - bound_low(lower) : bound_low(upper) - bound_high(lower);
}

std::optional<Interval> Ranges::of(const Affine& e) const {
  work_ = 0;
  const Wide wide = widen(e);
  return narrowed(low(wide), high(wide));
}

std::optional<Interval> Ranges::of(const BoundExpression& e) const {
  work_ = 0;
  return narrowed(bound_low(e), bound_high(e));
}

std::optional<Interval> Ranges::of_difference(const BoundExpression& upper,
                                              const BoundExpression& lower) const {
  work_ = 0;
  return narrowed(difference(upper, lower, false), difference(upper, lower, true));
}

}  // namespace flashlab::toy::detail
