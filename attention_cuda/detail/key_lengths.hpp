// Copies key lengths from host memory to the device.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

/// Stores call.problem.key_lengths with kernel parameters. A copy from host memory would be wrong
/// in a captured graph, which may run after that memory is freed; and this call does not wait.
void store_key_lengths(const Call& call, std::int64_t* to);

}  // namespace flashlab::cuda
