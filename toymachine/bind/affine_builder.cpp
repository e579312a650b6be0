#include "toymachine/bind/affine_builder.hpp"

#include <algorithm>
#include <cstdlib>

#include "toymachine/bind/ranges.hpp"

namespace flashlab::toy::detail {
namespace {

using BoundOp = BoundExpression::Op;

bool varies(const Expression& e) {
  if (e.op == ExpressionOp::kLoopVar) return true;
  return std::any_of(e.args.begin(), e.args.end(), [](const auto& arg) { return varies(*arg); });
}

std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b, std::int64_t factor) {
  const Int128 value = Int128{a} + Int128{b} * factor;
  if (value > kLargestIndex || value < -kLargestIndex) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

BoundExpression affine_bound(Affine affine) {
  BoundExpression result;
  result.affine = std::move(affine);
  return result;
}

class AffineBuilder {
 public:
  AffineBuilder(const Values& values, std::vector<Diagnostic>& diagnostics)
      : values_(values), diagnostics_(diagnostics) {}

  std::optional<BoundExpression> visit(const Expression& e) {
    if (!varies(e)) {
      const auto value = evaluate_integer(e, values_, diagnostics_);
      if (!value) return std::nullopt;
      if (*value > kLargestIndex || *value < -kLargestIndex) return overflow(e);
      return affine_bound({*value, {}});
    }
    switch (e.op) {
      case ExpressionOp::kLoopVar:
        return affine_bound({0, {{static_cast<std::uint32_t>(e.index), 1}}});
      case ExpressionOp::kAdd:
        return combine(e, *e.args[0], *e.args[1], 1);
      case ExpressionOp::kSub:
        return combine(e, *e.args[0], *e.args[1], -1);
      case ExpressionOp::kNegate:
        return scaled(e, visit(*e.args[0]), -1);
      case ExpressionOp::kMul:
        return product(e);
      case ExpressionOp::kMin:
      case ExpressionOp::kMax:
        return extreme(e);
      default:
        return division(e);
    }
  }

 private:
  std::optional<BoundExpression> overflow(const Expression& e) {
    diagnostics_.push_back({Severity::kError,
                            Fault::kProgram,
                            e.span,
                            "index arithmetic overflows 61 bits in '" + to_string(e) + "'",
                            "values below 2^61",
                            {}});
    return std::nullopt;
  }

  std::optional<BoundExpression> combine(const Expression& e, const Expression& left,
                                         const Expression& right, std::int64_t sign) {
    auto a = visit(left);
    auto b = a ? visit(right) : std::nullopt;
    if (!b) return std::nullopt;
    if (a->op == BoundOp::kAffine && b->op == BoundOp::kAffine) {
      auto total = add(a->affine, b->affine, sign);
      if (!total) return overflow(e);
      return affine_bound(std::move(*total));
    }
    if (sign < 0) b = scaled(e, std::move(b), -1);
    if (!b) return std::nullopt;
    // min(a, b) + c becomes min(a + c, b + c), the form for which ranges are tight.
    for (auto [piecewise, other] : {std::pair{&*a, &*b}, std::pair{&*b, &*a}}) {
      const bool extreme = piecewise->op == BoundOp::kMin || piecewise->op == BoundOp::kMax;
      if (!extreme || other->op != BoundOp::kAffine) continue;
      return distribute(e, *piecewise, other->affine);
    }
    BoundExpression result;
    result.op = BoundOp::kAdd;
    result.args = {std::move(*a), std::move(*b)};
    return result;
  }

  std::optional<BoundExpression> distribute(const Expression& e, BoundExpression piecewise,
                                            const Affine& addend) {
    for (BoundExpression& arg : piecewise.args) {
      if (arg.op == BoundOp::kAffine) {
        auto total = add(arg.affine, addend, 1);
        if (!total) return overflow(e);
        arg.affine = std::move(*total);
      } else {
        BoundExpression both;
        both.op = BoundOp::kAdd;
        both.args = {std::move(arg), affine_bound(addend)};
        arg = std::move(both);
      }
    }
    return piecewise;
  }

  std::optional<BoundExpression> scaled(const Expression& e, std::optional<BoundExpression> value,
                                        std::int64_t factor) {
    if (!value) return std::nullopt;
    if (value->op == BoundOp::kAffine) {
      auto total = add(Affine{}, value->affine, factor);
      if (!total) return overflow(e);
      return affine_bound(std::move(*total));
    }
    if (value->op == BoundOp::kMin || value->op == BoundOp::kMax) {
      for (BoundExpression& arg : value->args) {
        auto inner = scaled(e, std::move(arg), factor);
        if (!inner) return std::nullopt;
        arg = std::move(*inner);
      }
      if (factor < 0) value->op = value->op == BoundOp::kMin ? BoundOp::kMax : BoundOp::kMin;
      return value;
    }
    BoundExpression result;
    result.op = BoundOp::kScale;
    result.constant = factor;
    result.args = {std::move(*value)};
    return result;
  }

  std::optional<BoundExpression> product(const Expression& e) {
    const bool first_varies = varies(*e.args[0]);
    const Expression& constant = *e.args[first_varies ? 1 : 0];
    const auto factor = evaluate_integer(constant, values_, diagnostics_);
    if (!factor) return std::nullopt;
    if (*factor > kLargestIndex || *factor < -kLargestIndex) return overflow(e);
    return scaled(e, visit(*e.args[first_varies ? 0 : 1]), *factor);
  }

  std::optional<BoundExpression> extreme(const Expression& e) {
    BoundExpression result;
    result.op = e.op == ExpressionOp::kMin ? BoundOp::kMin : BoundOp::kMax;
    for (const ExpressionPtr& arg : e.args) {
      auto value = visit(*arg);
      if (!value) return std::nullopt;
      result.args.push_back(std::move(*value));
    }
    return result;
  }

  std::optional<BoundExpression> division(const Expression& e) {
    const auto divisor = evaluate_integer(*e.args[1], values_, diagnostics_);
    auto value = divisor ? visit(*e.args[0]) : std::nullopt;
    if (!value) return std::nullopt;
    if (*divisor <= 0) {
      diagnostics_.push_back({Severity::kError,
                              Fault::kProgram,
                              e.span,
                              "division by " + std::to_string(*divisor),
                              "a positive divisor",
                              {}});
      return std::nullopt;
    }
    if (*divisor == 1) return value;
    BoundExpression result;
    result.op = e.op == ExpressionOp::kCeilDiv ? BoundOp::kCeilDiv : BoundOp::kFloorDiv;
    result.constant = *divisor;
    result.args = {std::move(*value)};
    return result;
  }

  const Values& values_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace

std::optional<Affine> add(const Affine& a, const Affine& b, std::int64_t factor) {
  Affine result;
  const auto constant = sum(a.constant, b.constant, factor);
  if (!constant) return std::nullopt;
  result.constant = *constant;
  result.terms = a.terms;
  for (const auto& [loop, coefficient] : b.terms) {
    const auto at =
        std::lower_bound(result.terms.begin(), result.terms.end(), loop,
                         [](const auto& term, std::uint32_t l) { return term.first < l; });
    const bool present = at != result.terms.end() && at->first == loop;
    const auto total = sum(present ? at->second : 0, coefficient, factor);
    if (!total) return std::nullopt;
    if (present) {
      at->second = *total;
    } else {
      result.terms.insert(at, {loop, *total});
    }
  }
  std::erase_if(result.terms, [](const auto& term) { return term.second == 0; });
  return result;
}

std::optional<BoundExpression> to_bound(const Expression& expression, const Values& values,
                                        std::vector<Diagnostic>& diagnostics) {
  return AffineBuilder(values, diagnostics).visit(expression);
}

std::optional<Affine> to_affine(const Expression& expression, const Values& values,
                                std::vector<Diagnostic>& diagnostics) {
  auto bound = AffineBuilder(values, diagnostics).visit(expression);
  if (!bound) return std::nullopt;
  return std::move(bound->affine);
}

}  // namespace flashlab::toy::detail
