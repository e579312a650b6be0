// A program with its parameters bound: arrays have sizes, indices are affine with integer
// coefficients, and the nest is a flat list of nodes. Interpreter, counts and liveness start here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// What one name of `.reg` stands for: the registers first to first + count - 1.
struct NamedRegisters {
  std::string name;
  std::int64_t first = 0;
  std::int64_t count = 1;
  bool indexed = false;  // Q[c]; otherwise one register, called by its name alone

  /// "Q[2]"; the name alone where it takes no index.
  std::string text(std::int64_t index) const {
    return indexed ? name + "[" + std::to_string(index) + "]" : name;
  }
};

/// constant + sum of coefficient * value of loop. Terms are sorted by loop, no coefficient is 0.
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;

  bool is_constant() const { return terms.empty(); }
  std::int64_t coefficient(std::uint32_t loop) const;
  /// Loop values are indexed by loop. Binding has proved that the result fits; partial sums may
  /// wrap on the way, hence the unsigned arithmetic.
  std::int64_t operator()(const std::int64_t* loop_values) const {
    auto sum = static_cast<std::uint64_t>(constant);
    for (const auto& [loop, coefficient] : terms) {
      sum +=
          static_cast<std::uint64_t>(coefficient) * static_cast<std::uint64_t>(loop_values[loop]);
    }
    return static_cast<std::int64_t>(sum);
  }
};

/// A loop bound: affine, or min, max, ceildiv of such.
struct BoundExpression {
  enum class Op : std::uint8_t { kAffine, kMin, kMax, kCeilDiv, kFloorDiv, kAdd, kScale };
  Op op = Op::kAffine;
  Affine affine;                      // kAffine
  std::int64_t constant = 1;          // divisor (positive) or factor of args[0]
  std::vector<BoundExpression> args;  // kMin, kMax, kAdd: all; kCeilDiv, kFloorDiv, kScale: one

  std::int64_t operator()(const std::int64_t* loop_values) const;
};

/// The values that an expression can take, both ends included; empty when low > high.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool empty() const { return low > high; }
};

inline constexpr std::uint32_t kNoLoop = UINT32_MAX;
inline constexpr std::uint32_t kUnnamed = UINT32_MAX;  // a register that was called by its number

/// Stores to such a cell lose digits that registers hold.
constexpr bool is_narrow(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16;
}

struct BoundLoop {
  std::uint32_t parent = kNoLoop;  // the loop around this one
  std::uint32_t depth = 0;         // 0: outermost
  std::string var;
  BoundExpression lower, upper;
  std::int64_t step = 1;
  Interval values;  // a superset of the values that the variable takes; empty: the body never runs
  Interval trips;   // fewest and most iterations of one execution (a superset)
  SourceSpan span;
};

struct BoundArray {
  std::string name;
  ArrayRole role = ArrayRole::kInput;
  ElementType element_type = ElementType::kFloat;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> tile;    // elements of a tile along each axis; 1 where it is not tiled
  std::vector<std::int64_t> counts;  // index values along each axis: tiles
  std::vector<ExpressionPtr> extent_expressions;  // as declared
  std::int64_t offset = 0;                        // first element in the machine's DRAM
  std::int64_t size = 0;                          // elements
  SourceSpan span;
};

/// Registers: `index`. Cells: `array`, `axes` one index an axis, `index` the (first) element in
/// DRAM. Constants: `index` counts on from the registers; the machine keeps them there, out of the
/// program's reach. Offsets: `index` is the number itself.
struct BoundOperand {
  OperandKind kind = OperandKind::kSource;
  bool transposed = false;
  Affine index;
  std::uint32_t array = 0;
  std::uint32_t register_name = kUnnamed;  // into BoundProgram::named_registers
  std::vector<Affine> axes;
  ExpressionPtr constant;        // of a constant or an offset, as written
  bool proven_in_range = false;  // for all values of the loops around it
  SourceSpan span;
};

struct BoundInstruction {
  std::uint16_t row = 0;
  std::uint32_t site = 0;  // equals its position in BoundProgram::instructions
  std::uint32_t pass = 0;
  std::uint32_t loop = kNoLoop;  // the innermost loop around it
  std::vector<BoundOperand> operands;
  SourceSpan span;
};

struct BoundLabel {
  Affine register_index;
  std::uint32_t loop = kNoLoop;
  std::uint32_t register_name = kUnnamed;  // as in BoundOperand
  std::uint32_t statement = 0;             // for messages: position among the program's .name lines
  const NameStatement* name = nullptr;     // lives as long as BoundProgram::program
};

/// The nest in execution order. A loop is kLoopBegin … kLoopEnd; `partner` is the other one's node.
struct Node {
  enum class Kind : std::uint8_t { kBlock, kLoopBegin, kLoopEnd, kLabel };
  Kind kind = Kind::kBlock;
  std::uint32_t first = 0;  // kBlock: instructions [first, last); kLabel: labels[first]
  std::uint32_t last = 0;
  std::uint32_t loop = 0;     // kLoopBegin, kLoopEnd
  std::uint32_t partner = 0;  // kLoopBegin, kLoopEnd
};

struct BoundProgram {
  std::shared_ptr<const Program> program;
  std::vector<std::int64_t> params;  // value of Program::params[i]
  std::vector<Number> consts;
  std::int64_t num_registers = 0;  // of the machine: declared, or the most the program names
  bool registers_declared = false;
  std::vector<NamedRegisters> named_registers;  // as Program::register_names
  std::vector<std::string> register_names;      // by number, "" where there is none
  std::vector<double> constants;                // operands of kind kConstant, in source order
  std::vector<BoundArray> arrays;               // as Program::arrays
  bool tiled = false;                           // some element is more than a scalar
  std::int64_t dram_elements = 0;
  std::vector<BoundLoop> loops;                // as Program::loop_vars
  std::vector<BoundInstruction> instructions;  // by site
  std::vector<BoundLabel> labels;
  std::vector<Node> nodes;
  Limits limits;

  /// "Q[1]" or "M", as the program calls the register; otherwise "R5".
  std::string register_name(std::int64_t number) const;
  /// The registers that an operand or a label may mean: those of its name, or all of the machine's.
  Interval allowed_registers(std::uint32_t register_name) const {
    if (register_name == kUnnamed) return {0, num_registers - 1};
    const NamedRegisters& named = named_registers[register_name];
    const std::int64_t end = named.first + named.count;
    return {named.first, (end < num_registers ? end : num_registers) - 1};
  }
  /// "there is no Q[4]" or "there is no register R7", and which there are.
  std::string missing_register(std::int64_t number, std::uint32_t register_name) const;
  std::string existing_registers(std::uint32_t register_name) const;
};

/// Gives every parameter its value and checks all that does not need execution: parameters known
/// and integral, extents at least 0, the register limit, fixed registers and cells in range,
/// step positive, index arithmetic within 64 bits. Errors name the place in the source.
Result<BoundProgram> bind(std::shared_ptr<const Program> program, const Binding& binding);

}  // namespace flashlab::toy
