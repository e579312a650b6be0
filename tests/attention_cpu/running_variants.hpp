// The variants and the builds of the kernels that tests run over.
#pragma once

#include <string_view>
#include <vector>

#include "attention_cpu/attention.hpp"

namespace flashlab::test {

/// The variants of a pass that the CPU has, found by asking for each of the registry's.
std::vector<std::string_view> variants_here(Pass pass,
                                            cpu::InstructionSet set = cpu::best_instruction_set());

}  // namespace flashlab::test
