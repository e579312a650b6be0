// The tiles that flash2_fp32 is compiled with, for a benchmark that times them all.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "attention_cuda/detail/call.hpp"

namespace flashlab::cuda {

struct Flash2Fp32Choice {
  std::string_view tiles;  // "128 x 64, 4 warps": queries, keys
  int head_dim;            // the largest that it takes
  std::size_t shared_bytes;
  void (*launch)(const ForwardCall&);
};

/// For each head_dim the default first; of those that do not fit a GPU's shared memory the next.
std::span<const Flash2Fp32Choice> flash2_fp32_choices();

}  // namespace flashlab::cuda
