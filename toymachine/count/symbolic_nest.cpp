#include "toymachine/count/symbolic_nest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/bind/evaluate.hpp"
#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {
namespace {

using Op = NestExpression::Op;

constexpr std::size_t kMostProductTerms = 400;

bool is_extreme(const NestExpression& expression) {
  return expression.op == Op::kMin || expression.op == Op::kMax;
}

NestExpression nest_sum(const NestExpression& a, const NestExpression& b) {
  if (is_leaf(a) && is_leaf(b)) return leaf(a.polynomial + b.polynomial);
  if (is_leaf(a)) return nest_sum(b, a);
  if (is_extreme(a) && is_leaf(b)) {
    NestExpression result = a;
    for (NestExpression& arg : result.args) arg = nest_sum(arg, b);
    return result;
  }
  return {Op::kAdd, {}, {a, b}};
}

NestExpression nest_product(const NestExpression& a, const Polynomial& factor) {
  if (is_leaf(a)) return leaf(a.polynomial * factor);
  const bool keeps_order = obviously_nonnegative(factor);
  if (!is_extreme(a) || !(keeps_order || obviously_nonnegative(-factor))) {
    return {Op::kScale, factor, {a}};
  }
  NestExpression result = a;
  if (!keeps_order) result.op = a.op == Op::kMin ? Op::kMax : Op::kMin;
  for (NestExpression& arg : result.args) arg = nest_product(arg, factor);
  return result;
}

bool multiplies_loops(const Polynomial& polynomial) {
  return std::any_of(polynomial.terms().begin(), polynomial.terms().end(), [](const auto& term) {
    unsigned loops = 0;
    for (const auto& [atom, exponent] : term.first) loops += is_loop_atom(atom) ? exponent : 0;
    return loops > 1;
  });
}

}  // namespace

void add_positive(const Polynomial& polynomial, std::vector<Condition>& conditions) {
  const bool is_product = polynomial.terms().size() == 1 && !polynomial.as_constant();
  if (!is_product) return conditions.push_back({polynomial - 1});
  for (const Atom& atom : polynomial.atoms()) conditions.push_back({Polynomial(atom) - 1});
}

SymbolicExpressions::SymbolicExpressions(const Program& program)
    : program_(program), follow_rank_(params_of_rank(program)) {}

std::optional<NestExpression> SymbolicExpressions::fail(const Expression& expression,
                                                        std::string why) {
  diagnostics_.push_back({Severity::kError,
                          Fault::kProgram,
                          expression.span,
                          "no formula: '" + to_string(expression) + "' " + std::move(why),
                          "sums, products, min, max, ceildiv and floordiv of parameters and loop "
                          "variables; for numbers, give -D",
                          {}});
  return std::nullopt;
}

std::optional<NestExpression> SymbolicExpressions::bound(const Expression& expression) {
  switch (expression.op) {
    case ExpressionOp::kInteger:
    case ExpressionOp::kReal:
      return whole_number(expression);
    case ExpressionOp::kParam:
      return parameter(expression);
    case ExpressionOp::kRegisters:
      return leaf(Polynomial::symbol(kRegistersSymbol));
    case ExpressionOp::kLoopVar:
      return leaf(loop_atom(expression.index));
    case ExpressionOp::kConst:
      if (!program_.consts[expression.index].value) break;
      return bound(*program_.consts[expression.index].value);
    case ExpressionOp::kAdd:
      return sum(expression, 1);
    case ExpressionOp::kSub:
      return sum(expression, -1);
    case ExpressionOp::kNegate: {
      const auto value = bound(*expression.args[0]);
      return value ? std::optional(nest_product(*value, -1)) : std::nullopt;
    }
    case ExpressionOp::kMul:
      return product(expression);
    case ExpressionOp::kDiv:
      return exact_quotient(expression);
    case ExpressionOp::kMin:
    case ExpressionOp::kMax:
      return extreme(expression);
    case ExpressionOp::kCeilDiv:
      return quotient(*expression.args[0], *expression.args[1], Op::kCeilDiv);
    case ExpressionOp::kFloorDiv:
      return quotient(*expression.args[0], *expression.args[1], Op::kFloorDiv);
    case ExpressionOp::kFloor:
      return rounded(*expression.args[0], Op::kFloorDiv);
    case ExpressionOp::kCeil:
      return rounded(*expression.args[0], Op::kCeilDiv);
    case ExpressionOp::kTiles:
    case ExpressionOp::kExtent:
      return extent(expression);
    default:
      break;
  }
  return fail(expression, "is not a polynomial");
}

/// A parameter that follows from the machine's number is its formula; all others are symbols.
std::optional<NestExpression> SymbolicExpressions::parameter(const Expression& expression) {
  const ParamDeclaration& param = program_.params[expression.index];
  if (!program_.machines) return leaf(Polynomial::symbol(param.name));
  if (expression.index == program_.machines->rank) {
    return leaf(loop_atom(machines_loop(program_)));
  }
  if (!follow_rank_[expression.index]) return leaf(Polynomial::symbol(param.name));
  const bool is_chain = mentions_param(*param.default_value, [&](std::size_t other) {
    return other != program_.machines->rank && follow_rank_[other] != 0;
  });
  if (is_chain) return fail(expression, "follows from the machine's number in several steps");
  return bound(*param.default_value);
}

