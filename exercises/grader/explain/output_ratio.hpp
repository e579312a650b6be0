// One number between an output and what it should be: a factor that is missing, or one too many.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/exercise/exercise.hpp"

namespace flashlab::exercises {

/// Returns the names of all numbers c ("1/scale", "-1", "n - 1") for which every element of the output is c
/// times what it should be, on the size's inputs. Empty if the run fails.
std::set<std::string> output_ratios(const ProgramTask& task,
                                    const std::shared_ptr<const toy::Program>& program,
                                    const std::string& output, const SizedCases& sized);

}  // namespace flashlab::exercises
