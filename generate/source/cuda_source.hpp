// A planned program as CUDA C++.
#pragma once

#include <cstddef>
#include <string>

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Returns "flash2_1", the name of the kernel of a launch. `program` may be any text.
std::string kernel_name(const std::string& program, std::size_t launch);

/// Returns a self-contained source: the device functions, then a kernel for each launch. A kernel's
/// parameters are pointers to the arrays of Launch::arrays, in this order; its block has
/// Launch::threads threads and Plan::shared_bytes() bytes of dynamic shared memory. The grid's second
/// axis counts problems of this size, whose arrays lie one after the other. It compiles
/// with nvcc, with NVRTC, and with a C++ compiler on flashlab's emulation of a GPU. With the same
/// inputs it computes what the machine computes on floats, bit for bit, except for logarithms on a
/// GPU, whose last bit may differ, and for the order of additions in one step. At level 1, the factors
/// of products are rounded to 16 bits, and tensor cores add in their own order. At level 2, it needs
/// compute capability 9.0 (sm_90a), and a tensor map for each of Launch::boxed follows the pointers.
std::string cuda_source(const toy::BoundProgram& program, const Plan& plan,
                        const std::string& name);

/// Returns only the kernels, for a source that has the device functions already.
std::string cuda_kernels(const toy::BoundProgram& program, const Plan& plan,
                         const std::string& name);

/// Returns only the kernel of a launch.
std::string cuda_kernel(const toy::BoundProgram& program, const Plan& plan, const std::string& name,
                        std::size_t launch);

/// Returns the device functions: `namespace toy`. Level 1 has products on tensor cores, level 2 those
/// of compute capability 9.0.
std::string device_functions(int level);

}  // namespace flashlab::generate
