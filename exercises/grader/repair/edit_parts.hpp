// The parts of edits: expressions and operands that differ slightly from given ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/repair/edits.hpp"
#include "toymachine/language/expression.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// The loop variables that are visible to a line, outermost first; expressions of kind kLoopVar.
using LoopScope = std::vector<toy::ExpressionPtr>;

/// Returns `e + change`, simplified if that is shorter: i + 1 - 1 is i. Returns `e` itself if a number
/// in it would not fit 64 bits.
toy::ExpressionPtr shifted(const toy::ExpressionPtr& e, int change);

/// Returns alternatives for the index `e`: one more, one less, other loop variables.
std::vector<toy::ExpressionPtr> other_indices(const toy::ExpressionPtr& e, const LoopScope& scope);

/// Returns the operand as the program writes it: "R1", "NUM[c]", "x[i]", "-inf".
std::string operand_text(const toy::Operand& operand, const toy::Program& program);

/// Returns the register with this name and index (null: a name without an index).
toy::Operand named_register(const toy::Program& program, std::size_t name,
                            const toy::ExpressionPtr& index);

/// Returns the line of the loop's `end`, which the program does not store.
std::uint32_t end_line(const toy::Program& program, const toy::LoopStatement& loop);

/// Whether an array is declared in tiles.
bool is_tiled(const toy::Program& program);

struct OtherOperand {
  EditKind kind = EditKind::kRegister;
  toy::Operand operand;
};

/// Returns all alternatives for an operand.
std::vector<OtherOperand> other_operands(const toy::Program& program,
                                         const toy::InstructionStatement& instruction,
                                         std::size_t position, const LoopScope& scope,
                                         const EditOptions& options);

}  // namespace flashlab::exercises
