// Selects a build of the kernels.
#pragma once

#include "attention_cpu/attention.hpp"
#include "attention_cpu/detail/kernels.hpp"

namespace flashlab::cpu::detail {

/// Throws ProblemError if this build or this processor lacks the instruction set.
const KernelTable& kernels_for(InstructionSet set);

}  // namespace flashlab::cpu::detail
