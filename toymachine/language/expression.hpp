// Expressions over parameters, loop variables and constants, as read by the assembler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::toy {

struct Expression;
/// Expressions are immutable and shared; a null pointer means "not given".
using ExpressionPtr = std::shared_ptr<const Expression>;

/// The operation of a node on its arguments (`args`) and its `index`.
enum class ExpressionOp : std::uint8_t {
  kInteger,    // integer
  kReal,       // real
  kParam,      // Program::params[index]
  kConst,      // Program::consts[index]
  kLoopVar,    // Program::loop_vars[index]; each loop has its own entry
  kRegisters,  // the number of registers of the machine
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNegate,
  kMin,
  kMax,  // two or more args
  kCeilDiv,
  kFloorDiv,
  kFloor,
  kCeil,
  kSqrt,
  kExp,
  kLog,
  kInfinity,
  kTiles,   // tiles(array, axis): args[0] is the axis; index is the array
  kExtent,  // extent(array, axis)
  kCell,    // claims only: array[index] at args
  kLabel,   // claims only: the claimed value of the label `name`; args are its subscripts
  kSum,
  kMaxOver,  // claims only: index is the bound variable's loop_vars entry; args: lower, upper, body
};

struct Expression {
  ExpressionOp op = ExpressionOp::kInteger;
  std::int64_t integer = 0;
  double real = 0;
  std::size_t index = 0;
  std::string name;  // the identifier as written
  std::vector<ExpressionPtr> args;
  SourceSpan span;
};

/// A number in an expression: an exact integer as long as possible.
using Number = std::variant<std::int64_t, double>;

/// The expression as source text, with as few parentheses as the grammar allows.
std::string to_string(const Expression& expression);

}  // namespace flashlab::toy
