// What needs no GPU of the installed libraries for one.
#include <iostream>

#include "attention_cuda/flashlab.h"
#include "attention_cuda/registry.hpp"

int main() {
  for (const flashlab::cuda::KernelRow* const row : flashlab::cuda::kernels()) {
    if (row->variant == "online") std::cout << row->stem << "\n";
  }
  return flashlab_version() == nullptr ? 1 : 0;
}
