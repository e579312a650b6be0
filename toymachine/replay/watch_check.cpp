// Finds expressions that have no value at any point of any run, so that a condition which could never stop a
// run is refused when it is set.
#include <algorithm>
#include <optional>

#include "toymachine/language/request_error.hpp"
#include "toymachine/replay/watch_expression.hpp"
#include "toymachine/replay/watch_parser.hpp"

namespace flashlab::toy {
namespace {

using detail::WatchOp;
using CheckedNode = WatchExpression::Node;

/// What kind of value an expression has, if it has one.
enum class ValueKind : std::uint8_t { kWhole, kNumber, kTruth };

class WatchCheck {
 public:
  explicit WatchCheck(const BoundProgram& program) : program_(program) {}

  Result<ValueKind> kind(const CheckedNode& node) const {
    std::vector<ValueKind> args;
    for (const auto& one : node.args) {
      const auto found = kind(*one);
      if (!found) return found;
      args.push_back(*found);
    }
    switch (node.op) {
      case WatchOp::kWhole:
      case WatchOp::kParam:
      case WatchOp::kLoop:
        return ValueKind::kWhole;
      case WatchOp::kReal:
        return ValueKind::kNumber;
      case WatchOp::kRegister:
      case WatchOp::kCell:
      case WatchOp::kElement:
        return of_place(node, args);
      case WatchOp::kNot:
      case WatchOp::kAnd:
      case WatchOp::kOr:
        return of_logic(node, args);
      default:
        return of_arithmetic(node, args);
    }
  }

 private:
  static Result<ValueKind> of_logic(const CheckedNode& node, const std::vector<ValueKind>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i] == ValueKind::kTruth) continue;
      return request_error("'" + node.args[i]->text + "' is no test",
                           "a comparison such as R1 > 0");
    }
    return ValueKind::kTruth;
  }

  static Result<ValueKind> of_arithmetic(const CheckedNode& node,
                                         const std::vector<ValueKind>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i] != ValueKind::kTruth) continue;
      return request_error("'" + node.args[i]->text + "' is a test and no number", "a number");
    }
    if (node.op >= WatchOp::kLess) return ValueKind::kTruth;
    const bool is_whole = std::ranges::count(args, ValueKind::kWhole) == std::ssize(args);
    const CheckedNode& last = *node.args.back();
    if (node.op == WatchOp::kRemainder &&
        (!is_whole || (last.op == WatchOp::kWhole && last.whole <= 0))) {
      return request_error("'" + node.text + "' has no remainder",
                           "whole numbers, the second above 0");
    }
    return is_whole ? ValueKind::kWhole : ValueKind::kNumber;
  }

  Result<ValueKind> of_place(const CheckedNode& node, const std::vector<ValueKind>& args) const {
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i] == ValueKind::kWhole) continue;
      return request_error("the index '" + node.args[i]->text + "' is no whole number",
                           "loop variables, parameters and whole numbers");
    }
    const bool is_cell = node.op == WatchOp::kCell, is_element = node.op == WatchOp::kElement;
    const std::size_t num_of_tile = is_element ? 2 : 0;
    std::vector<std::int64_t> counts;
    if (is_cell) counts = program_.arrays[node.index].extents;
    const bool is_named = !is_cell && args.size() > num_of_tile;
    if (is_named) counts = {program_.named_registers[node.index].count};
    const std::string name = is_cell    ? program_.arrays[node.index].name
                             : is_named ? program_.named_registers[node.index].name
                                        : "R" + std::to_string(node.index);
    bool is_possible = counts.size() + num_of_tile == args.size();
    for (std::size_t i = 0; is_possible && i < args.size(); ++i) {
      const auto index = constant(*node.args[i]);  // how large a tile is, the run says
      is_possible = !index || (*index >= 0 && (i >= counts.size() || *index < counts[i]));
    }
    if (is_possible) return ValueKind::kNumber;
    std::string expected = name;
    for (const std::int64_t count : counts) {
      expected += count > 0 ? "[0 to " + std::to_string(count - 1) + "]" : "[] without elements";
    }
    if (is_element) expected += "[row][column], which count from 0";
    return request_error(std::string("there is no ") +
                             (is_cell      ? "cell"
                              : is_element ? "element"
                                           : "register") +
                             " '" + node.text + "'",
                         expected);
  }

  std::optional<std::int64_t> constant(const CheckedNode& node) const {
    if (node.op == WatchOp::kWhole) return node.whole;
    if (node.op == WatchOp::kParam) return program_.params[node.index];
    if (node.op == WatchOp::kNegate) {
      const auto value = constant(*node.args[0]);
      if (value && *value != INT64_MIN) return -*value;
    }
    return std::nullopt;
  }

  const BoundProgram& program_;
};

}  // namespace

std::optional<Diagnostic> WatchExpression::why_never() const {
  const auto found = WatchCheck(*program_).kind(*root_);
  if (found) return std::nullopt;
  return found.diagnostics.front();
}

}  // namespace flashlab::toy
