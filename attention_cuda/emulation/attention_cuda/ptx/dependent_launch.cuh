// Stands in for attention_cuda/ptx/dependent_launch.cuh. Kernels run one after the other; what is
// checked is that every thread of an overlapping launch waits.
#pragma once

#include "attention_cuda/emulation/dependent_launch.hpp"

namespace flashlab::cuda::ptx {

inline void let_next_kernel_start() {}

inline void wait_for_previous_kernels() { emulation::note_wait_for_previous_kernels(); }

}  // namespace flashlab::cuda::ptx
