// bwd-onepass with the instructions of compute capability 9.0: bulk tensor copies, mbarriers and wgmma.
// A block takes one K/V tile after the other, dQ by bulk additions.
//
//   delta = rowsum(dO o O);  dQ sums = 0
//   each block, for each K/V tile that it takes:
//     for each query head of the kv head, each query tile i that sees the tile:
//       1  S^T = K Qi^T  and  dP^T = V dOi^T  begin
//       2  wait for S^T;  P^T = 2^(c S^T - lse), 0 for hidden pairs
//       3  wait for dP^T;  dS^T = P^T o (dP^T - delta), also to shared memory
//       4  dQ = dS K of the tile before,  dV += P^T dOi  and  dK += dS^T Qi  begin
//       5  wait for dQ and add it to the dQ sums;  wait for dV and dK
//     dQ of the last tile;  dK = scale dK;  write dK and dV
//   dQ = scale x sums, rounded                        dQ_of_wgmma_sums_kernel, in the .cu file
//
// Shapes   Q, O, dO, dQ [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q] fp32
//          K, V, dK, dV [batch, num_kv_heads, seqlen_k, head_dim];  bf16 or fp16, rows and strides of
//          multiples of 16 bytes; head_dim to 128
// Roles    one thread of warpgroup 0 issues all copies, a warp of it brings lse and delta. The other
//          two warpgroups compute, 64 keys each, and setmaxnreg gives them the first one's registers
// Tiles    for head_dim 64, 96 and 128; others run in the next of these. Panels of 64 columns in the
//          128-byte swizzle, of 96 columns the second panel half full. sK, sV [128, kHeadDim] stay, with
//          head_dim to 64 beside the sK of the next K/V tile; rings of two sQ and sdO [kBlockQ,
//          kHeadDim]; two sdS^T [128, kBlockQ]. S^T, dP^T, dK, dV and a warpgroup's part of dQ in
//          registers. Rows of S^T are keys, so that P^T and dS^T are operands of the next products
//          without a copy. Only dQ sums over the keys of both warpgroups. It comes a tile later: so none
//          waits for the other one, and one computes P and dS while the other one multiplies
// dQ       each warpgroup writes its part of a tile to shared memory in the order of the fragments,
//          and one thread adds it to the sums in global memory by a bulk copy. Deterministic: a thread of
//          warpgroup 0 does, for every second tile, by falling keys. A tile's counter says whose turn it is
// Barriers "full" and "empty" for V, for each stage of K, of Q, with lse and delta, of dO and of dS^T,
//          and for the next K/V tile. Named ones: all that compute, each warpgroup
// Grid     a block for each multiprocessor. The thread that loads takes K/V tiles from a counter in
//          global memory, and loads the first queries of the next tile while the others finish one
// Order    K/V tiles x kv heads x batch, tiles fastest. Tile i begins with query tile i, and goes
//          around, so that blocks of a head add to different tiles of dQ. With a mask, groups of kv
//          heads that fill the GPU once: heads fastest, then tiles, each from its first query tile on.
//          Deterministic: the same, with tiles in falling order
// Workspace  delta; fp32 sums of dQ, queries padded to 128 and head_dim to 64, 96 or 128; the counters
//          of K/V tiles and of turns
// Traffic  K and V once, Q and dO num_kv_tiles times; as many additions to dQ, then read and written once
// Against  bwd_onepass_mma_sm80: no thread that computes loads or waits for a copy; no ldmatrix; 16 KiB per
//          addition to dQ in place of 128 bytes
// Source   Dao 2023, FlashAttention-2, Algorithm 2; Shah et al. 2024, FlashAttention-3
#pragma once

#include "attention_cuda/device/quad_transpose.cuh"
#include "attention_cuda/kernels/backward_wgmma/adding.cuh"
#include "attention_cuda/kernels/backward_wgmma/key_tiles.cuh"
#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/kernels/backward_wgmma/weights.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::cuda {

/// One computing warpgroup: 64 keys. Each thread has a part of two of them, 8 apart.
template <class Config>
class BwdWgmmaComputing {
 public:
  __device__ BwdWgmmaComputing(const BwdWgmmaShared<Config>& shared,
                               const BwdWgmmaWork<Config>& work, const BwdWgmmaArguments& arguments)
      : shared_(shared),
        work_(work),
        arguments_(arguments),
        warpgroup_(ptx::same_in_warp(static_cast<int>(threadIdx.x) / kWarpgroup) - 1),
        seeing_all_(work.visible, work.first_key + kRows * warpgroup_, kRows),
        seeing_(work.seeing_queries(0, arguments.sizes)) {}

