// What racecheck says of a warp whose lane 0 arrives at an mbarrier for all its lanes.
//
// A warp writes tiles to shared memory, and another warp reads them. Two mbarriers for each tile say that
// it is full, and empty. Either every lane arrives, or all lanes meet at __syncwarp and lane 0 arrives
// for them. Both are right: __syncwarp orders the lanes' accesses before what lane 0 does afterwards.
//
//   compute-sanitizer --tool racecheck one_lane_arrives writer|reader|both|none
//
// The argument says which warps have one lane arrive for them. On an H200, compute-sanitizer of CUDA 13.0
// reported 6 to 8 hazards for both, reader and writer, and 0 for none (of this exchange with the choice
// as template arguments). So it does not follow the order through __syncwarp to the mbarrier, and such
// reports are no sign of a fault.
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {
namespace {

constexpr int kLanes = 32, kStages = 2, kTiles = 8;

/// out: [kLanes], the sum of what each lane read.
__global__ void exchange_kernel(bool all_writers_arrive, bool all_readers_arrive, float* out) {
  __shared__ alignas(16) float tiles[kStages][2 * kLanes];
  __shared__ alignas(8) std::uint64_t full[kStages], empty[kStages];
  const bool writes = threadIdx.x < kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(ptx::shared_address(&full[stage]), all_writers_arrive ? kLanes : 1);
      ptx::mbarrier_init(ptx::shared_address(&empty[stage]), all_readers_arrive ? kLanes : 1);
    }
  }
  __syncthreads();
  float sum = 0;
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    const std::uint32_t stage = tile % kStages, parity = tile / kStages % 2;
    const ptx::SharedAddress values = ptx::shared_address(tiles[stage]);
    if (writes) {
      ptx::mbarrier_wait(ptx::shared_address(&empty[stage]), parity ^ 1);
      ptx::store_shared(values + 4 * lane, __float_as_uint(static_cast<float>(tile)));
      ptx::store_shared(values + 4 * (kLanes + lane), __float_as_uint(1.0F));
      __syncwarp();
      if (all_writers_arrive || lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&full[stage]));
    } else {
      ptx::mbarrier_wait(ptx::shared_address(&full[stage]), parity);
      const float2 pair = ptx::load_shared_float2(values + 8 * (kLanes - 1 - lane));
      sum += pair.x + pair.y;
      __syncwarp();
      if (all_readers_arrive || lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&empty[stage]));
    }
  }
  if (!writes) out[lane] = sum;
}

}  // namespace
}  // namespace flashlab::cuda

int main(int argc, char** argv) {
  using flashlab::cuda::kLanes, flashlab::cuda::kTiles;
  const std::string_view who = argc == 2 ? argv[1] : "";
  if (who != "writer" && who != "reader" && who != "both" && who != "none") {
    std::fprintf(stderr, "usage: one_lane_arrives writer|reader|both|none\n");
    return 2;
  }
  float* memory = nullptr;
  float sums[kLanes] = {};
  cudaError_t error = cudaMalloc(&memory, sizeof sums);
  if (error == cudaSuccess) {
    flashlab::cuda::exchange_kernel<<<1, 2 * kLanes>>>(who == "reader" || who == "none",
                                                       who == "writer" || who == "none", memory);
    error = cudaMemcpy(sums, memory, sizeof sums, cudaMemcpyDeviceToHost);
  }
  if (error != cudaSuccess) {
    std::fprintf(stderr, "one_lane_arrives: %s\n", cudaGetErrorString(error));
    return 1;
  }
  // Lane 0 reads the last pair: the first half of the lanes reads two ones of each tile, the others its
  // number twice.
  int wrong = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const float expected = lane < kLanes / 2 ? 2.0F * kTiles : kTiles * (kTiles - 1.0F);
    wrong += sums[lane] != expected;
  }
  std::printf("wrong sums: %d\n", wrong);
  return wrong == 0 ? 0 : 1;
}
