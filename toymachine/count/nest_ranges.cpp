#include "toymachine/count/nest_ranges.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/count/strip_mining.hpp"

namespace flashlab::toy::detail {
namespace {

using Op = NestExpression::Op;

NestExpression shifted(const NestExpression& a, const Polynomial& b) {
  if (is_leaf(a)) return leaf(a.polynomial + b);
  if (a.op != Op::kMin && a.op != Op::kMax) return {Op::kAdd, {}, {a, leaf(b)}};
  NestExpression result = a;
  for (NestExpression& arg : result.args) arg = shifted(arg, b);
  return result;
}

/// Evaluates an expression whose arguments are all numbers.
NestExpression folded(NestExpression expression) {
  std::vector<mpq_class> numbers;
  for (const NestExpression& arg : expression.args) {
    const auto number = is_leaf(arg) ? arg.polynomial.as_constant() : std::nullopt;
    if (!number) return expression;
    numbers.push_back(*number);
  }
  const Polynomial first = numbers.empty() ? Polynomial() : Polynomial(numbers[0]);
  switch (expression.op) {
    case Op::kMin:
      return leaf(*std::min_element(numbers.begin(), numbers.end()));
    case Op::kMax:
      return leaf(*std::max_element(numbers.begin(), numbers.end()));
    case Op::kCeilDiv:
      return leaf(ceil_quotient(first, expression.polynomial));
    case Op::kFloorDiv:
      return leaf(floor_quotient(first, expression.polynomial));
    default:
      return expression;
  }
}

}  // namespace

NestExpression leaf(Polynomial polynomial) { return {Op::kPolynomial, std::move(polynomial), {}}; }

bool add_below(const Polynomial& value, const NestExpression& bound, std::vector<Polynomial>& all) {
  const Polynomial& divisor = bound.polynomial;
  switch (bound.op) {
    case Op::kPolynomial:
      all.push_back(bound.polynomial - value - 1);
      return true;
    case Op::kMin: {
      bool exact = true;
      for (const NestExpression& arg : bound.args) exact &= add_below(value, arg, all);
      return exact;
    }
    case Op::kCeilDiv:  // value < ceil(e/d) means d value < e
      return add_below(divisor * value, bound.args[0], all);
    case Op::kFloorDiv:  // value < floor(e/d) means d (value + 1) <= e
      return add_below(divisor * value + divisor - 1, bound.args[0], all);
    default:
      return false;
  }
}

bool add_at_least(const Polynomial& value, const NestExpression& bound,
                  std::vector<Polynomial>& all) {
  const Polynomial& divisor = bound.polynomial;
  switch (bound.op) {
    case Op::kPolynomial:
      all.push_back(value - bound.polynomial);
      return true;
    case Op::kMax: {
      bool exact = true;
      for (const NestExpression& arg : bound.args) exact &= add_at_least(value, arg, all);
      return exact;
    }
    case Op::kCeilDiv:
      return add_at_least(divisor * value, bound.args[0], all);
    case Op::kFloorDiv:
      return add_at_least(divisor * value + divisor - 1, bound.args[0], all);
    default:
      return false;
  }
}

bool add_less(const NestExpression& low, const Polynomial& shift, const NestExpression& high,
              std::vector<Polynomial>& all) {
  bool exact = true;
  if (is_leaf(low)) return add_below(low.polynomial + shift, high, all);
  if (low.op == Op::kMax) {
    for (const NestExpression& arg : low.args) exact &= add_less(arg, shift, high, all);
    return exact;
  }
  if (high.op == Op::kMin) {
    for (const NestExpression& arg : high.args) exact &= add_less(low, shift, arg, all);
    return exact;
  }
  if (!is_leaf(high)) return false;
  const Polynomial& divisor = low.polynomial;
  const Polynomial room = high.polynomial - shift;
  if (low.op == Op::kFloorDiv) return add_less(low.args[0], 0, leaf(divisor * room), all);
  if (low.op == Op::kCeilDiv) {
    return add_less(low.args[0], -1, leaf(divisor * (room - 1)), all);
  }
  return false;
}

void add_range(const NestLoop& loop, std::vector<Polynomial>& facts) {
  const Polynomial variable = loop_atom(loop.number);
  add_at_least(variable, loop.lower, facts);
  add_below(variable, loop.upper, facts);
}

NestExpression substitute(NestExpression expression, const Atom& atom, const Polynomial& value) {
  expression.polynomial = toy::substitute(expression.polynomial, atom, value);
  for (NestExpression& arg : expression.args) arg = substitute(std::move(arg), atom, value);
  return folded(std::move(expression));
}

void substitute_in(NestLoop& loop, const Atom& atom, const Polynomial& value) {
  if (!mentions(loop, atom)) return;
  loop.lower = substitute(std::move(loop.lower), atom, value);
  loop.upper = substitute(std::move(loop.upper), atom, value);
}

bool mentions(const NestLoop& loop, const Atom& atom) {
  return mentions(loop.lower, atom) || mentions(loop.upper, atom);
}

Polynomial value_in_iteration(const NestLoop& loop, std::size_t number) {
  return loop.lower.polynomial + loop.step * Polynomial(static_cast<long>(number));
}

NestLoop without_first(NestLoop loop, std::size_t number) {
  if (number > 0)
    loop.lower = shifted(loop.lower, loop.step * Polynomial(static_cast<long>(number)));
  return loop;
}

NestLoop only_first(NestLoop loop) {
  NestExpression end = shifted(loop.lower, 1);
  if (loop.upper.op == Op::kMin) {
    loop.upper.args.push_back(std::move(end));
  } else {
    loop.upper = {Op::kMin, {}, {std::move(loop.upper), std::move(end)}};
  }
  return loop;
}

}  // namespace flashlab::toy::detail
