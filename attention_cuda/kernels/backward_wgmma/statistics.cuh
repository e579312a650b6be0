// lse and delta of query tiles: one warp brings them to shared memory, the warps that compute read them.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"

namespace flashlab::cuda {

/// Whether statistics of a query tile have been read is told by a named barrier of their stage: an
/// instruction of a warp, and an order that racecheck follows. It would not follow one lane that arrives
/// at an mbarrier for its warp, and 32 that arrive take long.
template <class Config>
constexpr int kUseStatistics = Config::kComputing* Config::kWarpgroup + 32;  // threads

/// By all that compute, when they have read the statistics of a stage.
template <class Config>
__device__ __forceinline__ void release_statistics(int stage) {
  ptx::barrier_arrive(Config::kFirstStatistics + stage, kUseStatistics<Config>);
}
/// By the warp that brings statistics: until those of the block's tile `number` have been read.
template <class Config>
__device__ __forceinline__ void wait_until_read(std::uint32_t number) {
  __syncwarp();
  ptx::barrier_sync(Config::kFirstStatistics + BwdWgmmaWork<Config>::stage_of(number),
                    kUseStatistics<Config>);
}
/// By that warp, before it writes those of a tile.
template <class Config>
__device__ __forceinline__ void wait_for_room(const BwdWgmmaShared<Config>&,
                                              const BwdWgmmaTile& tile) {
  if (tile.number >= Config::kStages) wait_until_read<Config>(tile.number - Config::kStages);
}
/// By that warp at the end of all `num_tiles` of the block: a barrier is left as it was found.
template <class Config>
__device__ __forceinline__ void wait_until_all_are_read(std::uint32_t num_tiles) {
  const std::uint32_t stages = Config::kStages;
  for (std::uint32_t i = min(num_tiles, stages); i > 0; --i) wait_until_read<Config>(num_tiles - i);
}

/// By one warp: lse and delta of a query tile. Copies of rows of any length are not for bulk copies. All
/// loads begin before the first one is used, and before there is room for them: one after the other
/// they take longer than a tile does.
template <class Config, class Shared>
__device__ __forceinline__ void load_statistics(const Shared& shared,
                                                const BwdWgmmaWork<Config>& work,
                                                const BwdWgmmaTile& tile,
                                                const BwdWgmmaArguments& arguments) {
  const int lane = static_cast<int>(threadIdx.x) % 32, stage = work.stage(tile);
  const Sizes& sizes = arguments.sizes;
  const std::int64_t head = static_cast<std::int64_t>(work.b) * sizes.num_heads + tile.head;
  constexpr int kRowsOfLane = Config::kBlockQ / 32;
  float lse[kRowsOfLane], delta[kRowsOfLane];
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const int query = tile.q_tile * Config::kBlockQ + lane + 32 * r;
    const bool is_there = query < sizes.seqlen_q;
    lse[r] = is_there ? *arguments.lse.row(work.b, tile.head, query) : -INFINITY;
    delta[r] = is_there ? arguments.delta[head * sizes.seqlen_q + query] : 0.F;
  }
  wait_for_room(shared, tile);
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const QueryStatistics statistics = query_statistics(lse[r], delta[r]);
    const ptx::SharedAddress to = shared.statistics(stage) + 4 * (lane + 32 * r);
    ptx::store_shared(to, __float_as_uint(statistics.lse_log2));
    ptx::store_shared(to + 4 * Config::kBlockQ, __float_as_uint(statistics.delta));
  }
  ptx::mbarrier_arrive(shared.q_full(stage));
}

}  // namespace flashlab::cuda
