// Programs one slip of the pen away from a given one: what a single fault looks like, and what a
// single repair may be.
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
  kMnemonic,       // another instruction with the same operands, or one that adds to Rd
  kArray,          // another array of as many axes
  kIndex,          // another index: one more, one less, another loop's variable, two exchanged
  kBound,          // a loop that begins or ends one earlier or later
  kStep,           // a loop with a step one larger or smaller
  kConstant,       // another constant
  kTransposition,  // ^T added or taken away
  kDrop,           // an instruction left out
  kSwap,           // two neighbouring lines exchanged, be they instructions, `for` or `end`
  kInsert,         // an instruction added
};
inline constexpr std::size_t kNumEditKinds = 11;
std::string_view to_string(EditKind kind);  // "register"

/// One change of one line (kSwap: of two). Line numbers are those of the program before it.
struct Edit {
  EditKind kind = EditKind::kRegister;
  std::uint32_t line = 0;        // kInsert: of the line beside which it goes, `for` and `end` too
  std::uint32_t other_line = 0;  // kSwap: the lower one
  std::string what;              // "R2 instead of R1 as Rd", "without this line"
  std::string text;              // the line afterwards, or the inserted one
  std::size_t site =
      SIZE_MAX;  // of the instruction; of none: a loop, or a line that moves over one
  /// The instruction afterwards, or the inserted one. Expressions name what `site` can see.
  std::shared_ptr<const toy::InstructionStatement> instruction;
  bool behind = false;          // kInsert: the line goes behind `line`
  std::size_t loop = SIZE_MAX;  // kBound, kStep; kInsert beside a whole loop: into loop_vars
  int lower_change = 0, upper_change = 0, step_change = 0;
};

struct EditOptions {
  std::vector<std::size_t> rows;   // instructions of the machine, into instruction_set()
  std::int64_t num_registers = 0;  // R0 to R(this - 1), where registers have no names
  bool pinned = false;             // the i-th factor is R(i): other lines are no program
};

/// All edits but insertions, line by line from the top. No two give the same program text. Some do
/// not assemble, or do not bind.
std::vector<Edit> enumerate_edits(const toy::Program& program, const EditOptions& options);

/// Insertions of lines that stand in the program already or in `model` (may be null) anywhere that
/// they can be read: loops, arrays and named registers are matched by name.
std::vector<Edit> enumerate_insertions(const toy::Program& program, const toy::Program* model);

/// The source after the edit. All other lines keep their numbers, but those below an insertion.
std::string edited_text(const toy::Program& program, const Edit& edit);

/// The program after the edit; errors as the assembler gives them.
toy::Result<toy::Program> apply(const toy::Program& program, const Edit& edit);

}  // namespace flashlab::exercises
