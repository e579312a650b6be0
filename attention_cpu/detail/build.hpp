// Every file that is compiled once for each instruction set includes this first. FLASHLAB_CPU_BUILD
// names the build and its namespace, and renames Eigen's namespace: the linker keeps one copy of
// each template, and that copy might use instructions that another processor lacks. For the same
// reason these files use no part of the standard library that emits functions: no containers, no
// streams, no std::function.
#pragma once

#ifndef FLASHLAB_CPU_BUILD
#define FLASHLAB_CPU_BUILD baseline
#endif

#define FLASHLAB_JOIN_NAMES(a, b) FLASHLAB_JOIN_EXPANDED(a, b)
#define FLASHLAB_JOIN_EXPANDED(a, b) a##b
#define Eigen FLASHLAB_JOIN_NAMES(FlashlabCpuEigen_, FLASHLAB_CPU_BUILD)
#define EIGEN_DONT_PARALLELIZE
