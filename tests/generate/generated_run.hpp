// Runs generated code in the emulation.
#pragma once

#include <vector>

#include "generate/plan/plan.hpp"
#include "tests/generate/cases/cases.hpp"

namespace flashlab::test {

/// Runs the case's generated code on these elements of DRAM, and returns them afterwards.
std::vector<double> run_generated(const GenerateCase& one, std::vector<double> dram);

bool has_updates(const toy::BoundProgram& program);

/// Returns the bytes that blocks after the first load again, before the loop that is the grid.
toy::Count repeated_bytes(const generate::Plan& plan);

}  // namespace flashlab::test
