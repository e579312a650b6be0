// The effect of an instruction on numbers, outside of any program.
#pragma once

#include <cstddef>
#include <span>

namespace flashlab::toy {

/// Returns the result of the instruction in this row of instruction_set() for these operands.
/// Errors: std::logic_error for an instruction that takes more than numbers (offsets of a tile).
double effect_on_numbers(std::size_t row, std::span<const double> operands);

}  // namespace flashlab::toy
