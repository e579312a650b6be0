// A program as returned by the assembler: declarations and a loop nest, with symbolic parameters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "toymachine/language/expression.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

enum class ArrayRole : std::uint8_t { kInput, kTemp, kOutput };
enum class ElementType : std::uint8_t { kFloat, kDouble, kBf16, kFp16 };

/// Bytes of one element in DRAM.
constexpr std::int64_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
      return 4;
    case ElementType::kDouble:
      return 8;
    case ElementType::kBf16:
    case ElementType::kFp16:
      return 2;
  }
  return 0;
}

/// `.input q(n, d) tile (B, Bd) float` or `.input x[n]`.
struct ArrayDeclaration {
  std::string name;
  ArrayRole role = ArrayRole::kInput;
  std::vector<ExpressionPtr> extents;  // elements along each axis
  std::vector<ExpressionPtr> tile;     // rows and columns, for the last two axes; empty: untiled
  ElementType element_type = ElementType::kFloat;
  SourceSpan span;

  /// Elements of a tile along the axis; null if the axis is not tiled.
  const Expression* tile_along(std::size_t axis) const {
    const std::size_t untiled = extents.size() - tile.size();
    return axis < untiled ? nullptr : tile[axis - untiled].get();
  }
};

struct ParamDeclaration {
  std::string name;
  ExpressionPtr default_value;  // null: must be given
  SourceSpan span;
};

struct ConstDeclaration {
  std::string name;
  ExpressionPtr value;
  SourceSpan span;
};

/// `.reg Q[tiles(q, 1)], m, l`: names for registers, numbered consecutively from R0 on.
struct RegisterDeclaration {
  std::string name;
  ExpressionPtr count;  // null: one register, named without an index
  ExpressionPtr first;  // number of its first register
  SourceSpan span;
};

/// `.machines rank of ranks = 4`: the program runs on `ranks` machines at once. Both names are
/// parameters: ranks like any other, rank a number from 0 on that each machine has for itself.
struct MachinesDeclaration {
  std::size_t rank = 0, ranks = 0;  // into Program::params
  SourceSpan span;
};

inline constexpr std::size_t kNoName = SIZE_MAX;

/// kConstants: any register, and constants in place of registers that are read.
enum class OperandRule : std::uint8_t { kAny, kPinned, kConstants };

/// One operand. Registers: `register_index`; cells: `array`, and one index per axis (of tiles, if
/// the axis is tiled); constants and offsets: `value`.
struct Operand {
  OperandKind kind = OperandKind::kSource;
  ExpressionPtr register_index;
  std::size_t register_name = kNoName;  // into Program::register_names, if it was given by name
  ExpressionPtr name_index;             // Q[c]: the c
  bool transposed = false;              // Ra^T
  std::size_t array = 0;
  std::vector<ExpressionPtr> indices;
  ExpressionPtr value;
  SourceSpan span;
};

struct InstructionStatement {
  std::size_t row = 0;   // into instruction_set()
  std::size_t site = 0;  // position among the program's instructions, in source order
  std::size_t pass = 0;  // into Program::passes
  std::vector<Operand> operands;
  SourceSpan span;
};

/// `.name R1 = m' = max(j in 0..i+1: x[j])`: label, subscripts, and claim (may be null).
struct NameStatement {
  ExpressionPtr register_index;
  std::size_t register_name = kNoName;  // as in Operand
  ExpressionPtr name_index;
  std::string label;                      // including its primes
  std::vector<ExpressionPtr> subscripts;  // c[i][j]
  ExpressionPtr claim;
  SourceSpan span;
};

struct Statement;

/// `for var in lower..upper step step`: half open; the body of an empty range does not run.
struct LoopStatement {
  std::size_t loop = 0;  // into Program::loop_vars
  std::string var;
  ExpressionPtr lower, upper, step;  // step is never null; it must be positive
  std::vector<Statement> body;
  SourceSpan span;
};

struct Statement {
  std::variant<InstructionStatement, LoopStatement, NameStatement> node;
};

/// The whole program. Expressions refer to params, consts, loop_vars and arrays by index.
struct Program {
  std::shared_ptr<const SourceText> source;
  std::string title;  // the first comment line of the file, if any
  Level level = Level::kAttention;
  std::vector<std::size_t> extra_instructions;  // rows beyond the level, in the table's order
  OperandRule operand_rule = OperandRule::kAny;
  bool has_score_function = false;  // its instructions may have constants as operands, too
  std::optional<MachinesDeclaration> machines;  // nothing: one machine
  ExpressionPtr registers;                      // null: not limited by the program
  std::vector<RegisterDeclaration> register_names;
  std::vector<ParamDeclaration> params;
  std::vector<ConstDeclaration> consts;
  std::vector<ArrayDeclaration> arrays;
  std::vector<std::string> passes;  // `.pass title`; passes[0] is "", for the part before the first
  std::vector<std::string> loop_vars;
  std::vector<Statement> body;
  std::size_t num_sites = 0;

  /// Whether the program's machine has the instruction of a row.
  bool has_instruction(std::size_t row) const {
    return instruction_set()[row].in(level) || (machines && instruction_set()[row].is_link()) ||
           std::find(extra_instructions.begin(), extra_instructions.end(), row) !=
               extra_instructions.end();
  }
};

}  // namespace flashlab::toy
