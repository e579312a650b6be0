#include <algorithm>

#include "attention_cuda/detail/key_lengths.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {
namespace {

struct SomeNumbers {
  std::int64_t values[kNumbersAtOnce];
  int count;
};

__global__ void store_numbers_kernel(SomeNumbers numbers, std::int64_t* to) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < numbers.count) to[k] = numbers.values[k];
}

}  // namespace

void store_numbers(const Call& call, std::string_view name, const std::vector<std::int64_t>& all,
                   std::int64_t* to) {
  for (std::size_t first = 0; first < all.size(); first += kNumbersAtOnce) {
    SomeNumbers some = {};
    some.count = static_cast<int>(std::min<std::size_t>(kNumbersAtOnce, all.size() - first));
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), some.count, some.values);
    launch(call, name, store_numbers_kernel, {1, kNumbersAtOnce}, some, to + first);
  }
}

}  // namespace flashlab::cuda
