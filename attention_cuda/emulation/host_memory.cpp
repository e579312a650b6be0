// For callers without CUDA tensors: the emulated library accepts CPU tensors.
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/flashlab.h"

/// Only an emulated library has this function.
extern "C" FLASHLAB_API void flashlab_emulation_take_host_memory(int num_threads) {
  flashlab::cuda::emulation::take_host_memory();
  flashlab::cuda::emulation::set_num_threads(num_threads);
}
