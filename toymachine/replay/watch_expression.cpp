#include "toymachine/replay/watch_expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "toymachine/language/request_error.hpp"
#include "toymachine/replay/replay.hpp"
#include "toymachine/replay/watch_parser.hpp"

namespace flashlab::toy {
namespace {

using detail::WatchOp;
using Node = WatchExpression::Node;
using Kind = WatchValue::Kind;

WatchValue whole_value(std::int64_t value) { return {.kind = Kind::kWhole, .whole = value}; }
WatchValue number_value(double value) {
  return {.kind = std::isnan(value) ? Kind::kUnwritten : Kind::kNumber, .number = value};
}
WatchValue truth(bool holds) { return {.kind = Kind::kTruth, .whole = holds ? 1 : 0}; }

double watched_number(const WatchValue& value) {
  return value.kind == Kind::kNumber ? value.number : static_cast<double>(value.whole);
}

bool compares(WatchOp op) { return op >= WatchOp::kLess && op <= WatchOp::kUnequal; }

template <class Number>
bool compare(WatchOp op, Number a, Number b) {
  switch (op) {
    case WatchOp::kLess:
      return a < b;
    case WatchOp::kAtMost:
      return a <= b;
    case WatchOp::kGreater:
      return a > b;
    case WatchOp::kAtLeast:
      return a >= b;
    case WatchOp::kEqual:
      return a == b;
    default:
      return a < b || a > b;
  }
}

/// Evaluates an expression where a run stands.
class WatchEvaluation {
 public:
  explicit WatchEvaluation(Replay& run) : WatchEvaluation(run, run.point()) {}
  WatchEvaluation(Replay& run, RunPoint loops)
      : run_(run), program_(run.program()), point_(std::move(loops)) {}

  Result<WatchValue> value(const Node& node) {
    switch (node.op) {
      case WatchOp::kWhole:
        return whole_value(node.whole);
      case WatchOp::kReal:
        return WatchValue{.kind = Kind::kNumber, .number = node.real};
      case WatchOp::kParam:
        return whole_value(program_.params[node.index]);
      case WatchOp::kLoop:
        return loop(node);
      case WatchOp::kRegister:
      case WatchOp::kCell:
        return contents(node);
      case WatchOp::kElement:
        return element(node);
      case WatchOp::kNot:
      case WatchOp::kAnd:
      case WatchOp::kOr:
        return logic(node);
      default:
        return arithmetic(node);
    }
  }

  Result<Place> place(const Node& node) {
    if (node.op != WatchOp::kRegister && node.op != WatchOp::kCell) {
      return request_error("'" + node.text + "' is no register and no cell",
                           "a register such as R1, or a cell such as x[0]");
    }
    const auto indices = indices_of(node);
    if (!indices) return indices.diagnostics;
    if (node.op == WatchOp::kRegister) return register_at(node, *indices);
    return cell_at(node, *indices);
  }

 private:
  Result<std::vector<std::int64_t>> indices_of(const Node& node) {
    std::vector<std::int64_t> indices;
    for (const auto& one : node.args) {
      const auto index = value(*one);
      if (!index) return index.diagnostics;
      if (index->kind != Kind::kWhole) {
        return request_error("the index '" + one->text + "' is no whole number",
                             "loop variables, parameters and whole numbers");
      }
      indices.push_back(index->whole);
    }
    return indices;
  }

  Result<WatchValue> loop(const Node& node) {
    if (point_.site < program_.instructions.size()) {
      std::uint32_t at = program_.instructions[point_.site].loop;
      for (; at != kNoLoop; at = program_.loops[at].parent) {
        if (node.index == detail::kAnyLoop ? program_.loops[at].var == node.text
                                           : at == node.index) {
          return whole_value(point_.loop_values[at]);
        }
      }
    }
    return request_error("the loop over " + node.text + " does not run here",
                         "a loop around the next instruction");
  }

