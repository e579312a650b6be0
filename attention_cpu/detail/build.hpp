// Included first by every file that is compiled once for each instruction set. FLASHLAB_CPU_BUILD
// names the build and its namespace, and renames Eigen's, so that the linker, which keeps one copy
// of each template, cannot hand one processor's code to another. For the same reason these files
// use nothing of the standard library that would leave a function behind: no containers, no
// streams, no std::function.
#pragma once

#ifndef FLASHLAB_CPU_BUILD
#define FLASHLAB_CPU_BUILD baseline
#endif

#define FLASHLAB_JOIN_NAMES(a, b) FLASHLAB_JOIN_EXPANDED(a, b)
#define FLASHLAB_JOIN_EXPANDED(a, b) a##b
#define Eigen FLASHLAB_JOIN_NAMES(FlashlabCpuEigen_, FLASHLAB_CPU_BUILD)
#define EIGEN_DONT_PARALLELIZE
