// Stands in for attention_cuda/ptx/mma.cuh, which says how the operands are laid out.
#pragma once

#include "attention_cuda/emulation/tensor_core.hpp"

namespace flashlab::cuda::ptx {

using emulation::mma_m16n8k16;
using emulation::mma_m16n8k8_tf32;

}  // namespace flashlab::cuda::ptx
