// Which operands of an instruction can stand in each other's place, and which instructions in each
// other's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Whether two instructions take the same operands. Pinned factors count as other sources, and a cell
/// that is added to as one that is stored.
bool same_operands(const toy::InstructionSpec& a, const toy::InstructionSpec& b);

/// Changes a product into one that also adds to its destination, or the reverse: the same
/// arithmetic with one source more or less. Returns false for other pairs of instructions.
bool refit(const toy::InstructionSpec& from, const toy::InstructionSpec& to,
           std::vector<toy::Operand>& operands);

/// Whether the instruction copies a register.
bool is_copy(const toy::InstructionSpec& spec);

/// Whether the instruction computes a value from two registers.
bool takes_two(const toy::InstructionSpec& spec);

/// Whether the i-th factor is R(i).
bool is_pinned(const toy::InstructionStatement& instruction);

/// Whether exchanging the two sources of an instruction (row of instruction_set()) changes its
/// result: a difference or a quotient of numbers.
bool order_matters(std::size_t row);

/// Returns the two sources whose exchange changes the result: those of a difference or a quotient,
/// and the factors of a product of tiles.
std::optional<std::pair<std::size_t, std::size_t>> exchangeable(const toy::InstructionSpec& spec,
                                                                bool tiled);

/// Returns the operand's name in the instruction's specification: "Rd".
std::string operand_name(const toy::InstructionSpec& spec, std::size_t position);

}  // namespace flashlab::exercises
