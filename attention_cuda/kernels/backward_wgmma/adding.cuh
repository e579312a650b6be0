// Additions to dQ in a fixed order, beside the warpgroups that compute.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/ptx/turn.cuh"

namespace flashlab::cuda {

/// By one thread, if blocks take turns: adds dQ of every second tile, from number `first` on. Between
/// two additions to a tile lie the end of the first one and a round trip to L2, which takes as long as
/// the products of a tile: so two threads take turns, too.
template <class Config>
__device__ void add_in_turn(const BwdWgmmaShared<Config>& shared, const BwdWgmmaWork<Config>& work,
                            const BwdWgmmaArguments& arguments, std::uint32_t first) {
#pragma unroll 1
  for (BwdWgmmaTile tile = work.first(arguments.sizes); work.is_there(tile);
       tile = work.next(tile)) {
    if (tile.number % 2 != first) continue;
    const std::int64_t number = work.number_of_tile(tile, arguments);
    const int blocks_before = work.blocks_before(tile.q_tile, arguments.sizes);
#pragma unroll 1
    for (int warpgroup = 0; warpgroup < Config::kComputing; ++warpgroup) {
      ptx::mbarrier_wait(shared.sums_full(warpgroup, tile.number), tile.number / 2 % 2);
      if (warpgroup == 0) ptx::wait_for_turn(arguments.turns + number, blocks_before);
      const std::int64_t part = number * Config::kComputing + warpgroup;
      ptx::add_floats(arguments.dQ_sums + part * Config::kSumsOfPart, shared.sums(warpgroup),
                      4 * Config::kSumsOfPart);
      ptx::commit_stores();
      ptx::wait_stores_read<0>();
      ptx::mbarrier_arrive(shared.sums_empty(warpgroup));
    }
    ptx::wait_stores<0>();
    ptx::end_turn(arguments.turns + number);
  }
}

}  // namespace flashlab::cuda
