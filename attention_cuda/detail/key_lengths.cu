#include <algorithm>

#include "attention_cuda/detail/key_lengths.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {
namespace {

struct SomeLengths {
  std::int64_t values[kKeyLengthsAtOnce];
  int count;
};

__global__ void store_key_lengths_kernel(SomeLengths lengths, std::int64_t* to) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < lengths.count) to[k] = lengths.values[k];
}

}  // namespace

void store_key_lengths(const Call& call, std::int64_t* to) {
  const auto& all = call.problem.key_lengths;
  for (std::size_t first = 0; first < all.size(); first += kKeyLengthsAtOnce) {
    SomeLengths some = {};
    some.count = static_cast<int>(std::min<std::size_t>(kKeyLengthsAtOnce, all.size() - first));
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), some.count, some.values);
    launch(call, "store_key_lengths", store_key_lengths_kernel, {1, kKeyLengthsAtOnce}, some,
           to + first);
  }
}

}  // namespace flashlab::cuda
