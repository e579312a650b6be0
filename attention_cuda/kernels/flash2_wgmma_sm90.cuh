// flash2 forward with the instructions of compute capability 9.0: bulk tensor copies, mbarriers and
// wgmma. One pass over K and V for each query tile, from the last visible K/V tile to the first.
//
//   m = -inf, l = 0, O = 0; or what an earlier call stored as its state
//   1  S = Q Kj^T for the last tile j;  m = rowmax S;  P = 2^(c S - c m);  l = rowsum P
//   for each K/V tile j before it:
//     2  issue S = Q Kj^T, then O += P Vj+1, which run together
//     3  wait for S;  -inf for hidden keys.  If c rowmax S exceeds c m by more than kLag, raise m and
//        multiply l by 2^(c (old m - m)), which most tiles do not.  P' = 2^(c S - c m);  l = l + rowsum P'
//     4  wait for O;  if m was raised, O *= 2^(c (old m - m));  P = P'
//   5  O += P V0;  O = O / (l + e),  lse = scale m + ln l; or c m, l and O l / (l + e) are stored as a state. e: what rounding
//      added to the largest weight (device/online_softmax.cuh)
//   Where c m is above kLargestProduct, the exponent is c (S - m) (device/online_softmax.cuh)
//
// Shapes   Q, O [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q] fp32
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  bf16 or fp16, rows and strides of
//          multiples of 16 bytes;  a state (attention/forward_state.hpp) fp32
// Roles    one thread of warpgroup 0 issues all copies. The other warpgroups compute, 64 queries each,
//          and setmaxnreg gives them the first one's registers
// Tiles    panels of 64 columns in the 128-byte swizzle. sQ [kBlockQ, kHeadDim] stays; rings of
//          kStagesK sK and kStagesV sV [kBlockKV, kHeadDim]. S, P, O in registers, from which O
//          goes to global memory. Query tiles end with the last query: whole warpgroups of the first
//          tile may have no queries. For head_dim 64 a warpgroup skips the last K/V tile if its
//          queries see no key of it
// Barriers two for each stage of K and of V: "full" when its bytes are there, "empty" when every
//          computing warpgroup has read it. The same for each warpgroup's rows of Q
// Grid     one block per multiprocessor, which takes units one after the other: query tiles of equal length,
//          or under a causal mask pairs of a long and a short one, each block every n-th; long causal
//          sequences, key lengths, packed sequences, windows and offsets: query tiles from a counter in
//          global memory (WgmmaSchedule). With a stop flag one block per unit.
//          The order is: groups of heads whose K and V fit L2 together; in each group units x heads,
//          heads fastest, the longest (last) query tiles first
// Traffic  reads Q once, K and V num_q_tiles times; writes O and lse once
// Against  flash2_mma_sm80: no thread that computes loads, addresses or waits for a copy
// Source   Shah et al. 2024, FlashAttention-3; Dao 2023, FlashAttention-2, Algorithm 1
#pragma once

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/kernels/forward_wgmma/loading.cuh"
#include "attention_cuda/kernels/forward_wgmma/output.cuh"
#include "attention_cuda/kernels/forward_wgmma/stop_flag.cuh"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::cuda {

/// One computing warpgroup: 64 queries. Each thread has a part of two rows, 8 apart.
template <class Config>
class WgmmaComputing : private WgmmaOutput<Config> {
 public:
  __device__ WgmmaComputing(const WgmmaShared<Config>& shared, const WgmmaWork<Config>& work,
                            const WgmmaArguments& arguments)
      : Output(arguments, work,
               work.first_query + 16 * (ptx::recomputed(static_cast<int>(threadIdx.x)) / 32 - 4) +
                   ptx::recomputed(static_cast<int>(threadIdx.x)) % 32 / 4,
               ptx::recomputed(static_cast<int>(threadIdx.x)) % 32),
        shared_(shared),
        warpgroup_(ptx::same_in_warp(static_cast<int>(threadIdx.x) / kWarpgroup) - 1),
        warp_(ptx::recomputed(static_cast<int>(threadIdx.x)) / 32 % 4),
        end_for_all_(work.visible.of_query(work.first_query + 64 * warpgroup_) - work.first_key),
        first_for_all_(work.visible.first_of_query(work.first_query + 64 * warpgroup_ + 63) -
                       work.first_key) {}

