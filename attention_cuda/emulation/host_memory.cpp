// For callers that find no CUDA tensors: the emulated library takes those of the CPU.
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/flashlab.h"

/// A library that has this function is emulated.
extern "C" FLASHLAB_API void flashlab_emulation_take_host_memory(int num_threads) {
  flashlab::cuda::emulation::take_host_memory();
  flashlab::cuda::emulation::set_num_threads(num_threads);
}
