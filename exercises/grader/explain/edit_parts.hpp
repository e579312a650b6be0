// The pieces of edits: expressions and operands a little different from given ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exercises/grader/explain/edits.hpp"
#include "toymachine/language/expression.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Loop variables that a line can see, outermost first; expressions of kind kLoopVar.
using LoopScope = std::vector<toy::ExpressionPtr>;

/// `e + change`, folded where that is shorter: i + 1 - 1 is i.
toy::ExpressionPtr shifted(const toy::ExpressionPtr& e, int change);

/// What may stand where `e` does: one more, one less, other loops' variables.
std::vector<toy::ExpressionPtr> other_indices(const toy::ExpressionPtr& e, const LoopScope& scope);

/// As the program writes it: "R1", "NUM[c]", "x[i]", "-inf".
std::string operand_text(const toy::Operand& operand, const toy::Program& program);

/// The register that the program calls by this name and index (null: a name without one).
toy::Operand named_register(const toy::Program& program, std::size_t name,
                            const toy::ExpressionPtr& index);

/// The line of the loop's `end`, which the program does not keep.
std::uint32_t end_line(const toy::Program& program, const toy::LoopStatement& loop);

struct OtherOperand {
  EditKind kind = EditKind::kRegister;
  toy::Operand operand;
};

/// Everything that may stand in an operand's place.
std::vector<OtherOperand> other_operands(const toy::Program& program,
                                         const toy::InstructionStatement& instruction,
                                         std::size_t position, const LoopScope& scope,
                                         const EditOptions& options);

}  // namespace flashlab::exercises
