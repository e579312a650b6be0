// The K/V tiles that a block takes one after the other. The thread that loads takes them from a counter
// in global memory, ahead of the others, and hands them over in shared memory.
//
// Blocks take tiles in order, the first one of each included. So tiles that take turns
// (BwdWgmmaArguments::turns) only wait for tiles that are under way, even if some blocks start late. A
// tile that was taken is computed, whatever the flag says: it is read before.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/kernels/forward_wgmma/stop_flag.cuh"

namespace flashlab::cuda {

/// By one thread, before it loads: hands over the block's K/V tile number `taken`, or that there is none.
template <class Config>
__device__ void hand_over(const BwdWgmmaShared<Config>& shared, const BwdWgmmaWork<Config>& work,
                          std::uint32_t taken) {
  const std::uint32_t slot = taken % 2;
  ptx::mbarrier_wait(shared.work_empty(slot), taken / 2 % 2 ^ 1);
  ptx::store_shared(shared.work(slot),
                    make_float4(__int_as_float(work.b), __int_as_float(work.kv_head),
                                __int_as_float(work.first_key), __int_as_float(work.first_tile)));
  ptx::store_shared(
      shared.work(slot) + 16,
      make_float4(__int_as_float(work.end_tile), __uint_as_float(work.first_number),
                  __uint_as_float(work.loads_before), __int_as_float(work.begin_tile)));
  ptx::mbarrier_arrive(shared.work_full(slot));
}

/// By the thread that loads: the block's first K/V tile.
template <class Config>
__device__ BwdWgmmaWork<Config> take_first_key_tile(const BwdWgmmaArguments& arguments) {
  if (is_raised(arguments.stop_flag)) return {};
  const int number = arguments.next_key_tile == nullptr ? static_cast<int>(blockIdx.x)
                                                        : atomicAdd(arguments.next_key_tile, 1);
  if (number >= arguments.num_key_tiles) return {};
  return BwdWgmmaWork<Config>(arguments, number);
}

/// By the thread that loads: the block's K/V tile after `before`.
template <class Config>
__device__ BwdWgmmaWork<Config> take_key_tile(const BwdWgmmaArguments& arguments,
                                              const BwdWgmmaWork<Config>& before) {
  if (arguments.next_key_tile == nullptr || is_raised(arguments.stop_flag)) return {};
  const int number = atomicAdd(arguments.next_key_tile, 1);
  if (number >= arguments.num_key_tiles) return {};
  const auto query_tiles = static_cast<std::uint32_t>(before.num_query_tiles(arguments.sizes));
  return BwdWgmmaWork<Config>(arguments, number, before.first_number + query_tiles,
                              before.loads_before + (query_tiles > 0 ? 1 : 0));
}

/// The block's K/V tile number `taken`, read from shared memory.
template <class Config>
__device__ BwdWgmmaWork<Config> handed_over(const BwdWgmmaShared<Config>& shared,
                                            const BwdWgmmaArguments& arguments,
                                            std::uint32_t taken) {
  const float4 first = ptx::load_shared_float4(shared.work(taken % 2)),
               second = ptx::load_shared_float4(shared.work(taken % 2) + 16);
  BwdWgmmaWork<Config> work;
  work.b = __float_as_int(first.x);
  work.kv_head = __float_as_int(first.y);
  work.end_head = (work.kv_head + 1) * arguments.sizes.heads_per_kv_head;
  work.first_key = __float_as_int(first.z);
  work.first_tile = __float_as_int(first.w);
  work.end_tile = __float_as_int(second.x);
  work.first_number = __float_as_uint(second.y);
  work.loads_before = __float_as_uint(second.z);
  work.begin_tile = __float_as_int(second.w);
  work.first_q_tile = arguments.first_q_tile;
  work.visible = arguments.mask.of_batch_entry(max(work.b, 0), arguments.sizes);
  return work;
}

template <class Config>
__device__ BwdWgmmaWork<Config> wait_for_work(const BwdWgmmaShared<Config>& shared,
                                              const BwdWgmmaArguments& arguments,
                                              std::uint32_t taken) {
  ptx::mbarrier_wait(shared.work_full(taken % 2), taken / 2 % 2);
  return handed_over(shared, arguments, taken);
}

/// By every thread that has read that tile for the last time.
template <class Config>
__device__ void release_work(const BwdWgmmaShared<Config>& shared, std::uint32_t taken) {
  ptx::mbarrier_arrive(shared.work_empty(taken % 2));
}

/// By one warp: lse and delta of the query tiles of all K/V tiles of the block.
template <class Config>
__device__ __forceinline__ void load_all_statistics(const BwdWgmmaShared<Config>& shared,
                                                    const BwdWgmmaArguments& arguments) {
#pragma unroll 1
  for (std::uint32_t taken = 0;; ++taken) {
    BwdWgmmaWork<Config> work = wait_for_work(shared, arguments, taken);
    if (!work.is_there()) return;
    BwdWgmmaTile tile = work.first(arguments.sizes);
#pragma unroll 1
    while (work.is_there(tile)) {
      load_statistics(shared, work, tile, arguments);
      work = handed_over(shared, arguments, taken);  // read again: registers are few
      tile = work.next(tile);
    }
    release_work(shared, taken);
  }
}

}  // namespace flashlab::cuda
