// Replaces CUDA's header for kernels and host code that are compiled for the emulation: every CUDA
// thread is a fiber of a processor thread (fibers.hpp).
#pragma once

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

#include "attention_cuda/emulation/device_functions.hpp"
#include "attention_cuda/emulation/peer_api.hpp"
#include "attention_cuda/emulation/runtime_api.hpp"
#include "attention_cuda/emulation/vector_types.hpp"
