// Additions to dQ in a fixed order, beside the warpgroups that compute.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/backward_wgmma/key_tiles.cuh"
#include "attention_cuda/kernels/backward_wgmma/sums_of_dQ.cuh"
#include "attention_cuda/ptx/turn.cuh"

namespace flashlab::cuda {

/// By one thread, if blocks take turns: adds dQ of every second tile, from number `first` on, of the
/// block's K/V tile number `taken`. Between two additions to a tile lie the end of the first one and a
/// round trip to L2, which takes as long as the products of a tile: so two threads take turns, too.
template <class Config>
__device__ void add_in_turn(const BwdWgmmaShared<Config>& shared,
                            const BwdWgmmaArguments& arguments, std::uint32_t taken,
                            std::uint32_t first) {
  BwdWgmmaTile tile = handed_over(shared, arguments, taken).first(arguments.sizes);
#pragma unroll 1
  while (true) {
    auto work = handed_over(shared, arguments, taken);  // read again: registers are few
    work.visible.ranges = {};                           // packed sequences take no turns
    if (!work.is_there(tile)) return;
    if (tile.number % 2 == first) {
      int* const turns = arguments.turns + work.number_of_tile(tile, arguments);
      ptx::mbarrier_wait(shared.sums_full(0, tile.number), tile.number / 2 % 2);
      ptx::wait_for_turn(turns, work.blocks_before(tile.q_tile, arguments.sizes));
#pragma unroll 1
      for (int warpgroup = 0; warpgroup < Config::kComputing; ++warpgroup) {
        ptx::mbarrier_wait(shared.sums_full(warpgroup, tile.number), tile.number / 2 % 2);
        ptx::add_floats(sums_of_part<Config>(arguments.dQ_sums, turns - arguments.turns, warpgroup),
                        shared.sums(warpgroup), bytes_of_part<Config>(warpgroup));
        ptx::commit_stores();
        ptx::wait_stores_read<0>();
        ptx::mbarrier_arrive(shared.sums_empty(warpgroup));
      }
      ptx::wait_stores<0>();
      ptx::end_turn(turns);
    }
    tile = work.next(tile);
  }
}

/// The same for all K/V tiles of the block.
template <class Config>
__device__ __forceinline__ void add_all_in_turn(const BwdWgmmaShared<Config>& shared,
                                                const BwdWgmmaArguments& arguments,
                                                std::uint32_t first) {
#pragma unroll 1
  for (std::uint32_t taken = 0; wait_for_work(shared, arguments, taken).is_there(); ++taken) {
    add_in_turn(shared, arguments, taken, first);
    ptx::mbarrier_arrive(shared.work_empty(taken % 2));
  }
}

}  // namespace flashlab::cuda
