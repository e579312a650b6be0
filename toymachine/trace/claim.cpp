#include "toymachine/trace/claim.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "toymachine/bind/evaluate.hpp"

namespace flashlab::toy {
namespace {

constexpr double kRoundingFactor = 8;
constexpr double kLargestLabelIndex = 9007199254740992.0;  // 2^53
constexpr std::size_t kMostLabels = 1 << 20;

std::string without_primes(std::string label) {
  while (!label.empty() && label.back() == '\'') label.pop_back();
  return label;
}

void collect_labels(const Expression& e, std::set<std::string, std::less<>>& names) {
  if (e.op == ExpressionOp::kLabel) names.insert(without_primes(e.name));
  for (const ExpressionPtr& arg : e.args) collect_labels(*arg, names);
}

Estimate estimated_sum(const Estimate& a, const Estimate& b, double sign) {
  const double value = a.value + sign * b.value;
  return {value, a.error + b.error + std::abs(value), a.operations + b.operations + 1};
}

Estimate estimated_product(const Estimate& a, const Estimate& b) {
  const double value = a.value * b.value;
  return {value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + std::abs(value),
          a.operations + b.operations + 1};
}

Estimate estimated_quotient(const Estimate& a, const Estimate& b) {
  const double value = a.value / b.value;
  const double error = a.error / std::abs(b.value) + std::abs(value) * b.error / std::abs(b.value);
  return {value, error + std::abs(value), a.operations + b.operations + 1};
}

Estimate estimated_extreme(const Estimate& a, const Estimate& b, double sign) {
  const bool first = sign * a.value >= sign * b.value;
  return {first ? a.value : b.value, std::max(a.error, b.error), a.operations + b.operations};
}

Estimate estimated_function(ExpressionOp op, const Estimate& a) {
  switch (op) {
    case ExpressionOp::kExp: {
      const double value = std::exp(a.value);
      return {value, value * (a.error + 2), a.operations + 1};
    }
    case ExpressionOp::kLog: {
      const double value = std::log(a.value);
      return {value, a.error / std::abs(a.value) + 2 * std::abs(value), a.operations + 1};
    }
    case ExpressionOp::kSqrt: {
      const double value = std::sqrt(a.value);
      const double error = value > 0 ? a.error / (2 * value) : 0;
      return {value, error + value, a.operations + 1};
    }
    case ExpressionOp::kFloor:
      return {std::floor(a.value), 0, 0};
    case ExpressionOp::kCeil:
      return {std::ceil(a.value), 0, 0};
    default:
      return {-a.value, a.error, a.operations};
  }
}

}  // namespace

bool Estimate::allows(double result, double epsilon, double smallest) const {
  if (result == value) return true;
  if (!std::isfinite(value)) return false;
  const double tolerance = kRoundingFactor * (error + std::abs(value)) * epsilon +
                           (kRoundingFactor + operations) * smallest;
  return std::abs(result - value) <= tolerance;
}

std::string label_key(const std::string& label, const std::vector<std::int64_t>& subscripts) {
  std::string key = label;
  for (const std::int64_t subscript : subscripts) key += "[" + std::to_string(subscript) + "]";
  return key;
}

bool has_claims(const BoundProgram& program) {
  return std::any_of(program.labels.begin(), program.labels.end(),
                     [](const BoundLabel& label) { return label.name->claim != nullptr; });
}

/// Evaluates one claim's expression from the leaves up. An undefined value is nothing.
class ClaimChecker::Evaluation {
 public:
  explicit Evaluation(ClaimChecker& checker) : checker_(checker) {}

  std::optional<Estimate> visit(const Expression& e) {
    if (checker_.work_left_ == 0) return std::nullopt;
    --checker_.work_left_;
    auto estimate = value_of(e);
    if (!estimate || std::isnan(estimate->value)) return std::nullopt;
    if (!std::isfinite(estimate->value)) estimate->error = 0;
    return estimate;
  }

 private:
  std::optional<Estimate> value_of(const Expression& e) {
    switch (e.op) {
      case ExpressionOp::kInteger:
        return Estimate{static_cast<double>(e.integer), 0, 0};
      case ExpressionOp::kReal:
        return Estimate{e.real, std::abs(e.real), 0};
      case ExpressionOp::kParam:
        return Estimate{static_cast<double>(checker_.program_.params[e.index]), 0, 0};
      case ExpressionOp::kConst: {
        const double value = detail::as_double(checker_.program_.consts[e.index]);
        return Estimate{value, std::abs(value), 0};
      }
      case ExpressionOp::kLoopVar:
        return Estimate{static_cast<double>(checker_.variables_[e.index]), 0, 0};
      case ExpressionOp::kRegisters:
        return Estimate{static_cast<double>(checker_.program_.num_registers), 0, 0};
      case ExpressionOp::kInfinity:
        return Estimate{HUGE_VAL, 0, 0};
      case ExpressionOp::kCell:
        return cell(e);
      case ExpressionOp::kLabel:
        return label(e);
      case ExpressionOp::kSum:
      case ExpressionOp::kMaxOver:
        return range(e);
      case ExpressionOp::kExtent:
        return extent(e);
      case ExpressionOp::kTiles:
        return std::nullopt;
      default:
        return combined(e);
    }
  }

