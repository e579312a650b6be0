// One instruction bound by itself, where its program is bound already.
#pragma once

#include <cstdint>
#include <optional>

#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/language/program.hpp"

namespace flashlab::exercises {

/// As bind() would bind it inside the loop (toy::kNoLoop: outside all). Names are looked up by
/// name, so that the line may stem from another program. A constant operand is `constants` on from
/// the registers. Nothing when bind() would refuse the line, or when it holds an expression that is
/// not made of numbers, parameters, loops, sizes, + - * and min or max of fixed values.
std::optional<toy::BoundInstruction> bind_line(const toy::InstructionStatement& line,
                                               const toy::BoundProgram& program,
                                               std::uint32_t loop);

/// The value of a constant expression of that kind, or of inf.
std::optional<double> constant_value(const toy::Expression& expression,
                                     const toy::BoundProgram& program);

}  // namespace flashlab::exercises
