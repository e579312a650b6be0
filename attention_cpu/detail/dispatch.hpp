// The builds of the kernels, and which one runs here.
#pragma once

#include "attention_cpu/attention.hpp"
#include "attention_cpu/detail/kernels.hpp"

namespace flashlab::cpu::detail {

/// Throws ProblemError when this build or this processor has no such instructions.
const KernelTable& kernels_for(InstructionSet set);

}  // namespace flashlab::cpu::detail