  Result<Place> register_at(const Node& node, const std::vector<std::int64_t>& indices) {
    if (indices.empty()) return Place{false, static_cast<std::int64_t>(node.index)};
    const NamedRegisters& named = program_.named_registers[node.index];
    if (indices.size() == 1 && indices[0] >= 0 && indices[0] < named.count) {
      return Place{false, named.first + indices[0]};
    }
    return request_error("there is no register '" + node.text + "'" + here(indices),
                         named.name + "[0 to " + std::to_string(named.count - 1) + "]");
  }

  Result<Place> cell_at(const Node& node, const std::vector<std::int64_t>& indices) {
    const BoundArray& array = program_.arrays[node.index];
    std::int64_t element = 0;
    bool inside = indices.size() == array.extents.size();
    for (std::size_t axis = 0; inside && axis < indices.size(); ++axis) {
      inside = indices[axis] >= 0 && indices[axis] < array.extents[axis];
      element = element * array.extents[axis] + indices[axis];
    }
    if (inside) return Place{true, array.offset + element};
    std::string expected = array.name;
    for (const std::int64_t extent : array.extents) {
      expected += extent > 0 ? "[0 to " + std::to_string(extent - 1) + "]" : "[] without elements";
    }
    return request_error("there is no cell '" + node.text + "'" + here(indices), expected);
  }

  static std::string here(const std::vector<std::int64_t>& indices) {
    std::string text;
    for (const std::int64_t one : indices) text += "[" + std::to_string(one) + "]";
    return text.empty() ? text : " (" + text + ")";
  }

  Result<WatchValue> contents(const Node& node) {
    const auto at = place(node);
    if (!at) return at.diagnostics;
    if (at->is_cell) return number_value(run_.cell(at->number));
    const RegisterContents found = run_.register_contents(at->number);
    if (!found.is_written()) return WatchValue{.kind = Kind::kUnwritten};
    if (found.elements.size() == 1) return number_value(found.elements[0]);
    return WatchValue{
        .kind = Kind::kTile, .rows = found.rows, .cols = found.cols, .elements = found.elements};
  }

  Result<WatchValue> element(const Node& node) {
    auto indices = indices_of(node);
    if (!indices) return indices.diagnostics;
    const std::vector<std::int64_t> all = std::move(*indices);
    const std::int64_t row = all[all.size() - 2], column = all[all.size() - 1];
    const auto at = register_at(node, {all.begin(), all.end() - 2});
    if (!at) return at.diagnostics;
    const RegisterContents found = run_.register_contents(at->number);
    if (!found.is_written()) return WatchValue{.kind = Kind::kUnwritten};
    if (row >= 0 && row < found.rows && column >= 0 && column < found.cols) {
      return number_value(found.elements[static_cast<std::size_t>(row * found.cols + column)]);
    }
    return request_error("there is no element '" + node.text + "'" + here(all),
                         program_.register_name(at->number) + "[0 to " +
                             std::to_string(found.rows - 1) + "][0 to " +
                             std::to_string(found.cols - 1) + "]");
  }

  Result<WatchValue> logic(const Node& node) {
    for (const auto& one : node.args) {
      const auto found = value(*one);
      if (!found) return found.diagnostics;
      if (found->kind != Kind::kTruth) {
        return request_error("'" + one->text + "' is no test", "a comparison such as R1 > 0");
      }
      if (node.op == WatchOp::kNot) return truth(!found->holds());
      if (found->holds() == (node.op == WatchOp::kOr)) return truth(found->holds());
    }
    return truth(node.op == WatchOp::kAnd);
  }

