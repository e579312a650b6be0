// An instruction's effect on numbers, outside of any program.
#pragma once

#include <cstddef>
#include <span>

namespace flashlab::toy {

/// What the instruction in this row of instruction_set() makes of the numbers that it reads,
/// operand by operand. Errors: std::logic_error for one that takes more than numbers (offsets of a
/// tile).
double effect_on_numbers(std::size_t row, std::span<const double> operands);

}  // namespace flashlab::toy
