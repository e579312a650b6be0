// Programs that differ from a given one by a single edit: a typical mistake, or a possible repair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

enum class EditKind : std::uint8_t {
  kRegister,       // another register in an operand's place
  kMnemonic,       // another instruction with the same operands, or one that also reads Rd
  kArray,          // another array of as many axes
  kIndex,          // another index: one more, one less, another loop variable, two exchanged
  kBound,          // a loop that begins or ends one earlier or later
  kStep,           // a loop with a step one larger or smaller
  kConstant,       // another constant
  kTransposition,  // ^T added, taken away, or moved to the other factor
  kOperands,       // two sources exchanged, or the destination written first
  kDrop,           // an instruction left out
  kSwap,           // two adjacent lines exchanged: instructions, `for` or `end`
  kInsert,         // an instruction added
  kReplace,        // another line in its place
};
inline constexpr std::size_t kNumEditKinds = 13;
std::string_view to_string(EditKind kind);  // "register"

/// One change of one line (kSwap: of two). Line numbers are those of the original program.
struct Edit {
  EditKind kind = EditKind::kRegister;
  std::uint32_t line = 0;        // kInsert: the adjacent line, possibly `for` or `end`
  std::uint32_t other_line = 0;  // kSwap: the second line
  std::string what;              // "R2 instead of R1 as Rd", "without this line"
  std::string text;              // the line after the edit, or the inserted line
  std::size_t site =
      SIZE_MAX;  // of the instruction; SIZE_MAX: the edit is on a loop, or swaps lines across one
  /// The instruction after the edit, or the inserted one. It uses names that are visible at `site`.
  std::shared_ptr<const toy::InstructionStatement> instruction;
  bool behind = false;          // kInsert: the line goes below `line`
  std::size_t loop = SIZE_MAX;  // kBound, kStep, kInsert beside a whole loop: into loop_vars
  int lower_change = 0, upper_change = 0, step_change = 0;
};

struct EditOptions {
  std::vector<std::size_t> rows;   // the machine's instructions, into instruction_set()
  std::int64_t num_registers = 0;  // R0 to R(num_registers - 1), if registers have no names
  bool pinned = false;             // the i-th factor must be R(i)
};

/// Returns all edits except insertions, by line. No two give the same program text. Some results do
/// not assemble or bind.
std::vector<Edit> enumerate_edits(const toy::Program& program, const EditOptions& options);

/// Returns insertions of lines that occur in the program, in `model` or in `other` (may be null), at
/// every place where their names are visible. Loops, arrays and named registers are matched by name.
std::vector<Edit> enumerate_insertions(const toy::Program& program, const toy::Program* model,
                                       const toy::Program* other = nullptr);

/// Returns insertions of "MOV a, b" at the ends of loops, between registers without an index: the round after
/// it needs what this one has computed.
std::vector<Edit> enumerate_copies(const toy::Program& program);

/// Returns edits that put a line of the model, which the program lacks, in the place of a line that the
/// model lacks: an instruction, or a `for` over the same variable. Their kind is that of what differs.
std::vector<Edit> enumerate_replacements(const toy::Program& program, const toy::Program& model);

/// Returns the source after the edit. Line numbers change only below an insertion.
std::string edited_text(const toy::Program& program, const Edit& edit);

/// Returns the program after the edit, or the assembler's errors.
toy::Result<toy::Program> apply(const toy::Program& program, const Edit& edit);

}  // namespace flashlab::exercises