  Result<WatchValue> arithmetic(const Node& node) {
    std::array<WatchValue, 2> values;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      auto found = value(*node.args[i]);
      if (!found) return found.diagnostics;
      if (found->kind == Kind::kTruth) {
        return request_error("'" + node.args[i]->text + "' is a test and no number", "a number");
      }
      values[i] = std::move(*found);
    }
    if (compares(node.op)) return comparison(node, values[0], values[1]);
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      if (values[i].kind == Kind::kUnwritten) return values[i];
      if (values[i].kind == Kind::kTile) {
        return request_error("'" + node.args[i]->text + "' is a tile, which has no single value",
                             "a register with a number, or a comparison");
      }
    }
    const bool whole =
        values[0].kind == Kind::kWhole && (node.args.size() == 1 || values[1].kind == Kind::kWhole);
    if (node.op == WatchOp::kRemainder) return remainder(node, values, whole);
    std::int64_t result = 0;
    const std::int64_t a = values[0].whole, b = values[1].whole;
    if (whole && ((node.op == WatchOp::kAdd && !__builtin_add_overflow(a, b, &result)) ||
                  (node.op == WatchOp::kSubtract && !__builtin_sub_overflow(a, b, &result)) ||
                  (node.op == WatchOp::kMultiply && !__builtin_mul_overflow(a, b, &result)) ||
                  (node.op == WatchOp::kNegate && !__builtin_sub_overflow(0, a, &result)) ||
                  (node.op == WatchOp::kDivide && b > 0 && a % b == 0))) {
      return whole_value(node.op == WatchOp::kDivide ? a / b : result);
    }
    const double x = watched_number(values[0]), y = watched_number(values[1]);
    return number_value(node.op == WatchOp::kAdd        ? x + y
                        : node.op == WatchOp::kSubtract ? x - y
                        : node.op == WatchOp::kMultiply ? x * y
                        : node.op == WatchOp::kDivide   ? x / y
                                                        : -x);
  }

  static Result<WatchValue> remainder(const Node& node, const std::array<WatchValue, 2>& values,
                                      bool whole) {
    if (!whole || values[1].whole <= 0) {
      return request_error("'" + node.text + "' has no remainder",
                           "whole numbers, the second above 0");
    }
    const std::int64_t rest = values[0].whole % values[1].whole;
    return whole_value(rest < 0 ? rest + values[1].whole : rest);
  }

  Result<WatchValue> comparison(const Node& node, const WatchValue& a, const WatchValue& b) const {
    if (a.kind == Kind::kUnwritten || b.kind == Kind::kUnwritten) return truth(false);
    if (a.kind == Kind::kTile && b.kind == Kind::kTile) {
      return request_error("'" + node.text + "' compares two tiles", "a tile and a number");
    }
    if (a.kind == Kind::kWhole && b.kind == Kind::kWhole) {
      return truth(compare(node.op, a.whole, b.whole));
    }
    if (a.kind == Kind::kTile || b.kind == Kind::kTile) {
      const WatchValue& tile = a.kind == Kind::kTile ? a : b;
      return truth(std::any_of(tile.elements.begin(), tile.elements.end(), [&](double one) {
        return &tile == &a ? same_type(node.op, one, watched_number(b))
                           : same_type(node.op, watched_number(a), one);
      }));
    }
    return truth(same_type(node.op, watched_number(a), watched_number(b)));
  }

  /// Compares in the type of the machine's numbers, as ValueTest does: R0 == 0.1 can hold in float.
  bool same_type(WatchOp op, double a, double b) const {
    return run_.is_double() ? compare(op, a, b)
                            : compare(op, static_cast<float>(a), static_cast<float>(b));
  }

  Replay& run_;
  const BoundProgram& program_;
  RunPoint point_;
};