  __device__ void run() {
    const int last = work_.num_kv_tiles - 1;
    bool sees_none = last < 0, skips_last = false;
    if constexpr (Config::kSkips) {
      const int seen = work_.tiles_of_warpgroup(warpgroup_, arguments_.sizes.seqlen_q);
      sees_none = __any_sync(~0U, seen == 0);
      skips_last = __any_sync(~0U, seen <= last);
    }
    if (last >= 0) clear_unseen_values(last);
    if (sees_none) {
      for (int tile = last; tile >= 0; --tile) skip(tile);
    } else if (skips_last) {
      skip(last);
    }
    mark(WgmmaMark::kWaitsForQ, warpgroup_);
    ptx::mbarrier_wait(shared_.q_full(warpgroup_), work_.turn % 2);
    if (arguments_.state_in.is_given()) {
      load_state();
    } else if (sees_none) {
      clear_O();
    }
    if (sees_none) {
      release_Q();
      finish_rows();
    } else {
      attend(skips_last);
    }
    mark(WgmmaMark::kStoresO, 0);
    finish_O();
    mark(WgmmaMark::kEnds, 0);
  }

 private:
  using Output = WgmmaOutput<Config>;
  using Output::arguments_, Output::work_, Output::row_, Output::lane_, Output::S_, Output::P_,
      Output::O_, Output::has_O_, Output::is_raised_;
  using Output::load_state, Output::clear_O, Output::rescale_O, Output::finish_rows,
      Output::finish_O;
  using Output::scale_scores, Output::exponentiate, Output::store_P;

  __device__ void mark(WgmmaMark what, int tile) const {
    Config::Marks::mark(what, work_.turn, tile);
  }

  /// A tile that other warpgroups see and this one does not. Only the warp that releases the tile
  /// waits for it: another one could come so late that the barrier is two phases ahead.
  __device__ void skip(int tile) {
    const WgmmaStage k = work_.k_stage(tile), v = work_.v_stage(tile);
    skip(shared_.k_full(k.index), k.parity, shared_.k_empty(k.index));
    if (tile > 0) {
      take_turn();
      pass_turn();
    }
    skip(shared_.v_full(v.index), v.parity, shared_.v_empty(v.index));
  }
  __device__ void skip(ptx::SharedAddress full, std::uint32_t parity, ptx::SharedAddress empty) {
    if (__any_sync(~0U, warp_ == 0)) {
      ptx::mbarrier_wait(full, parity);
      __syncwarp();
      release(empty);
    }
  }

  /// `skips_last`: the last tile is not for this warpgroup.
  __device__ void attend(bool skips_last) {
    int tile = work_.num_kv_tiles - (skips_last ? 2 : 1);
    start(tile);
    // 2. to 4. All other tiles: masked ones first, so that the remaining loop has no mask.
    for (--tile; tile >= 0 && hides_after(tile); --tile) step<true>(tile);
    for (; tile >= 0 && !hides_before(tile); --tile) step<false>(tile);
    for (; tile >= 0; --tile) step<true>(tile);
    release_Q();
    // 5. The last P V.
    const WgmmaStage last = work_.v_stage(0);
    mark(WgmmaMark::kWaitsForV, 0);
    ptx::mbarrier_wait(shared_.v_full(last.index), last.parity);
    mark(WgmmaMark::kIssuesPV, 0);
    multiply_P_V(last);
    finish_rows();
    mark(WgmmaMark::kWaitsForO, 0);
    ptx::wgmma_wait<0>();
    mark(WgmmaMark::kHasO, 0);
    release(shared_.v_empty(last.index));
  }

  /// 1.
  __device__ void start(int tile) {
    const WgmmaStage first = work_.k_stage(tile);
    mark(WgmmaMark::kWaitsForK, tile);
    ptx::mbarrier_wait(shared_.k_full(first.index), first.parity);
    mark(WgmmaMark::kIssuesQK, tile);
    multiply_Q_K(first);
    mark(WgmmaMark::kWaitsForS, tile);
    ptx::wgmma_wait<0>();
    mark(WgmmaMark::kHasS, tile);
    release(shared_.k_empty(first.index));
    scale_scores();
    mask(tile);
    exponentiate();
    store_P();
    if (has_O_) {
      rescale_O();
    } else {
      is_raised_ = false;
    }
    mark(WgmmaMark::kHasP, tile);
  }

