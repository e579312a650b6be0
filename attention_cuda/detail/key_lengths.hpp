// Key lengths that the caller has in host memory, brought to the device.
#pragma once

#include <cstdint>

#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

/// call.problem.key_lengths, as kernel parameters: no copy that a captured graph would repeat from
/// memory that is gone, and nothing that waits.
void store_key_lengths(const Call& call, std::int64_t* to);

}  // namespace flashlab::cuda
