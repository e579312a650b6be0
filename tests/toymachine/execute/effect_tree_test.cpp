// Effects as trees: what translators see of an instruction.
#include "toymachine/execute/effect_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "tests/catch_shim.hpp"
#include "toymachine/execute/call_instruction.hpp"
#include "toymachine/language/exponential.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::toy {
namespace {

void add_operands(const EffectTree& tree, std::set<std::size_t>& positions) {
  if (!tree.operation) positions.insert(tree.operand);
  for (const EffectTree& argument : tree.arguments) add_operands(argument, positions);
}

/// The tree's value on scalars.
double value_of_tree(const EffectTree& tree, std::span<const double> by_position) {
  const auto argument = [&](std::size_t i) {
    return value_of_tree(tree.arguments[i], by_position);
  };
  if (!tree.operation) return by_position[tree.operand];
  switch (*tree.operation) {
    case Operation::kPlus:
      return argument(0) + argument(1);
    case Operation::kMinus:
      return argument(0) - argument(1);
    case Operation::kTimes:
    case Operation::kProduct:
      return argument(0) * argument(1);
    case Operation::kOver:
      return argument(0) / argument(1);
    case Operation::kMaximum:
      return std::max(argument(0), argument(1));
    case Operation::kMinimum:
      return std::min(argument(0), argument(1));
    case Operation::kAbsolute:
      return std::abs(argument(0));
    case Operation::kExponential:
      return detail::exponential(argument(0));
    case Operation::kLogarithm:
      return std::log(argument(0));
    case Operation::kTanh:
      return std::tanh(argument(0));
    case Operation::kReciprocalRoot:
      return 1 / std::sqrt(argument(0));
    case Operation::kReciprocal:
      return 1 / argument(0);
    case Operation::kBinaryExponential:
      return std::exp2(argument(0));
    case Operation::kBinaryLogarithm:
      return std::log2(argument(0));
    case Operation::kLess:
      return argument(0) < argument(1) ? 1 : 0;
    case Operation::kSelected:
      return argument(0) != 0 ? argument(1) : argument(2);
    default:
      return argument(0);
  }
}

TEST_CASE("an effect tree has the operands that its instruction reads, and no other",
          "[effect_tree]") {
  for (std::size_t row = 0; row < instruction_set().size(); ++row) {
    const InstructionSpec& spec = instruction_set()[row];
    INFO(spec.mnemonic);
    std::set<std::size_t> read, in_tree;
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      if (is_read(spec.operands[i])) read.insert(i);
    }
    add_operands(effect_tree(row), in_tree);
    CHECK(in_tree == read);
  }
}

TEST_CASE("an effect tree computes what its instruction computes", "[effect_tree]") {
  const std::array<double, kMaxOperands> by_position = {0.7, 0.4, 0.9, 0.2};
  for (std::size_t row = 0; row < instruction_set().size(); ++row) {
    const InstructionSpec& spec = instruction_set()[row];
    if (spec.has(OperandKind::kOffset)) continue;
    std::vector<double> read;
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      if (is_read(spec.operands[i])) read.push_back(by_position[i]);
    }
    INFO(spec.mnemonic);
    CHECK(value_of_tree(effect_tree(row), by_position) == effect_on_numbers(row, read));
  }
}

TEST_CASE("masks and numbers of rows and columns are operations on the tile and its offsets",
          "[effect_tree]") {
  std::set<Operation> operations;
  for (std::size_t row = 0; row < instruction_set().size(); ++row) {
    if (!instruction_set()[row].has(OperandKind::kOffset)) continue;
    const EffectTree tree = effect_tree(row);
    REQUIRE(tree.operation);
    operations.insert(*tree.operation);
    REQUIRE(tree.arguments.size() == (is_place(*tree.operation) ? 2 : 3));
    for (std::size_t i = 0; i < tree.arguments.size(); ++i) CHECK(tree.arguments[i].operand == i);
  }
  CHECK(operations == std::set<Operation>{Operation::kMasked, Operation::kMaskedLeft,
                                          Operation::kRowNumber, Operation::kColumnNumber});
}

}  // namespace
}  // namespace flashlab::toy
