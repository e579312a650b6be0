#include "attention_cuda/emulation/async/tensor_map.hpp"

#include <stdexcept>
#include <string>

namespace flashlab::cuda::emulation {

std::size_t TensorMap::box_bytes() const {
  std::size_t bytes = static_cast<std::size_t>(element_bytes);
  for (int axis = 0; axis < rank; ++axis) bytes *= box[axis];
  return bytes;
}

void TensorMap::require_aligned(std::size_t shared_at, const char* operation) const {
  if (shared_at % 128 != 0) {
    throw std::logic_error(std::string(operation) + " at byte " + std::to_string(shared_at) +
                           " of shared memory; expected a multiple of 128");
  }
}

}  // namespace flashlab::cuda::emulation
