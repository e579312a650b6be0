#include "toymachine/bind/evaluate.hpp"

#include <cmath>
#include <limits>

#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {
namespace {

class Evaluator {
 public:
  Evaluator(const Values& values, std::vector<Diagnostic>& diagnostics)
      : values_(values), diagnostics_(diagnostics) {}

  std::optional<Number> visit(const Expression& e) {
    std::vector<Number> args;
    const bool array_function = e.op == ExpressionOp::kTiles || e.op == ExpressionOp::kExtent;
    for (const ExpressionPtr& arg : e.args) {
      auto value = visit(*arg);
      if (!value) return std::nullopt;
      args.push_back(*value);
    }
    if (array_function) return extent(e, args);
    return args.empty() ? leaf(e) : combine(e, args);
  }

 private:
  std::optional<Number> fail(const Expression& e, std::string what, std::string expected) {
    diagnostics_.push_back(
        {Severity::kError, Fault::kProgram, e.span, std::move(what), std::move(expected), {}});
    return std::nullopt;
  }

  template <class Value>
  std::optional<Number> known(const Expression& e, const std::optional<Value>& value) {
    if (value) return Number(*value);
    return fail(e, "'" + e.name + "' has no value here", "a value known before this line");
  }

  std::optional<Number> leaf(const Expression& e) {
    switch (e.op) {
      case ExpressionOp::kInteger:
        return Number(e.integer);
      case ExpressionOp::kReal:
        return Number(e.real);
      case ExpressionOp::kInfinity:
        return Number(std::numeric_limits<double>::infinity());
      case ExpressionOp::kParam:
        return known(e, values_.params[e.index]);
      case ExpressionOp::kConst:
        return known(e, values_.consts[e.index]);
      case ExpressionOp::kRegisters:
        if (values_.registers) return Number(*values_.registers);
        return fail(e, "the number of registers is not known here",
                    "a .registers line that does not depend on this parameter, or --registers");
      default:
        return fail(e, "'" + e.name + "' has no value before the run", "parameters and numbers");
    }
  }

  std::optional<Number> extent(const Expression& e, const std::vector<Number>& args) {
    const auto& extents =
        (e.op == ExpressionOp::kTiles ? values_.counts : values_.extents)[e.index];
    const auto* axis = args.empty() ? nullptr : std::get_if<std::int64_t>(&args[0]);
    const std::int64_t at = axis ? *axis : 0;
    if (extents.empty()) return fail(e, "the size of " + e.name + " is not known here", "a number");
    if ((!args.empty() && !axis) || at < 0 || at >= static_cast<std::int64_t>(extents.size())) {
      return fail(e, e.name + " has no such axis",
                  "an axis from 0 to " + std::to_string(extents.size() - 1));
    }
    return Number(extents[static_cast<std::size_t>(at)]);
  }

  std::optional<Number> combine(const Expression& e, const std::vector<Number>& args) {
    bool integral = true;
    for (const Number& arg : args) integral &= std::holds_alternative<std::int64_t>(arg);
    switch (e.op) {
      case ExpressionOp::kMin:
      case ExpressionOp::kMax:
        return extreme(e, args);
      case ExpressionOp::kFloor:
      case ExpressionOp::kCeil:
        if (integral) return args[0];
        return whole(e, e.op == ExpressionOp::kFloor ? std::floor(as_double(args[0]))
                                                     : std::ceil(as_double(args[0])));
      case ExpressionOp::kSqrt:
        return root(e, args[0]);
      case ExpressionOp::kExp:
        return Number(std::exp(as_double(args[0])));
      case ExpressionOp::kLog:
        if (as_double(args[0]) <= 0)
          return fail(e, "log of a number that is not positive", "more than 0");
        return Number(std::log(as_double(args[0])));
      default:
        return integral ? integers(e, args) : reals(e, args);
    }
  }

  /// Compares integers as integers, because doubles cannot distinguish large ones.
  static bool less(const Number& a, const Number& b) {
    const auto* x = std::get_if<std::int64_t>(&a);
    const auto* y = std::get_if<std::int64_t>(&b);
    return x && y ? *x < *y : as_double(a) < as_double(b);
  }

