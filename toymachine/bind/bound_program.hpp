// A program with bound parameters: arrays have sizes, indices are affine with integer coefficients,
// and the nest is a flat list of nodes. Input of interpreter, counts and liveness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy {

/// The registers of one name of `.reg`: from first to first + count - 1.
struct NamedRegisters {
  std::string name;
  std::int64_t first = 0;
  std::int64_t count = 1;
  bool indexed = false;  // Q[c]; otherwise one register, without an index

  /// "Q[2]"; only the name if it has no index.
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
  /// `loop_values` is indexed by loop. Binding has proved that the result fits. Partial sums may
  /// wrap, hence the unsigned arithmetic.
  std::int64_t operator()(const std::int64_t* loop_values) const {
    auto sum = static_cast<std::uint64_t>(constant);
    for (const auto& [loop, coefficient] : terms) {
      sum +=
          static_cast<std::uint64_t>(coefficient) * static_cast<std::uint64_t>(loop_values[loop]);
    }
    return static_cast<std::int64_t>(sum);
  }
};

/// A loop bound: affine, or min, max, ceildiv of bounds.
struct BoundExpression {
  enum class Op : std::uint8_t { kAffine, kMin, kMax, kCeilDiv, kFloorDiv, kAdd, kScale };
  Op op = Op::kAffine;
  Affine affine;                      // kAffine
  std::int64_t constant = 1;          // divisor (positive) or factor of args[0]
  std::vector<BoundExpression> args;  // kMin, kMax, kAdd: all; kCeilDiv, kFloorDiv, kScale: one

  std::int64_t operator()(const std::int64_t* loop_values) const;
};

/// The values that an expression can have, including both ends; empty if low > high.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool empty() const { return low > high; }
};

inline constexpr std::uint32_t kNoLoop = UINT32_MAX;
inline constexpr std::uint32_t kUnnamed = UINT32_MAX;  // a register given by its number

/// Whether stores to cells of this type lose digits that registers hold.
constexpr bool is_narrow(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16;
}

struct BoundLoop {
  std::uint32_t parent = kNoLoop;  // the loop around this one
  std::uint32_t depth = 0;         // 0: outermost
  std::string var;
  BoundExpression lower, upper;
  std::int64_t step = 1;
  Interval values;  // a superset of the variable's values; empty: the body never runs
  Interval trips;   // fewest and most iterations of one execution, or a wider range
  SourceSpan span;
};

struct BoundArray {
  std::string name;
  ArrayRole role = ArrayRole::kInput;
  ElementType element_type = ElementType::kFloat;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> tile;    // elements of a tile along each axis; 1 if it is not tiled
  std::vector<std::int64_t> counts;  // index values (tiles) along each axis
  std::vector<ExpressionPtr> extent_expressions;  // as declared
  std::int64_t offset = 0;                        // first element in the machine's DRAM
  std::int64_t size = 0;                          // elements
  SourceSpan span;

  /// Returns "c[0][1]", the name of an element. The first one has number 0.
  std::string element_name(std::int64_t element) const;
};

/// Registers: `index`. Cells: `array`, `axes` with one index per axis, and `index` with the (first)
/// element in DRAM. Constants: `index` is numbered after the registers, where the machine keeps
/// constants out of the program's reach. Offsets and machines: `index` is the number itself.
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
  std::uint32_t statement = 0;             // for messages: position among the .name lines
  const NameStatement* name = nullptr;     // owned by BoundProgram::program
};

/// The nest in execution order. A loop is kLoopBegin … kLoopEnd; `partner` is the node of
/// the other end.
struct Node {
  enum class Kind : std::uint8_t { kBlock, kLoopBegin, kLoopEnd, kLabel };
  Kind kind = Kind::kBlock;
  std::uint32_t first = 0;  // kBlock: instructions [first, last) of one pass; kLabel: labels[first]
  std::uint32_t last = 0;
  std::uint32_t loop = 0;     // kLoopBegin, kLoopEnd
  std::uint32_t partner = 0;  // kLoopBegin, kLoopEnd
};

/// One of the machines of a program with .machines.
struct MachineNumber {
  std::int64_t rank = 0, ranks = 1;

  /// Whether the number is that of another machine, to which there is a link.
  bool has_link_to(std::int64_t number) const {
    return number >= 0 && number < ranks && number != rank;
  }
  /// For messages: "there is no machine 4", "machine 1 has no link to itself".
  std::string no_link_text(std::int64_t number) const;
  /// "a machine from 0 to 3 other than 1"; for a machine that is alone, why there is none.
  std::string links_text() const;
};

struct BoundProgram {
  std::shared_ptr<const Program> program;
  std::vector<std::int64_t> params;  // value of Program::params[i]
  std::vector<Number> consts;
  std::optional<MachineNumber> machine;  // nothing: the program has only one
  std::int64_t num_registers = 0;  // of the machine: declared, or as many as the program names
  bool registers_declared = false;
  std::vector<NamedRegisters> named_registers;  // as Program::register_names
  std::vector<std::string> register_names;      // by number, "" if there is none
  std::vector<double> constants;                // operands of kind kConstant, in source order
  std::vector<BoundArray> arrays;               // as Program::arrays
  bool tiled = false;                           // whether any element is more than a scalar
  std::int64_t dram_elements = 0;
  std::vector<BoundLoop> loops;                // as Program::loop_vars
  std::vector<BoundInstruction> instructions;  // by site
  std::vector<BoundLabel> labels;
  std::vector<Node> nodes;
  Limits limits;

  /// Returns "Q[1]" or "M", the register's name in the program, or otherwise "R5".
  std::string register_name(std::int64_t number) const;
  /// Returns the registers that an operand or a label may refer to: those of its name, or all
  /// registers of the machine.
  Interval allowed_registers(std::uint32_t register_name) const {
    if (register_name == kUnnamed) return {0, num_registers - 1};
    const NamedRegisters& named = named_registers[register_name];
    const std::int64_t end = named.first + named.count;
    return {named.first, (end < num_registers ? end : num_registers) - 1};
  }
  /// Returns "there is no Q[4]" or "there is no register R7"; existing_registers() lists
  /// those that exist.
  std::string missing_register(std::int64_t number, std::uint32_t register_name) const;
  std::string existing_registers(std::uint32_t register_name) const;

  /// Returns "i = 1, j = 0": this loop and those around it, the outermost first.
  std::string loops_text(std::uint32_t innermost, const std::int64_t* loop_values) const;

  /// Returns the array that contains this element of DRAM.
  const BoundArray& array_at(std::int64_t cell) const;
  /// Returns "c[0][1]", the name of this element of DRAM.
  std::string cell_name(std::int64_t cell) const;
};

/// Returns by parameter whether its value is the machine's number, or follows from it.
std::vector<char> params_of_rank(const Program& program);

/// Gives every parameter its value, and checks everything that does not need execution: parameters
/// are known and whole, extents are at least 0, the register limit holds, fixed registers and
/// cells are in range, steps are positive, and index arithmetic fits 64 bits. Errors name the
/// place in the source. A program with .machines is bound for machine Binding::machine; without that
/// number it is refused (bind/machines.hpp binds all of them).
Result<BoundProgram> bind(std::shared_ptr<const Program> program, const Binding& binding);

}  // namespace flashlab::toy