std::optional<Polynomial> SymbolicExpressions::polynomial(const Expression& expression) {
  const auto value = bound(expression);
  if (!value) return std::nullopt;
  if (is_leaf(*value)) return value->polynomial;
  fail(expression, "is not a polynomial");
  return std::nullopt;
}

std::optional<Polynomial> SymbolicExpressions::try_polynomial(const Expression& expression) {
  const std::size_t messages = diagnostics_.size();
  auto value = polynomial(expression);
  diagnostics_.resize(messages);
  return value;
}

std::optional<NestExpression> SymbolicExpressions::whole_number(const Expression& expression) {
  if (expression.op == ExpressionOp::kInteger) return leaf(mpz_class(expression.integer));
  if (std::floor(expression.real) != expression.real || std::isinf(expression.real)) {
    return fail(expression, "is not a whole number");
  }
  return leaf(mpz_class(expression.real));
}

std::optional<NestExpression> SymbolicExpressions::sum(const Expression& expression, int sign) {
  const auto left = bound(*expression.args[0]);
  const auto right = left ? bound(*expression.args[1]) : std::nullopt;
  if (!right) return std::nullopt;
  return nest_sum(*left, sign < 0 ? nest_product(*right, -1) : *right);
}

std::optional<NestExpression> SymbolicExpressions::product(const Expression& expression) {
  auto left = bound(*expression.args[0]);
  auto right = left ? bound(*expression.args[1]) : std::nullopt;
  if (!right) return std::nullopt;
  if (!is_leaf(*right)) std::swap(left, right);
  if (!is_leaf(*right)) return fail(expression, "multiplies two quotients, minima or maxima");
  const std::size_t terms = left->polynomial.terms().size() * right->polynomial.terms().size();
  if (terms > kMostProductTerms) return fail(expression, "has too many terms");
  NestExpression result = nest_product(*left, right->polynomial);
  const bool squares_loops =
      is_leaf(result) ? multiplies_loops(result.polynomial) : has_loop_atom(right->polynomial);
  if (squares_loops) return fail(expression, "multiplies loop variables");
  return result;
}

std::optional<NestExpression> SymbolicExpressions::extreme(const Expression& expression) {
  NestExpression result;
  result.op = expression.op == ExpressionOp::kMin ? Op::kMin : Op::kMax;
  for (const ExpressionPtr& arg : expression.args) {
    auto value = bound(*arg);
    if (!value) return std::nullopt;
    result.args.push_back(std::move(*value));
  }
  return result;
}

std::optional<NestExpression> SymbolicExpressions::exact_quotient(const Expression& expression) {
  const auto numerator = polynomial(*expression.args[0]);
  const auto denominator = numerator ? polynomial(*expression.args[1]) : std::nullopt;
  if (!denominator) return std::nullopt;
  if (!denominator->is_zero()) {
    const auto [whole, remainder] = divide(*numerator, *denominator, /*whole=*/true);
    if (remainder.is_zero()) {
      add_positive(*denominator, conditions_);
      return leaf(whole);
    }
  }
  return fail(expression, "is not always a whole number; floordiv() and ceildiv() are");
}

std::optional<NestExpression> SymbolicExpressions::quotient(const Expression& numerator,
                                                            const Expression& denominator, Op op) {
  const auto above = bound(numerator);
  const auto below = above ? polynomial(denominator) : std::nullopt;
  if (!below) return std::nullopt;
  if (has_loop_atom(*below)) return fail(denominator, "is a divisor that depends on a loop");
  const auto number = below->as_constant();
  if (number && *number < 1) return fail(denominator, "is a divisor that is not positive");
  add_positive(*below, conditions_);
  if (is_leaf(*above) && !has_loop_atom(above->polynomial)) {
    return leaf(op == Op::kCeilDiv ? ceil_quotient(above->polynomial, *below)
                                   : floor_quotient(above->polynomial, *below));
  }
  return NestExpression{op, *below, {*above}};
}

std::optional<NestExpression> SymbolicExpressions::rounded(const Expression& expression, Op op) {
  if (expression.op != ExpressionOp::kDiv) return bound(expression);
  return quotient(*expression.args[0], *expression.args[1], op);
}

std::optional<NestExpression> SymbolicExpressions::extent(const Expression& expression) {
  const ArrayDeclaration& array = program_.arrays[expression.index];
  std::size_t axis = 0;
  if (!expression.args.empty()) {
    const auto number = try_polynomial(*expression.args[0]);
    const auto value = number ? number->as_constant() : std::nullopt;
    if (!value || *value < 0) return fail(expression, "has an axis that is not a number");
    axis = value->get_num().get_ui();
  }
  if (axis >= array.extents.size()) return fail(expression, "has no such axis");
  const Expression* tile = array.tile_along(axis);
  if (expression.op == ExpressionOp::kTiles && tile) {
    return quotient(*array.extents[axis], *tile, Op::kCeilDiv);
  }
  return bound(*array.extents[axis]);
}

}  // namespace flashlab::toy::detail
