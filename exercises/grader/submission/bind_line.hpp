// Binds one instruction into a program that is already bound.
#pragma once

#include <cstdint>
#include <optional>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// Binds the line as bind() would inside the loop (toy::kNoLoop: outside all loops). Resolves names
/// by their text, so that the line may come from another program. The index of a constant operand
/// counts from the end of the registers into `constants`. Returns nothing if bind() would reject
/// the line, or if an expression contains anything but numbers, parameters, loops, sizes, + - * and
/// min or max of fixed values.
std::optional<toy::BoundInstruction> bind_line(const toy::InstructionStatement& line,
                                               const toy::BoundProgram& program,
                                               std::uint32_t loop);

/// Returns the value of such a constant expression, or of inf.
std::optional<double> constant_value(const toy::Expression& expression,
                                     const toy::BoundProgram& program);

}  // namespace flashlab::exercises