/// Returns the affine form of a node; nothing if it has none.
std::optional<Affine> affine_of(const Node& node, const BoundProgram& program) {
  const auto combined = [](const Affine& a, const Affine& b,
                           std::int64_t factor) -> std::optional<Affine> {
    Affine sum = a;
    std::int64_t product = 0;
    const auto add = [&](std::int64_t& to, std::int64_t value) {
      return !__builtin_mul_overflow(value, factor, &product) &&
             !__builtin_add_overflow(to, product, &to);
    };
    if (!add(sum.constant, b.constant)) return std::nullopt;
    for (const auto& [loop, coefficient] : b.terms) {
      auto found = std::find_if(sum.terms.begin(), sum.terms.end(),
                                [loop = loop](const auto& term) { return term.first == loop; });
      if (found == sum.terms.end()) found = sum.terms.insert(found, {loop, 0});
      if (!add(found->second, coefficient)) return std::nullopt;
    }
    std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
    return sum;
  };
  if (node.op == WatchOp::kWhole) return Affine{node.whole, {}};
  if (node.op == WatchOp::kParam) return Affine{program.params[node.index], {}};
  if (node.op == WatchOp::kLoop && node.index != detail::kAnyLoop) {
    return Affine{0, {{static_cast<std::uint32_t>(node.index), 1}}};
  }
  std::vector<Affine> args;
  if (node.op != WatchOp::kAdd && node.op != WatchOp::kSubtract && node.op != WatchOp::kMultiply &&
      node.op != WatchOp::kNegate) {
    return std::nullopt;
  }
  for (const auto& one : node.args) {
    auto affine = affine_of(*one, program);
    if (!affine) return std::nullopt;
    args.push_back(std::move(*affine));
  }
  if (node.op == WatchOp::kNegate) return combined({}, args[0], -1);
  if (node.op == WatchOp::kAdd) return combined(args[0], args[1], 1);
  if (node.op == WatchOp::kSubtract) return combined(args[0], args[1], -1);
  if (args[1].is_constant()) return combined({}, args[0], args[1].constant);
  if (args[0].is_constant()) return combined({}, args[1], args[0].constant);
  return std::nullopt;
}

/// Adds what a conjunct demands of an index. Returns whether that is all.
bool add_demand(const Node& node, const BoundProgram& program, std::vector<IndexRange>& ranges) {
  if (node.op == WatchOp::kAnd) {
    bool is_all = true;
    for (const auto& one : node.args) is_all = add_demand(*one, program, ranges) && is_all;
    return is_all;
  }
  if (!compares(node.op) || node.op == WatchOp::kUnequal) return false;
  const Node difference{.op = WatchOp::kSubtract, .args = node.args, .text = {}};
  auto affine = affine_of(difference, program);
  if (!affine) return false;
  IndexRange range{std::move(*affine), INT64_MIN, INT64_MAX};
  if (node.op == WatchOp::kLess) range.high = -1;
  if (node.op == WatchOp::kAtMost) range.high = 0;
  if (node.op == WatchOp::kGreater) range.low = 1;
  if (node.op == WatchOp::kAtLeast) range.low = 0;
  if (node.op == WatchOp::kEqual) range.low = range.high = 0;
  ranges.push_back(std::move(range));
  return true;
}

}  // namespace

Result<WatchExpression> WatchExpression::parse(const BoundProgram& program, std::string_view text,
                                               std::optional<std::uint32_t> site) {
  auto root = detail::parse_watch(program, text, site);
  if (!root) return std::move(root.diagnostics);
  return WatchExpression(program, std::move(*root));
}

Result<WatchValue> WatchExpression::value(Replay& run) const {
  return WatchEvaluation(run).value(*root_);
}

Result<WatchValue> WatchExpression::value(Replay& run, const RunPoint& loops) const {
  return WatchEvaluation(run, loops).value(*root_);
}

Result<Place> WatchExpression::place(Replay& run) const {
  return WatchEvaluation(run).place(*root_);
}

bool WatchExpression::is_test() const { return root_->op >= WatchOp::kLess; }

std::vector<IndexRange> WatchExpression::index_ranges(bool& is_all) const {
  std::vector<IndexRange> ranges;
  is_all = add_demand(*root_, *program_, ranges);
  return ranges;
}

}  // namespace flashlab::toy