  static Number extreme(const Expression& e, const std::vector<Number>& args) {
    Number best = args[0];
    for (const Number& arg : args) {
      if (e.op == ExpressionOp::kMin ? less(arg, best) : less(best, arg)) best = arg;
    }
    return best;
  }

  std::optional<Number> whole(const Expression& e, double value) {
    if (std::fabs(value) < kExactIntegers) return Number(static_cast<std::int64_t>(value));
    return fail(e, "this value is too large for an integer", "an integer below 2^53");
  }

  std::optional<Number> root(const Expression& e, const Number& arg) {
    const double value = as_double(arg);
    if (value < 0) return fail(e, "square root of a negative number", "0 or more");
    const double result = std::sqrt(value);
    const bool exact = std::holds_alternative<std::int64_t>(arg) && result < 1e7 &&
                       std::floor(result) == result && result * result == value;
    return exact ? Number(static_cast<std::int64_t>(result)) : Number(result);
  }

  std::optional<Number> integers(const Expression& e, const std::vector<Number>& args) {
    const std::int64_t a = std::get<std::int64_t>(args[0]);
    const std::int64_t b = args.size() > 1 ? std::get<std::int64_t>(args[1]) : 0;
    std::int64_t result = 0;
    bool overflow = false;
    switch (e.op) {
      case ExpressionOp::kNegate:
        overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result);
        break;
      case ExpressionOp::kAdd:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case ExpressionOp::kSub:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case ExpressionOp::kMul:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      case ExpressionOp::kDiv:
        if (b == 0) return fail(e, "division by zero", "a divisor other than 0");
        if (b == -1) return combine_negated(e, a);
        if (a % b != 0) return Number(static_cast<double>(a) / static_cast<double>(b));
        result = a / b;
        break;
      case ExpressionOp::kCeilDiv:
      case ExpressionOp::kFloorDiv:
        if (b <= 0) return fail(e, "division by " + std::to_string(b), "a positive divisor");
        result = e.op == ExpressionOp::kCeilDiv ? ceil_div(a, b) : floor_div(a, b);
        break;
      default:
        return fail(e, "this expression has no value before the run", "parameters and numbers");
    }
    if (overflow) return fail(e, "this value overflows 64 bits", "an integer below 2^63");
    return Number(result);
  }

  std::optional<Number> combine_negated(const Expression& e, std::int64_t a) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &result)) {
      return fail(e, "this value overflows 64 bits", "an integer below 2^63");
    }
    return Number(result);
  }

  std::optional<Number> reals(const Expression& e, const std::vector<Number>& args) {
    const double a = as_double(args[0]);
    const double b = args.size() > 1 ? as_double(args[1]) : 0;
    switch (e.op) {
      case ExpressionOp::kNegate:
        return Number(-a);
      case ExpressionOp::kAdd:
        return Number(a + b);
      case ExpressionOp::kSub:
        return Number(a - b);
      case ExpressionOp::kMul:
        return Number(a * b);
      case ExpressionOp::kDiv:
        if (b == 0) return fail(e, "division by zero", "a divisor other than 0");
        return Number(a / b);
      default:
        return fail(e, "this operation takes whole numbers", "integers");
    }
  }

  const Values& values_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

std::optional<Number> evaluate(const Expression& expression, const Values& values,
                               std::vector<Diagnostic>& diagnostics) {
  return Evaluator(values, diagnostics).visit(expression);
}

std::optional<std::int64_t> evaluate_integer(const Expression& expression, const Values& values,
                                             std::vector<Diagnostic>& diagnostics) {
  const auto number = evaluate(expression, values, diagnostics);
  if (!number) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&*number)) return *integer;
  const double value = std::get<double>(*number);
  if (std::floor(value) == value && std::fabs(value) < kExactIntegers) {
    return static_cast<std::int64_t>(value);
  }
  diagnostics.push_back({Severity::kError,
                         Fault::kProgram,
                         expression.span,
                         "'" + to_string(expression) + "' is " + std::to_string(value),
                         "a whole number; floor(), ceil() or ceildiv() make one",
                         {}});
  return std::nullopt;
}

}  // namespace flashlab::toy::detail