  /// 2. to 4. for a tile, and P V of the one before.
  template <bool kIsMasked>
  __device__ void step(int tile) {
    const WgmmaStage k = work_.k_stage(tile), v = work_.v_stage(tile + 1);
    mark(WgmmaMark::kWaitsForK, tile);
    ptx::mbarrier_wait(shared_.k_full(k.index), k.parity);
    mark(WgmmaMark::kWaitsForV, tile + 1);
    ptx::mbarrier_wait(shared_.v_full(v.index), v.parity);
    mark(WgmmaMark::kWaitsForTurn, tile);
    take_turn();
    if constexpr (Config::kOverlaps) {
      mark(WgmmaMark::kIssuesQK, tile);
      multiply_Q_K(k);
      mark(WgmmaMark::kIssuesPV, tile + 1);
      multiply_P_V(v);
      pass_turn();
      mark(WgmmaMark::kWaitsForS, tile);
      ptx::wgmma_wait<1>();  // S is complete; P V may still run
    } else {
      mark(WgmmaMark::kIssuesPV, tile + 1);
      multiply_P_V(v);
      mark(WgmmaMark::kWaitsForO, tile + 1);
      ptx::wgmma_wait<0>();
      mark(WgmmaMark::kHasO, tile + 1);
      mark(WgmmaMark::kIssuesQK, tile);
      multiply_Q_K(k);
      pass_turn();
      mark(WgmmaMark::kWaitsForS, tile);
      ptx::wgmma_wait<0>();
    }
    mark(WgmmaMark::kHasS, tile);
    scale_scores();
    if (kIsMasked) mask(tile);
    exponentiate();
    mark(WgmmaMark::kHasP, tile);
    release(shared_.k_empty(k.index));
    if constexpr (Config::kOverlaps) mark(WgmmaMark::kWaitsForO, tile + 1);
    ptx::wgmma_wait<0>();
    if constexpr (Config::kOverlaps) mark(WgmmaMark::kHasO, tile + 1);
    release(shared_.v_empty(v.index));
    store_P();  // not earlier: P V reads these registers
    rescale_O();
  }

  /// One turn per warpgroup for each tile but the last.
  __device__ void take_turn() {
    if constexpr (Config::kTakesTurns) {
      ptx::barrier_sync(Config::kFirstTurn + warpgroup_, 2 * kWarpgroup);
    }
  }
  __device__ void pass_turn() {
    if constexpr (Config::kTakesTurns) {
      ptx::barrier_arrive(Config::kFirstTurn + (warpgroup_ + 1) % Config::kComputing,
                          2 * kWarpgroup);
    }
  }

  /// Whether a query of the warpgroup does not see a key of the tile: its keys end earlier, or, in a
  /// window, begin later.
  __device__ bool hides_after(int tile) const {
    return (tile + 1) * Config::kBlockKV > end_for_all_;
  }
  __device__ bool hides_before(int tile) const { return tile * Config::kBlockKV < first_for_all_; }

  __device__ void release(ptx::SharedAddress empty) {
    if (threadIdx.x % kWarpgroup == 0) ptx::mbarrier_arrive(empty);
  }
  /// By each warp: the next query tile's Q may be loaded while this one ends.
  __device__ void release_Q() {
    __syncwarp();  // all lanes have seen that Q is there
    if (lane_ == 0) ptx::mbarrier_arrive(shared_.q_empty(warpgroup_));
  }

