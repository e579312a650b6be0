// All machines of a program as one straight line, for graders that run it many times and compare formulas.
#pragma once

#include <cstdint>

#include "toymachine/execute/unrolled.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::toy {

/// Machine r has the registers from r * n on, where n is the number of a machine's registers, and its part of
/// the arrays of Machines::joined. A message is a load into a register of its link, and a store from
/// there. UnrolledStep::site is that of each machine's program, which is the same text. A program
/// without .machines is unrolled as unroll() does.
/// Errors: those of unroll(), for each machine; Fault::kRequest if a run fails because of a link: machines that
/// wait for each other, a message that is left or changes its type.
Result<UnrolledProgram> unroll_machines(const Machines& machines, std::uint64_t max_steps);

}  // namespace flashlab::toy
