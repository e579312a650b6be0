// The public description of instructions. The rows are in instruction_table.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "toymachine/language/operations.hpp"

namespace flashlab::toy {

/// The three machines of the toy-model notes; each includes the one before.
enum class Level : std::uint8_t { kMatmul, kSoftmax, kAttention };

/// How one operand is written and used.
enum class OperandKind : std::uint8_t {
  kSource,        // a register that is read
  kFactor,        // a register that is read; under pinned operands the i-th factor must be R(i)
  kDestination,   // a register that is written
  kMemorySource,  // an array cell that is read
  kMemoryDestination,   // an array cell that is written
  kMemoryUpdate,        // an array cell that is read and written in one step
  kConstant,            // a real number known before the run: an expression, not a register
  kOffset,              // a whole number: an expression over loops, such as an element's row
  kMessageSource,       // an array cell that is sent to another machine
  kMessageDestination,  // an array cell that another machine's message fills
  kSender,              // the number of the machine whose message is received
  kReceiver,            // the number of the machine to which a message is sent
};

inline constexpr std::size_t kMaxOperands = 4;

/// One row of the table: everything about an instruction except its effect on values.
struct InstructionSpec {
  std::string_view mnemonic;
  std::array<OperandKind, kMaxOperands> operands{};
  std::size_t num_operands = 0;
  std::string_view operand_names;  // as in the notes: "Ra, Rb, Rd"
  std::string_view effect;         // register notation: "Rd = Ra x Rb"
  std::string_view meaning;        // one sentence for a learner
  std::array<bool, 3> levels{};    // indexed by Level
  FlopKind flop_kind = FlopKind::kNone;
  std::int64_t flops = 0;   // FLOPs per unit of work
  std::int64_t cycles = 1;  // default of the cost table
  std::string_view example;

  constexpr std::span<const OperandKind> kinds() const { return {operands.data(), num_operands}; }
  constexpr bool in(Level level) const { return levels[static_cast<std::size_t>(level)]; }
  constexpr bool has(OperandKind kind) const {
    for (std::size_t i = 0; i < num_operands; ++i) {
      if (operands[i] == kind) return true;
    }
    return false;
  }
  /// Whether an expression may stand for a register that is read, if the program's .operands allow it:
  /// where numbers are combined element by element. A single source would be a constant again.
  constexpr bool takes_constants() const {
    std::size_t sources = 0;
    for (const OperandKind kind : kinds()) {
      if (kind != OperandKind::kSource && kind != OperandKind::kDestination) return false;
      sources += kind == OperandKind::kSource ? 1 : 0;
    }
    return sources > 1;
  }
  /// Whether it hides elements by their place: the offsets are a tile's first row and column.
  constexpr bool is_mask() const {
    std::size_t offsets = 0;
    for (const OperandKind kind : kinds()) offsets += kind == OperandKind::kOffset ? 1 : 0;
    return offsets == 2;
  }
  constexpr bool is_load() const { return has(OperandKind::kMemorySource); }
  constexpr bool is_store() const { return has(OperandKind::kMemoryDestination); }
  constexpr bool is_update() const { return has(OperandKind::kMemoryUpdate); }
  constexpr bool is_send() const { return has(OperandKind::kReceiver); }
  constexpr bool is_receive() const { return has(OperandKind::kSender); }
  /// Whether it uses a link between machines. No level has these; programs with .machines have.
  constexpr bool is_link() const { return is_send() || is_receive(); }
};

constexpr bool is_register(OperandKind kind) {
  return kind == OperandKind::kSource || kind == OperandKind::kFactor ||
         kind == OperandKind::kDestination;
}
constexpr bool is_register_read(OperandKind kind) {
  return kind == OperandKind::kSource || kind == OperandKind::kFactor;
}
/// Whether an effect reads the operand.
constexpr bool is_read(OperandKind kind) {
  return kind != OperandKind::kDestination && kind != OperandKind::kMemoryDestination &&
         kind != OperandKind::kMessageDestination && kind != OperandKind::kReceiver;
}
constexpr bool is_memory(OperandKind kind) {
  return kind == OperandKind::kMemorySource || kind == OperandKind::kMemoryDestination ||
         kind == OperandKind::kMemoryUpdate || kind == OperandKind::kMessageSource ||
         kind == OperandKind::kMessageDestination;
}
constexpr bool is_memory_write(OperandKind kind) {
  return kind == OperandKind::kMemoryDestination || kind == OperandKind::kMemoryUpdate ||
         kind == OperandKind::kMessageDestination;
}
/// Whether the operand is the number of another machine.
constexpr bool is_machine(OperandKind kind) {
  return kind == OperandKind::kSender || kind == OperandKind::kReceiver;
}

/// All rows, in the order of the table. Everywhere else, a row is identified by its position.
std::span<const InstructionSpec> instruction_set();

/// Finds the row of a mnemonic, ignoring letter case.
std::optional<std::size_t> find_instruction(std::string_view mnemonic);

std::string_view to_string(Level level);
std::optional<Level> parse_level(std::string_view name);

}  // namespace flashlab::toy
