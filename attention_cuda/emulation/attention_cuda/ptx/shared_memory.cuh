// Stands in for attention_cuda/ptx/shared_memory.cuh.
#pragma once

#include "attention_cuda/emulation/fibers.hpp"

namespace flashlab::cuda::ptx {

inline unsigned char* shared_memory() { return emulation::shared_bytes().data(); }

}  // namespace flashlab::cuda::ptx
