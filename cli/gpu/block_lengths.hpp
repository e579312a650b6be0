// How the blocks of a launch differ in length.
#pragma once

#include <vector>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::cli {

/// Returns the iterations of each block of a problem, in their order, of the first loop whose range depends on the
/// block: under a causal mask, that over tiles of keys. Empty: there is no such loop, its range depends on
/// more, or there are more than 50,000 blocks, which then count as equally long.
std::vector<double> block_lengths(const toy::BoundProgram& program, const generate::Launch& launch);

}  // namespace flashlab::cli
