#include "toymachine/count/iteration_space.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/count/inequalities.hpp"

namespace flashlab::toy::detail {
namespace {

using Op = NestExpression::Op;

/// All ways to satisfy a condition; they exclude one another.
using Cases = std::vector<LatticeSum>;

/// More cases would fill the memory before they could be summed.
constexpr std::size_t kMaxCases = 1024;

Cases always() { return {LatticeSum{}}; }

class SpaceBuilder {
 public:
  explicit SpaceBuilder(std::size_t num_loops) : next_variable_(num_loops) {}

  bool too_many_cases() const { return too_many_cases_; }

  Cases both(const Cases& a, const Cases& b) {
    Cases result;
    if (!fits(a.size() * b.size())) return result;
    for (const LatticeSum& left : a) {
      for (const LatticeSum& right : b) {
        LatticeSum& sum = result.emplace_back(left);
        sum.variables.insert(sum.variables.end(), right.variables.begin(), right.variables.end());
        sum.constraints.insert(sum.constraints.end(), right.constraints.begin(),
                               right.constraints.end());
      }
    }
    return result;
  }

  Atom fresh() { return loop_atom(next_variable_++); }

  Cases at_least(const Polynomial& value, const NestExpression& bound) {
    return compare(value, bound, /*least=*/true);
  }
  Cases at_most(const Polynomial& value, const NestExpression& bound) {
    return compare(value, bound, /*least=*/false);
  }

  /// Adds a variable that equals the expression.
  std::pair<Polynomial, Cases> named(const NestExpression& expression) {
    if (expression.op == Op::kPolynomial) return {expression.polynomial, always()};
    const Atom atom = fresh();
    Cases cases = both(at_least(atom, expression), at_most(atom, expression));
    for (LatticeSum& sum : cases) sum.variables.push_back(atom);
    return {atom, cases};
  }

 private:
  bool fits(std::size_t num_cases) {
    too_many_cases_ = too_many_cases_ || num_cases > kMaxCases;
    return !too_many_cases_;
  }

  Cases compare(const Polynomial& value, const NestExpression& bound, bool least) {
    switch (bound.op) {
      case Op::kPolynomial: {
        LatticeSum sum;
        sum.constraints = {least ? value - bound.polynomial : bound.polynomial - value};
        return {sum};
      }
      case Op::kMin:
      case Op::kMax:
        return (bound.op == Op::kMax) == least ? with_all(value, bound, least)
                                               : with_any(value, bound, least);
      case Op::kAdd:
        return with_sum(value, bound, least);
      case Op::kScale:
        return with_multiple(value, bound, least);
      case Op::kFloorDiv:
      case Op::kCeilDiv:
        return with_quotient(value, bound, least);
    }
    return {};
  }

  Cases with_all(const Polynomial& value, const NestExpression& bound, bool least) {
    Cases cases = always();
    for (const NestExpression& arg : bound.args) cases = both(cases, compare(value, arg, least));
    return cases;
  }

  /// value >= min(a, b) holds where value >= a, and where value < a but value >= b.
  Cases with_any(const Polynomial& value, const NestExpression& bound, bool least) {
    Cases cases;
    Cases earlier_fail = always();
    for (const NestExpression& arg : bound.args) {
      const Cases more = both(earlier_fail, compare(value, arg, least));
      if (!fits(cases.size() + more.size())) return {};
      cases.insert(cases.end(), more.begin(), more.end());
      earlier_fail = both(earlier_fail, least ? at_most(value + 1, arg) : at_least(value - 1, arg));
    }
    return cases;
  }

  Cases with_sum(const Polynomial& value, const NestExpression& bound, bool least) {
    Cases cases = always();
    Polynomial rest = value;
    for (std::size_t i = 0; i + 1 < bound.args.size(); ++i) {
      const auto [term, conditions] = named(bound.args[i]);
      rest -= term;
      cases = both(cases, conditions);
    }
    return both(cases, compare(rest, bound.args.back(), least));
  }

  Cases with_multiple(const Polynomial& value, const NestExpression& bound, bool least) {
    const auto [factor, cases] = named(bound.args[0]);
    const Polynomial product = bound.polynomial * factor;
    return both(cases, compare(value, {Op::kPolynomial, product, {}}, least));
  }

  /// value >= ceil(e/d) means d value >= e; the other three cases are similar.
  Cases with_quotient(const Polynomial& value, const NestExpression& bound, bool least) {
    const Polynomial& divisor = bound.polynomial;
    const bool is_ceil = bound.op == Op::kCeilDiv;
    Polynomial multiple = divisor * value;
    if (least && !is_ceil) multiple += divisor - 1;
    if (!least && is_ceil) multiple -= divisor - 1;
    return compare(multiple, bound.args[0], least);
  }

  std::size_t next_variable_;
  bool too_many_cases_ = false;
};

}  // namespace

std::optional<std::vector<LatticeSum>> iteration_space(const std::vector<NestLoop>& loops) {
  SpaceBuilder builder(loops.size());
  Cases cases = always();
  std::vector<std::pair<Atom, Polynomial>> strided;  // i = lower + step * (iteration number)
  for (const NestLoop& loop : loops) {
    const Atom variable = loop_atom(loop.number);
    Atom counter = variable;
    Cases range;
    if (loop.step == Polynomial(1)) {
      range = builder.at_least(variable, loop.lower);
    } else {
      counter = builder.fresh();
      auto [lower, conditions] = builder.named(loop.lower);
      strided.emplace_back(variable, lower + loop.step * counter);
      range = std::move(conditions);
      for (LatticeSum& sum : range) sum.constraints.emplace_back(counter);
    }
    range = builder.both(range, builder.at_most(Polynomial(variable) + 1, loop.upper));
    for (LatticeSum& sum : range) sum.variables.push_back(counter);
    cases = builder.both(cases, range);
    if (builder.too_many_cases()) return std::nullopt;
  }
  std::reverse(strided.begin(), strided.end());  // inner variables contain outer ones
  for (LatticeSum& sum : cases) {
    for (Polynomial& constraint : sum.constraints) {
      for (const auto& [variable, value] : strided) {
        constraint = substitute(constraint, variable, value);
      }
    }
  }
  return cases;
}

}  // namespace flashlab::toy::detail
