#include "generate/source/expressions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "text/lists.hpp"
#include "toymachine/bind/wrapping.hpp"
#include "toymachine/execute/effect_tree.hpp"

namespace flashlab::generate {
namespace {

using toy::EffectTree;
using toy::Operation;
using BoundOp = toy::BoundExpression::Op;

/// Indices are long long; an int is wide enough for most constants.
std::string constant_text(std::int64_t value) {
  constexpr std::int64_t kMostInt = std::int64_t{1} << 24;  // sums of several still are ints
  const bool is_int = value > -kMostInt && value < kMostInt;
  if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
  return std::to_string(value) + (is_int ? "" : "ll");
}

/// " + " or " - " between terms, "" or "-" before the first one.
std::string sign_text(bool is_first, bool is_negative) {
  if (is_first) return is_negative ? "-" : "";
  return is_negative ? " - " : " + ";
}

/// Returns a * factor + b. It is the number of an element, which fits 64 bits.
toy::Affine scaled_sum(const toy::Affine& a, std::int64_t factor, const toy::Affine& b) {
  using toy::detail::wrapped_product;
  using toy::detail::wrapped_sum;
  toy::Affine result{wrapped_sum(wrapped_product(a.constant, factor), b.constant), b.terms};
  for (const auto& [loop, coefficient] : a.terms) {
    const auto at = std::lower_bound(
        result.terms.begin(), result.terms.end(), loop,
        [](const auto& term, std::uint32_t number) { return term.first < number; });
    if (at == result.terms.end() || at->first != loop) {
      result.terms.insert(at, {loop, wrapped_product(coefficient, factor)});
    } else {
      at->second = wrapped_sum(at->second, wrapped_product(coefficient, factor));
    }
  }
  std::erase_if(result.terms, [](const auto& term) { return term.second == 0; });
  return result;
}

/// The shortest decimal number with this value.
template <class Real>
std::string shortest_text(Real value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

/// Writes one instruction.
class StatementWriter {
 public:
  StatementWriter(const toy::BoundProgram& program, const toy::BoundInstruction& instruction,
                  const Names& names, toy::ElementType real,
                  std::optional<toy::ElementType> factors)
      : program_(program),
        instruction_(instruction),
        names_(names),
        real_(real),
        factors_(factors) {}

  std::string write(bool by_way_of_scratch) const {
    const EffectTree effect = toy::effect_tree(instruction_.row);
    for (const toy::BoundOperand& operand : instruction_.operands) {
      if (operand.kind == toy::OperandKind::kDestination) {
        return (by_way_of_scratch ? "set_by_way_of(scratch, " : "set(") + register_text(operand) +
               ", " + text(effect) + ");";
      }
      if (operand.kind == toy::OperandKind::kMemoryDestination) {
        return "store(" + cell_text(program_, operand, names_) + ", " + text(effect) + ");";
      }
      if (operand.kind == toy::OperandKind::kMemoryUpdate) {
        return "add_to(" + cell_text(program_, operand, names_) + ", " + text(addend(effect)) +
               ");";
      }
    }
    throw std::logic_error("an instruction that writes nothing");
  }

 private:
  /// The b of an update cell + b.
  const EffectTree& addend(const EffectTree& effect) const {
    const bool adds =
        effect.operation == Operation::kPlus && !effect.arguments[0].operation &&
        instruction_.operands[effect.arguments[0].operand].kind == toy::OperandKind::kMemoryUpdate;
    if (!adds) throw std::logic_error("an update that is no sum of cell and operand");
    return effect.arguments[1];
  }

  std::string text(const EffectTree& tree) const {
    if (!tree.operation) return operand_text(instruction_.operands[tree.operand]);
    const std::string name(toy::spec_of(*tree.operation).function);
    if (toy::is_sign(*tree.operation)) {
      return term(tree.arguments[0]) + " " + name + " " + term(tree.arguments[1]);
    }
    const bool is_product = tree.operation == Operation::kProduct;
    return (is_product ? product_text() : name) + "(" +
           joined(tree.arguments, ", ", [&](const EffectTree& one) { return text(one); }) + ")";
  }

  std::string product_text() const {
    if (!factors_) return "product";
    return *factors_ == toy::ElementType::kBf16 ? "tensor_product<Bf16>" : "tensor_product<Fp16>";
  }

  /// An argument of + - * /, in parentheses if it is one of these itself.
  std::string term(const EffectTree& argument) const {
    const bool has_sign = argument.operation && toy::is_sign(*argument.operation);
    return has_sign ? "(" + text(argument) + ")" : text(argument);
  }

  std::string operand_text(const toy::BoundOperand& operand) const {
    if (toy::is_memory(operand.kind)) return cell_text(program_, operand, names_);
    if (operand.kind == toy::OperandKind::kOffset) return text_of(operand.index, names_);
    if (operand.kind == toy::OperandKind::kConstant) {
      const std::int64_t at = operand.index.constant - program_.num_registers;
      const double value = program_.constants[static_cast<std::size_t>(at)];
      return "scalar(" + number_text(value, real_) + ")";
    }
    const std::string name = register_text(operand);
    return operand.transposed ? "transposed(" + name + ")" : name;
  }

  std::string register_text(const toy::BoundOperand& operand) const {
    const Names::Variable& variable = names_.variable(program_, operand);
    if (!variable.indexed && variable.count == 1) return variable.name;
    toy::Affine index = operand.index;
    index.constant -= variable.first;
    return variable.name + "[" + text_of(index, names_) + "]";
  }

  const toy::BoundProgram& program_;
  const toy::BoundInstruction& instruction_;
  const Names& names_;
  toy::ElementType real_;
  std::optional<toy::ElementType> factors_;
};

}  // namespace

std::string text_of(const toy::Affine& affine, const Names& names) {
  if (affine.terms.empty()) return constant_text(affine.constant);
  // The constant is last, but not after a negative term alone: "6 - j".
  const bool constant_first = affine.terms.front().second < 0 && affine.constant > 0;
  std::string text = constant_first ? constant_text(affine.constant) : "";
  for (const auto& [loop, coefficient] : affine.terms) {
    // The smallest number has no positive counterpart.
    const bool is_negative = coefficient < 0 && coefficient != INT64_MIN;
    const std::int64_t factor = is_negative ? -coefficient : coefficient;
    text += sign_text(text.empty(), is_negative);
    if (factor != 1) text += constant_text(factor) + " * ";
    text += names.loop(loop);
  }
  if (constant_first || affine.constant == 0) return text;
  const bool is_negative = affine.constant < 0 && affine.constant != INT64_MIN;
  return text + sign_text(false, is_negative) +
         constant_text(is_negative ? -affine.constant : affine.constant);
}

std::string text_of(const toy::BoundExpression& bound, const Names& names) {
  const auto folded = [&](const std::string& function) {
    std::string text = text_of(bound.args.front(), names);
    for (std::size_t i = 1; i < bound.args.size(); ++i) {
      text = function + "(" + text + ", " + text_of(bound.args[i], names) + ")";
    }
    return text;
  };
  const auto first = [&] { return text_of(bound.args.front(), names); };
  switch (bound.op) {
    case BoundOp::kAffine:
      return text_of(bound.affine, names);
    case BoundOp::kMin:
      return folded("smaller");
    case BoundOp::kMax:
      return folded("larger");
    case BoundOp::kCeilDiv:
      return "ceil_divide(" + first() + ", " + constant_text(bound.constant) + ")";
    case BoundOp::kFloorDiv:
      return "floor_divide(" + first() + ", " + constant_text(bound.constant) + ")";
    case BoundOp::kAdd:
      return joined(bound.args, " + ",
                    [&](const toy::BoundExpression& arg) { return text_of(arg, names); });
    case BoundOp::kScale:
      return std::to_string(bound.constant) + "ll * (" + first() + ")";
  }
  throw std::logic_error("a bound without CUDA text");
}

/// A third index, of a plane, goes before the others.
std::string cell_text(const toy::BoundProgram& program, const toy::BoundOperand& operand,
                      const Names& names) {
  const toy::BoundArray& array = program.arrays[operand.array];
  const std::size_t rank = operand.axes.size();
  std::string indices = text_of(operand.axes[rank - 1], names);
  indices = (rank > 1 ? text_of(operand.axes[rank - 2], names) : "0") + ", " + indices;
  toy::Affine plane;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    plane = scaled_sum(plane, array.extents[axis], operand.axes[axis]);
  }
  if (rank > 2) indices = text_of(plane, names) + ", " + indices;
  return names.array(operand.array) + ".tile(" + indices + ")";
}

std::string number_text(double value, toy::ElementType real) {
  const bool is_double = real == toy::ElementType::kDouble;
  if (std::isinf(value)) return is_double ? "double(minus_infinity())" : "minus_infinity()";
  std::string text = is_double ? shortest_text(value) : shortest_text(static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return is_double ? text : text + "f";
}

std::string statement_text(const toy::BoundProgram& program,
                           const toy::BoundInstruction& instruction, const Names& names,
                           toy::ElementType real, std::optional<toy::ElementType> factors,
                           bool by_way_of_scratch) {
  return StatementWriter(program, instruction, names, real, factors).write(by_way_of_scratch);
}

}  // namespace flashlab::generate
