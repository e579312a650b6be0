// Copies key lengths and bounds of sequences from host memory to the device.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

/// Stores numbers with kernel parameters. A copy from host memory would be wrong in a captured graph,
/// which may run after that memory is freed; and this call does not wait.
void store_numbers(const Call& call, std::string_view name, const std::vector<std::int64_t>& all,
                   std::int64_t* to);

}  // namespace flashlab::cuda