  std::optional<Estimate> combined(const Expression& e) {
    std::optional<Estimate> result = visit(*e.args[0]);
    if (e.args.size() == 1 && result) return estimated_function(e.op, *result);
    for (std::size_t i = 1; i < e.args.size() && result; ++i) {
      const auto next = visit(*e.args[i]);
      if (!next) return std::nullopt;
      result = pair(e.op, *result, *next);
    }
    return result;
  }

  static Estimate pair(ExpressionOp op, const Estimate& a, const Estimate& b) {
    switch (op) {
      case ExpressionOp::kAdd:
        return estimated_sum(a, b, 1);
      case ExpressionOp::kSub:
        return estimated_sum(a, b, -1);
      case ExpressionOp::kMul:
        return estimated_product(a, b);
      case ExpressionOp::kDiv:
        return estimated_quotient(a, b);
      case ExpressionOp::kMin:
        return estimated_extreme(a, b, -1);
      case ExpressionOp::kMax:
        return estimated_extreme(a, b, 1);
      case ExpressionOp::kCeilDiv:
        return {std::ceil(a.value / b.value), 0, 0};
      default:
        return {std::floor(a.value / b.value), 0, 0};
    }
  }

  std::optional<std::int64_t> integer(const Expression& e) {
    const auto value = visit(e);
    if (!value || std::abs(value->value) > kLargestLabelIndex) return std::nullopt;
    if (value->value != std::floor(value->value)) return std::nullopt;
    return static_cast<std::int64_t>(value->value);
  }

  std::optional<Estimate> cell(const Expression& e) {
    const BoundArray& array = checker_.program_.arrays[e.index];
    if (array.role != ArrayRole::kInput || e.args.size() != array.extents.size()) {
      return std::nullopt;
    }
    std::int64_t element = 0;
    for (std::size_t axis = 0; axis < e.args.size(); ++axis) {
      const auto index = integer(*e.args[axis]);
      if (!index || *index < 0 || *index >= array.extents[axis]) return std::nullopt;
      element = element * array.extents[axis] + *index;
    }
    const double value = checker_.input_(static_cast<std::size_t>(array.offset + element));
    return Estimate{value, 0, 0};
  }

  std::optional<Estimate> label(const Expression& e) {
    std::vector<std::int64_t> subscripts;
    for (const ExpressionPtr& arg : e.args) {
      const auto index = integer(*arg);
      if (!index) return std::nullopt;
      subscripts.push_back(*index);
    }
    const auto found = checker_.labels_.find(label_key(e.name, subscripts));
    if (found == checker_.labels_.end()) return std::nullopt;
    return found->second;
  }

  std::optional<Estimate> extent(const Expression& e) {
    const BoundArray& array = checker_.program_.arrays[e.index];
    const auto axis = e.args.empty() ? std::optional<std::int64_t>(0) : integer(*e.args[0]);
    if (!axis || *axis < 0 || *axis >= static_cast<std::int64_t>(array.extents.size())) {
      return std::nullopt;
    }
    return Estimate{static_cast<double>(array.extents[static_cast<std::size_t>(*axis)]), 0, 0};
  }

  /// Returns the sum or maximum over a range: 0 or -inf if it is empty.
  std::optional<Estimate> range(const Expression& e) {
    const bool is_sum = e.op == ExpressionOp::kSum;
    const auto lower = integer(*e.args[0]);
    const auto upper = integer(*e.args[1]);
    if (!lower || !upper) return std::nullopt;
    Estimate result{is_sum ? 0 : -HUGE_VAL, 0, 0};
    for (std::int64_t i = *lower; i < *upper; ++i) {
      checker_.variables_[e.index] = i;
      const auto term = visit(*e.args[2]);
      if (!term) return std::nullopt;
      result = is_sum ? estimated_sum(result, *term, 1) : estimated_extreme(result, *term, 1);
    }
    return result;
  }

  ClaimChecker& checker_;
};

ClaimChecker::ClaimChecker(const BoundProgram& program, Input input, std::uint64_t max_work)
    : program_(program), input_(std::move(input)), work_left_(max_work) {
  variables_.assign(program.program->loop_vars.size(), 0);
  for (const BoundLabel& label : program.labels) {
    if (label.name->claim) collect_labels(*label.name->claim, referenced_);
  }
}

std::optional<Estimate> ClaimChecker::evaluate(const Expression& claim,
                                               const std::int64_t* loop_values,
                                               std::uint32_t innermost_loop) {
  if (program_.tiled) return std::nullopt;  // claims are about single elements
  for (std::uint32_t i = innermost_loop; i != kNoLoop; i = program_.loops[i].parent) {
    variables_[i] = loop_values[i];
  }
  return Evaluation(*this).visit(claim);
}

void ClaimChecker::define(const std::string& label, const std::vector<std::int64_t>& subscripts,
                          const std::optional<Estimate>& estimate) {
  if (referenced_.find(without_primes(label)) == referenced_.end()) return;
  const std::string key = label_key(label, subscripts);
  if (estimate && labels_.size() < kMostLabels) {
    labels_[key] = *estimate;
  } else {
    labels_.erase(key);
  }
}

void ClaimChecker::rename(const std::string& from, const std::string& to,
                          const std::vector<std::int64_t>& subscripts) {
  const auto found = labels_.find(label_key(from, subscripts));
  const auto estimate = found == labels_.end() ? std::optional<Estimate>() : found->second;
  define(from, subscripts, std::nullopt);
  define(to, subscripts, estimate);
}

}  // namespace flashlab::toy
