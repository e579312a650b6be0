// Lines whose values reach no result.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// Returns the lines that write registers and on which no stored value depends, in the first case of the size. Nothing
/// is known of lines that are not executed, of several machines and of long runs: they are not returned.
std::set<std::uint32_t> unused_lines(const ProgramTask& task,
                                     const std::shared_ptr<const toy::Program>& program,
                                     const SizedCases& sized);

}  // namespace flashlab::exercises
