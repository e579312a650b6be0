// Does a GPU, or compute-sanitizer, show a missing fence.proxy.async? Runs store_ones_kernel without
// and with the fence, and counts the elements that are not 1. Exit code 1 if the one with the fence has
// any. Run it alone, and under each tool of compute-sanitizer:
//
//   missing_fence [BLOCKS [RUNS]]
//   compute-sanitizer --tool racecheck missing_fence 132 1
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "attention_cuda/bench/missing_fence.cuh"

using namespace flashlab::cuda;

namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
  std::exit(2);
}

template <bool kFences>
long count_wrong(int num_blocks, int num_runs) {
  const std::size_t count = static_cast<std::size_t>(num_blocks) * kFenceTileBytes / 2;
  std::uint16_t* memory = nullptr;
  check(cudaMalloc(&memory, 2 * count), "cudaMalloc");
  ptx::TensorLayout layout;
  layout.data = memory;
  layout.sizes[0] = 64;
  layout.sizes[1] = static_cast<std::uint64_t>(num_blocks) * kFenceRows;
  layout.strides[1] = 128;
  layout.box_rows = kFenceRows;
  const ptx::TensorMap map = ptx::make_tensor_map(layout);
  std::vector<std::uint16_t> stored(count);
  long wrong = 0;
  for (int run = 0; run < num_runs; ++run) {
    check(cudaMemset(memory, 0, 2 * count), "cudaMemset");
    store_ones_kernel<kFences><<<num_blocks, kFenceThreads, kFenceTileBytes + 1024>>>(map);
    check(cudaGetLastError(), "store_ones_kernel");
    check(cudaMemcpy(stored.data(), memory, 2 * count, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (const std::uint16_t element : stored) wrong += element != (kTwoOnes & 0xFFFF);
  }
  check(cudaFree(memory), "cudaFree");
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int num_blocks = argc > 1 ? std::atoi(argv[1]) : 10000;
  const int num_runs = argc > 2 ? std::atoi(argv[2]) : 100;
  if (num_blocks < 1 || num_runs < 1) {
    std::fprintf(stderr, "usage: missing_fence [BLOCKS [RUNS]], both 1 or more\n");
    return 2;
  }
  const long without = count_wrong<false>(num_blocks, num_runs);
  const long with = count_wrong<true>(num_blocks, num_runs);
  const double all = static_cast<double>(num_blocks) * num_runs * kFenceTileBytes / 2;
  std::printf("wrong elements of %.0f: without the fence %ld, with it %ld\n", all, without, with);
  return with == 0 ? 0 : 1;
}
