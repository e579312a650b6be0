// A launch whose tiles are in the threads' registers, as CUDA C++.
#pragma once

#include <string>

#include "generate/plan/fragment_plan.hpp"
#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Returns the kernel. Precondition: launch.fragments.
std::string fragment_kernel(const toy::BoundProgram& program, const Plan& plan,
                            const Launch& launch, const std::string& name);

}  // namespace flashlab::generate