  __device__ void run() {
#pragma unroll
    for (int i = 0; i < Config::kHeadDim / 2; ++i) dK_[i] = dV_[i] = 0;
    BwdWgmmaTile tile = work_.first(arguments_.sizes);
    if (!work_.is_there(tile)) return;
    store_limits(shared_.limits() + 8 * kRows * warpgroup_, work_.visible,
                 work_.first_key + kRows * warpgroup_);
    sync_warpgroup();
    ptx::mbarrier_wait(shared_.k_full(work_.k_stage()), work_.k_parity());
    clear_unseen_keys();
    add_query_tile<false>(tile, tile);
    BwdWgmmaTile before = tile;
#pragma unroll 1
    for (tile = work_.next(tile); work_.is_there(tile); tile = work_.next(tile)) {
      add_query_tile<true>(tile, before);
      before = tile;
    }
    release(shared_.v_empty());
    if constexpr (Config::kAddsDQ) {
      add_last_dQ(before);
    } else {
      sync_warpgroup();  // all have read their limits
      release(shared_.k_empty(work_.k_stage()));
    }
  }

  /// Writes dK and dV, whose keys are those of `work`.
  __device__ void finish(const BwdWgmmaWork<Config>& work) {
    const Sizes& sizes = arguments_.sizes;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int key = work.first_key + row() + 8 * r;
      const bool is_key = key < sizes.seqlen_k;
      store_row_of_sums<typename Config::Element>(arguments_.dK.row(work.b, work.kv_head, key),
                                                  is_key, dK_, r, arguments_.softmax_scale,
                                                  sizes.head_dim / 8, lane());
      store_row_of_sums<typename Config::Element>(arguments_.dV.row(work.b, work.kv_head, key),
                                                  is_key, dV_, r, 1.F, sizes.head_dim / 8, lane());
    }
  }

 private:
  static constexpr int kWarpgroup = Config::kWarpgroup, kRows = BwdWgmmaShape::kRowsOfWarpgroup;
  static constexpr int kPanelRowBytes = Config::kPanelRowBytes;

  __device__ static int thread() { return ptx::recomputed(static_cast<int>(threadIdx.x)); }
  __device__ static int lane() { return thread() % 32; }
  /// Of the block's keys, the first one of this thread.
  __device__ static int row() { return 16 * (thread() / 32 - kWarpgroup / 32) + thread() % 32 / 4; }
  __device__ static bool is_first_thread() { return threadIdx.x % kWarpgroup == 0; }

  __device__ void sync_warpgroup() const {
    ptx::barrier_sync(Config::kFirstWarpgroup + warpgroup_, kWarpgroup);
  }
  __device__ static void sync_computing() {
    ptx::barrier_sync(Config::kAllComputing, Config::kComputing * kWarpgroup);
  }

  /// kHasBefore: with dQ of the tile before. By then the other warpgroup has its dS^T, even if it is
  /// half a tile behind: one computes weights while the other one multiplies.
  template <bool kHasBefore>
  __device__ void add_query_tile(const BwdWgmmaTile& tile, const BwdWgmmaTile& before) {
    // Otherwise ptxas keeps the address in a vector register, and moves each descriptor from there.
    if constexpr (Config::kDividesColumns) shared_.make_uniform();
    const int stage = work_.stage(tile);
    // 1.
    multiply_K_Q(tile);
    work_.mark(BwdWgmmaMark::kWaitsForDO, tile);
    if constexpr (!kHasBefore) ptx::mbarrier_wait(shared_.v_full(), work_.v_parity());
    ptx::mbarrier_wait(shared_.do_full(stage), work_.parity(tile));
    clear_unseen_queries(shared_.dO(stage), tile.q_tile);
    work_.mark(BwdWgmmaMark::kIssuesDP, tile);
    multiply_rows(dP_, shared_.V(), shared_.dO(stage));
    // 2. and 3.
    work_.mark(BwdWgmmaMark::kWaitsForS, tile);
    ptx::wgmma_wait<1>();
    work_.mark(BwdWgmmaMark::kHasS, tile);
    const int first_query = tile.q_tile * Config::kBlockQ;
    const float c = arguments_.softmax_scale * kLog2E;
    const ptx::SharedAddress lse = shared_.statistics(stage), limits = shared_.limits() + 8 * row();
    if (seeing_all_.excludes(first_query, Config::kBlockQ, arguments_.sizes.seqlen_q)) {
      weigh<true>(S_, lse, limits, first_query, c, lane());
    } else {
      weigh<false>(S_, lse, limits, first_query, c, lane());
    }
    round<typename Config::Element>(P_, S_);
    if constexpr (!Config::kAddsDQ) multiply_registers(dV_, P_, shared_.dO(stage));
    work_.mark(BwdWgmmaMark::kWaitsForDP, tile);
    ptx::wgmma_wait<Config::kAddsDQ ? 0 : 1>();
    work_.mark(BwdWgmmaMark::kHasDP, tile);
    differentiate(dP_, S_, lse + 4 * Config::kBlockQ, lane());
    round<typename Config::Element>(dS_, dP_);
    if constexpr (Config::kAddsDQ) {
      ptx::mbarrier_wait(shared_.ds_empty(stage), work_.parity(tile) ^ 1);
      store_dS(stage);
      if (kHasBefore && is_first_thread()) wait_for_sums(before);
      sync_warpgroup();
      if (is_first_thread()) ptx::mbarrier_arrive(shared_.ds_full(stage));
    }
    // 4.
    constexpr bool kAddsBefore = Config::kAddsDQ && kHasBefore;
    float dQ[Config::kColumnsOfDQ / 2];  // 64 rows
    if constexpr (kAddsBefore) {
      work_.mark(BwdWgmmaMark::kWaitsForDS, tile);
      wait_for_dS(before);
      work_.mark(BwdWgmmaMark::kIssuesGradients, tile);
      multiply_dS_K(dQ, before);
    }
    if constexpr (Config::kAddsDQ) multiply_registers(dV_, P_, shared_.dO(stage));
    multiply_registers(dK_, dS_, shared_.Q(stage));
    // 5.
    if constexpr (kAddsBefore) {
      work_.mark(BwdWgmmaMark::kWaitsForDQ, tile);
      ptx::wgmma_wait<2>();
      work_.mark(BwdWgmmaMark::kHasDQ, tile);
      release(shared_.ds_empty(1 - stage));
      add_dQ(dQ, before);
    }
    work_.mark(BwdWgmmaMark::kWaitsForDV, tile);
    ptx::wgmma_wait<1>();
    release(shared_.do_empty(stage));
    work_.mark(BwdWgmmaMark::kWaitsForDK, tile);
    ptx::wgmma_wait<0>();
    ptx::mbarrier_arrive(shared_.q_empty(stage));  // by all threads that read its statistics
    work_.mark(BwdWgmmaMark::kEnds, tile);
  }

  __device__ void add_last_dQ(const BwdWgmmaTile& tile) {
    float dQ[Config::kColumnsOfDQ / 2];
    wait_for_dS(tile);
    multiply_dS_K(dQ, tile);
    ptx::wgmma_wait<0>();
    release(shared_.ds_empty(work_.stage(tile)));
    release(shared_.k_empty(work_.k_stage()));
    if (is_first_thread()) wait_for_sums(tile);
    sync_warpgroup();
    add_dQ(dQ, tile);
  }

  __device__ void release(ptx::SharedAddress empty) {
    if (is_first_thread()) ptx::mbarrier_arrive(empty);
  }

  // -------------------------------------------------------------------------------- products

  /// S^T of a tile, asynchronous.
  __device__ void multiply_K_Q(const BwdWgmmaTile& tile) {
    const int stage = work_.stage(tile);
    work_.mark(BwdWgmmaMark::kWaitsForQ, tile);
    ptx::mbarrier_wait(shared_.q_full(stage), work_.parity(tile));
    clear_unseen_queries(shared_.Q(stage), tile.q_tile);
    work_.mark(BwdWgmmaMark::kIssuesS, tile);
    multiply_rows(S_, shared_.K(work_.k_stage()), shared_.Q(stage));
  }

  /// `sums` = rows of K or V of the warpgroup times all rows of Q or dO, transposed. Asynchronous.
  __device__ void multiply_rows(float (&sums)[Config::kBlockQ / 2], ptx::SharedAddress keys,
                                ptx::SharedAddress queries) {
    ptx::wgmma_fence();
    const std::uint64_t A = ptx::matrix_descriptor(keys + warpgroup_ * kRows * kPanelRowBytes),
                        B = ptx::matrix_descriptor(queries);
#pragma unroll
    for (int k = 0; k < Config::kHeadDim / 16; ++k) {
      const int panel = k / 4, column = 32 * (k % 4);
      ptx::wgmma<typename Config::Element>(
          sums, A + ptx::descriptor_step(panel * Config::kBlockKV * kPanelRowBytes + column),
          B + ptx::descriptor_step(panel * Config::kBlockQ * kPanelRowBytes + column), k > 0);
    }
    ptx::wgmma_commit();
  }

  /// `sums` += P^T dO or dS^T Q, asynchronous.
  __device__ void multiply_registers(float (&sums)[Config::kHeadDim / 2],
                                     const std::uint32_t (&A)[Config::kBlockQ / 16][4],
                                     ptx::SharedAddress queries) {
    ptx::wgmma_fence();
    const std::uint64_t B = ptx::matrix_descriptor(queries, Config::kBlockQ * kPanelRowBytes);
#pragma unroll
    for (int k = 0; k < Config::kBlockQ / 16; ++k) {
      ptx::wgmma<typename Config::Element>(sums, A[k],
                                           B + ptx::descriptor_step(k * 16 * kPanelRowBytes), true);
    }
    ptx::wgmma_commit();
  }

  /// Until both warpgroups' rows of dS^T are in shared memory.
  __device__ void wait_for_dS(const BwdWgmmaTile& tile) const {
    ptx::mbarrier_wait(shared_.ds_full(work_.stage(tile)), work_.parity(tile));
  }
  /// dQ = dS K for the warpgroup's queries or columns, asynchronous.
  __device__ void multiply_dS_K(float (&dQ)[Config::kColumnsOfDQ / 2], const BwdWgmmaTile& tile) {
    constexpr int kPanelBytes = Config::kBlockKV * kPanelRowBytes;
    const int stage = work_.stage(tile);
    ptx::wgmma_fence();
    const int panel_of_dS = Config::kDividesColumns ? 0 : warpgroup_,
              panel_of_K = Config::kDividesColumns ? warpgroup_ : 0;
    const std::uint64_t A =
        ptx::matrix_descriptor(shared_.dS(stage) + panel_of_dS * kPanelBytes, kPanelBytes);
    const std::uint64_t B =
        ptx::matrix_descriptor(shared_.K(work_.k_stage()) + panel_of_K * kPanelBytes, kPanelBytes);
#pragma unroll
    for (int k = 0; k < Config::kBlockKV / 16; ++k) {
      const std::uint64_t rows = ptx::descriptor_step(k * 16 * kPanelRowBytes);
      ptx::wgmma<typename Config::Element, true>(dQ, A + rows, B + rows, k > 0);
    }
    ptx::wgmma_commit();
  }

  /// Writes the warpgroup's rows of dS^T to shared memory, for products.
  __device__ void store_dS(int stage) {
    const int first_key = 16 * (thread() / 32 - kWarpgroup / 32);
    store_rounded(shared_.dS(stage), Config::kBlockKV, first_key, dS_, lane());
    ptx::fence_async_proxy();
  }

  // -------------------------------------------------------------------------------- results

  /// Until shared memory is free for the warpgroup's part of a tile of dQ.
  __device__ void wait_for_sums(const BwdWgmmaTile& tile) const {
    if (arguments_.turns == nullptr) {
      ptx::wait_stores_read<0>();
    } else {
      ptx::mbarrier_wait(shared_.sums_empty(warpgroup_), tile.number % 2 ^ 1);
    }
  }
  /// Adds the warpgroup's part of a tile of dQ to the sums, or lets add_in_turn do so.
  __device__ void add_dQ(const float (&dQ)[Config::kColumnsOfDQ / 2], const BwdWgmmaTile& tile) {
    const ptx::SharedAddress sums = shared_.sums(warpgroup_);
#pragma unroll
    for (int i = 0; i < Config::kColumnsOfDQ / 2; i += 4) {
      if (2 * i >= columns_of_part<Config>(Config::kComputing - 1) && warpgroup_ > 0) break;
      ptx::store_shared(sums + 16 * (i / 4 * kWarpgroup + thread() % kWarpgroup),
                        make_float4(dQ[i], dQ[i + 1], dQ[i + 2], dQ[i + 3]));
    }
    ptx::fence_async_proxy();
    sync_warpgroup();
    if (!is_first_thread()) return;
    if (arguments_.turns != nullptr) {
      ptx::mbarrier_arrive(shared_.sums_full(warpgroup_, tile.number));
      return;
    }
    ptx::add_floats(sums_of_part<Config>(arguments_.dQ_sums, work_.number_of_tile(tile, arguments_),
                                         warpgroup_),
                    sums, bytes_of_part<Config>(warpgroup_));
    ptx::commit_stores();
  }

  // -------------------------------------------------------------------------------- what is hidden

  /// Rows that nobody sees may hold NaN, and 0 NaN is NaN.
  __device__ void clear_unseen_keys() {
    const IndexRange seen = work_.seen_keys(work_.first_key, arguments_.sizes);
    if (seen.first <= 0 && seen.end >= Config::kBlockKV) return;
    ptx::mbarrier_wait(shared_.v_full(), work_.v_parity());
    clear(shared_.K(work_.k_stage()), Config::kBlockKV, seen);
    clear(shared_.V(), Config::kBlockKV, seen);
    sync_computing();
  }
  __device__ void clear_unseen_queries(ptx::SharedAddress rows, int q_tile) {
    const IndexRange seeing = Config::kHeadDim > 96 ? work_.seeing_queries(q_tile, arguments_.sizes)
                                                    : work_.seeing_queries(q_tile, seeing_);
    const int queries = arguments_.sizes.seqlen_q - q_tile * Config::kBlockQ;
    if (seeing.first <= 0 && seeing.end >= min(Config::kBlockQ, queries)) return;
    clear(rows, Config::kBlockQ, seeing);
    sync_computing();
  }
  __device__ static void clear(ptx::SharedAddress tile, int rows, const IndexRange& kept) {
    clear_rows(tile, rows, Config::kPanels, kept, static_cast<int>(threadIdx.x) - kWarpgroup,
               Config::kComputing * kWarpgroup);
  }

  BwdWgmmaShared<Config> shared_;
  const BwdWgmmaWork<Config>& work_;
  const BwdWgmmaArguments& arguments_;
  int warpgroup_;
  SeeingAll seeing_all_;
  IndexRange
      seeing_;  // the queries that see a key. At head_dim 128 it is faster to compute them again
  float S_[Config::kBlockQ / 2], dP_[Config::kBlockQ / 2];  // 64 rows
  std::uint32_t P_[Config::kBlockQ / 16][4], dS_[Config::kBlockQ / 16][4];
  float dK_[Config::kHeadDim / 2], dV_[Config::kHeadDim / 2];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    bwd_onepass_wgmma_sm90_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                                  const __grid_constant__ ptx::TensorMap K_map,
                                  const __grid_constant__ ptx::TensorMap V_map,
                                  const __grid_constant__ ptx::TensorMap dO_map,
                                  const BwdWgmmaArguments arguments) {
  const BwdWgmmaShared<Config> shared(ptx::shared_memory());
  const bool takes_turns = arguments.turns != nullptr;
  initialise_barriers(shared, takes_turns);
  if (threadIdx.x >= Config::kWarpgroup) {
    ptx::take_registers<Config::kComputingRegisters>();
#pragma unroll 1
    for (std::uint32_t taken = 0;; ++taken) {
      const BwdWgmmaWork<Config> work = wait_for_work(shared, arguments, taken);
      if (!work.is_there()) break;
      BwdWgmmaComputing<Config> computing(shared, work, arguments);
      computing.run();
      computing.finish(handed_over(shared, arguments, taken));  // read again: registers are few
      release_work(shared, taken);
    }
    // Until then, the block's shared memory is read.
    if (threadIdx.x % Config::kWarpgroup == 0) ptx::wait_stores_read<0>();
    return;
  }
  ptx::release_registers<Config::kLoadingRegisters>();
  if (threadIdx.x < 32) {
    if (!ptx::elect_one()) return;
    hand_over(shared, take_first_key_tile<Config>(arguments), 0);
#pragma unroll 1
    for (std::uint32_t taken = 0;; ++taken) {
      const BwdWgmmaWork<Config> work = handed_over(shared, arguments, taken);
      if (!work.is_there()) return;
      load_tiles(shared, work, arguments.sizes, Q_map, K_map, V_map, dO_map);
      hand_over(shared, take_key_tile(arguments, handed_over(shared, arguments, taken)), taken + 1);
    }
  }
  if (threadIdx.x < 64) {
    load_all_statistics(shared, arguments);
    return;
  }
  if constexpr (Config::kAddsDQ) {
    if (takes_turns && threadIdx.x % 32 == 0)
      add_all_in_turn(shared, arguments, threadIdx.x / 32 % 2);
  }
}

}  // namespace flashlab::cuda