  /// S = Q K^T, asynchronous.
  __device__ void multiply_Q_K(const WgmmaStage& stage) {
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < Config::kHeadDim / 16; ++k) {
      const int panel = k / 4;
      const std::uint64_t step = ptx::descriptor_step(32 * (k % 4));
      const ptx::SharedAddress Q =
          shared_.Q() + (panel * Config::kBlockQ + warpgroup_ * 64) * kPanelRowBytes;
      const ptx::SharedAddress K =
          shared_.K(stage.index) + panel * Config::kBlockKV * kPanelRowBytes;
      ptx::wgmma<typename Config::Element>(S_, ptx::matrix_descriptor(Q) + step,
                                           ptx::matrix_descriptor(K) + step, k > 0);
    }
    ptx::wgmma_commit();
  }

  /// O += P V, asynchronous.
  __device__ void multiply_P_V(const WgmmaStage& stage) {
    ptx::wgmma_fence();
    const std::uint64_t V =
        ptx::matrix_descriptor(shared_.V(stage.index), Config::kBlockKV * kPanelRowBytes);
#pragma unroll
    for (int k = 0; k < Config::kBlockKV / 16; ++k) {
      ptx::wgmma<typename Config::Element>(
          O_, P_[k], V + ptx::descriptor_step(k * 16 * kPanelRowBytes), k > 0 || has_O_);
    }
    ptx::wgmma_commit();
    has_O_ = true;
  }

  /// Sets hidden scores to -inf.
  __device__ void mask(int tile) {
    const int first_column =
        work_.first_key + tile * Config::kBlockKV + 2 * (lane_ % 4);  // of this thread
    if (hides_after(tile)) {
      const int limit[2] = {work_.visible.of_query(row_) - first_column,
                            work_.visible.of_query(row_ + 8) - first_column};
#pragma unroll
      for (int i = 0; i < Config::kBlockKV / 2; ++i) {
        if (8 * (i / 4) + i % 2 >= limit[i / 2 % 2]) S_[i] = -INFINITY;
      }
    }
    if (hides_before(tile)) {
      const int limit[2] = {work_.visible.first_of_query(row_) - first_column,
                            work_.visible.first_of_query(row_ + 8) - first_column};
#pragma unroll
      for (int i = 0; i < Config::kBlockKV / 2; ++i) {
        if (8 * (i / 4) + i % 2 < limit[i / 2 % 2]) S_[i] = -INFINITY;
      }
    }
  }

  /// Sets the rows of V that no query of the problem sees to 0: they may hold NaN, and 0 NaN is NaN.
  __device__ void clear_unseen_values(int tile) {
    const int num_seen = work_.visible.of_query(arguments_.sizes.seqlen_q - 1);
    const int first_hidden = num_seen - work_.first_key - tile * Config::kBlockKV;
    if (num_seen < arguments_.sizes.seqlen_k && first_hidden < Config::kBlockKV) {
      const WgmmaStage stage = work_.v_stage(tile);
      ptx::mbarrier_wait(shared_.v_full(stage.index), stage.parity);
      constexpr int kThreads = Config::kComputing * kWarpgroup, kWords = kPanelRowBytes / 4;
      const int first = first_hidden * kWords + static_cast<int>(threadIdx.x) - kWarpgroup;
      for (int panel = 0; panel < Config::kPanels; ++panel) {
        for (int word = first; word < Config::kBlockKV * kWords; word += kThreads) {
          ptx::store_shared(
              shared_.V(stage.index) + panel * Config::kBlockKV * kPanelRowBytes + 4 * word, 0U);
        }
      }
      ptx::fence_async_proxy();
      ptx::barrier_sync(Config::kAllComputing, kThreads);
    }
  }

  WgmmaShared<Config> shared_;
  int warpgroup_, warp_;
  int end_for_all_, first_for_all_;  // the keys that all 64 queries see, from work_.first_key on
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    flash2_wgmma_sm90_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                             const __grid_constant__ ptx::TensorMap K_map,
                             const __grid_constant__ ptx::TensorMap V_map,
                             const WgmmaArguments arguments) {
  if (block_stops(arguments.stop_flag)) return;
  const WgmmaShared<Config> shared(ptx::shared_memory());
  initialise_barriers(shared);
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<Config::kLoadingRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one()) {
      for_each_query_tile<Config>(
          arguments, WgmmaUnitsTaken<Config>(shared, arguments),
          [&](const WgmmaWork<Config>& work) { load_tiles(shared, work, Q_map, K_map, V_map); });
    }
  } else {
    ptx::take_registers<Config::kComputingRegisters>();
    if constexpr (Config::kTakesTurns) {  // the first turn is the first warpgroup's
      if (static_cast<int>(threadIdx.x) >= Config::kThreads - kWarpgroup) {
        ptx::barrier_arrive(Config::kFirstTurn, 2 * kWarpgroup);
      }
    }
    for_each_query_tile<Config>(arguments, WgmmaUnitsHandedOver<Config>(shared, arguments),
                                [&](const WgmmaWork<Config>& work) {
                                  WgmmaComputing<Config>(shared, work, arguments).run();
                                });
  }
}

}  // namespace flashlab::cuda
