// bwd-onepass for head_dim to 256 on compute capability 9.0: pairs of blocks that exchange dS.
//
//   a pair of blocks for each K/V tile of 128 keys, 64 for each block:
//     for each query head of the kv head, each query tile i that sees the tile:
//       warpgroup "scores"                              warpgroup "gradients"
//       1  S^T = K Qi^T begins                          1  dP^T = V dOi^T begins
//       2  dQ and dK of the tile before begin           2  dQ of the tile before begins
//       3  P^T = 2^(c S^T - lse), to shared memory      3  P^T from there;  dV += P^T dOi begins
//       4  dV += P^T dOi begins                         4  dS^T = P^T o (dP^T - delta), to the shared
//                                                          memory of both blocks;  dK += dS^T Qi begins
//       5  add dQ to the dQ sums                        5  add dQ to the dQ sums
//     dQ of the last tile;  dK = scale dK;  write dK and dV
//
// Shapes   as bwd_onepass_wgmma_sm90.cuh, head_dim to 256, in tiles for 192 and 256
// Why      dK and dV of 64 keys and 256 columns are half of a block's registers, so a block has no more
//          keys. Sums of dQ over 64 keys would be 25.6 bytes per clock and multiprocessor at the tensor
//          cores' rate, more than L2 adds. A pair sums over 128 keys: 12.8
// Roles    in each block one thread of warpgroup 0 issues copies, a warp of it brings lse and delta. Of
//          the other two warpgroups, one computes P and one dS of the block's 64 keys; each has half of
//          the columns of dK and dV. Products of all 64 rows and 64 columns read each operand once
// Tiles    panels of 64 columns in the 128-byte swizzle. sK, sV [64, kHeadDim] stay, and half of the
//          columns of the other block's sK. Two sQ and one sdO [64, kHeadDim], two sP^T [64, 64], two
//          sdS^T of each block [64, 64]. S^T or dP^T, dK, dV [64, 128] and dQ [64, 64] in registers
// Pair     each block loads half of Qi and of dOi for both, sends dS^T of its keys by a bulk copy, and
//          computes half of the columns of dQ for the keys of both
// 192      of three panels of columns the first block loads two of Qi and dOi and computes two of dQ, and
//          warpgroup "scores" has two of dK and dV. The last warpgroup of the pair has no panel of dQ: it
//          multiplies as its neighbour, and adds nothing
// Barriers of mbarriers: K, V; "full" and "empty" for each stage of Q, with lse and delta, and for dO; "full"
//          for each stage of P^T and dS^T. Q and dO are empty when the warpgroups of both blocks have
//          released them. Nobody waits for P^T and dS^T to be empty: dO of tile i came after all four
//          warpgroups had finished dV of tile i - 1, and with it dQ of tile i - 2; so did Q for P^T
// Grid     pairs x kv heads x batch, pairs fastest. Deterministic: as in bwd_onepass_wgmma_sm90.cuh
// Workspace  delta; fp32 sums of dQ, queries padded to 128 and head_dim to 192 or 256; four turns of each
//          tile
// Traffic  K 1.5 times, V once, Q and dO num_kv_tiles times; num_kv_tiles additions to dQ in fp32 from
//          registers, 16 bytes each; dQ's sums are then read and written once
// Source   Dao 2023, FlashAttention-2, Algorithm 2; the exchange of dS between two blocks as in the
//          FlashAttention repository's pull request 2889
#pragma once

#include <cstdint>

#include "attention_cuda/device/quad_transpose.cuh"
#include "attention_cuda/kernels/backward_wgmma/pair_loading.cuh"
#include "attention_cuda/kernels/backward_wgmma/sums_of_dQ.cuh"
#include "attention_cuda/kernels/backward_wgmma/weights.cuh"
#include "attention_cuda/ptx/red.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::cuda {

/// A computing warpgroup of a pair: number 0 has the scores, number 1 the gradients.
template <class Config>
class BwdPairComputing {
 public:
  using Element = typename Config::Element;

  __device__ BwdPairComputing(const BwdPairShared<Config>& shared, const BwdWgmmaWork<Config>& work,
                              const BwdWgmmaArguments& arguments, int rank)
      : shared_(shared),
        work_(work),
        arguments_(arguments),
        rank_(rank),
        warpgroup_(ptx::same_in_warp(static_cast<int>(threadIdx.x) / kWarpgroup) - 1),
        first_key_(work.first_key + rank * Config::kOwnKeys),
        seeing_(work.seeing_queries(0, arguments.sizes)) {}

  __device__ void run() {
#pragma unroll
    for (int i = 0; i < Config::kHalfColumns / 2; ++i) dK_[i] = dV_[i] = 0;
    const BwdWgmmaTile first = work_.first(arguments_.sizes);
    if (work_.is_there(first)) {
      if (warpgroup_ == 0) store_limits(shared_.limits(), work_.visible, first_key_);
      ptx::mbarrier_wait(shared_.k_full(), 0);
      ptx::mbarrier_wait(shared_.v_full(), 0);
      clear_unseen_keys();
      warpgroup_ == 0 ? run_scores(first) : run_gradients(first);
    } else {
      finish<Config::kHalfColumns>();
    }
  }

 private:
  static constexpr int kWarpgroup = Config::kWarpgroup, kPanelBytes = Config::kPanelBytes;
  static constexpr int kBlockQ = Config::kBlockQ, kSteps = kBlockQ / 16;
  static constexpr bool kLastIsThere = Config::kPanels % Config::kHalfPanels == 0;

  __device__ static int thread() { return ptx::recomputed(static_cast<int>(threadIdx.x)); }
  __device__ static int thread_of_warpgroup() { return thread() % kWarpgroup; }
  __device__ static int lane() { return thread() % 32; }
  /// The first of the warp's 16 keys, and the first one of this thread.
  __device__ static int key_of_warp() { return 16 * (thread_of_warpgroup() / 32); }
  __device__ static int key() { return key_of_warp() + lane() / 4; }
  __device__ static bool is_first_thread() { return threadIdx.x % kWarpgroup == 0; }
  __device__ int first_panel() const { return Config::kHalfPanels * warpgroup_; }  // of dK and dV
  /// Of three panels, the second warpgroup of the second block has none. It multiplies as the one before it,
  /// and adds nothing: so no branch is around wgmma, and the other block's warpgroups take as long.
  template <int kNumber>
  __device__ bool has_part_of_dQ() const {
    return kLastIsThere || kNumber == 0 || rank_ == 0;
  }
  template <int kNumber>
  __device__ int panel_of_dQ() const {
    return Config::kHalfPanels * rank_ + kNumber * (has_part_of_dQ<kNumber>() ? 1 : 0);
  }

  __device__ void sync_warpgroup() const {
    ptx::barrier_sync(Config::kFirstWarpgroup + warpgroup_, kWarpgroup);
  }
  __device__ static void sync_computing() {
    ptx::barrier_sync(Config::kAllComputing, Config::kComputing * kWarpgroup);
  }
  /// In the other block by one thread of the warpgroup; here by all of them if they have read statistics.
  template <bool kByAll>
  __device__ void release(ptx::SharedAddress empty) {
    if (kByAll || is_first_thread()) ptx::mbarrier_arrive(empty);
    if (is_first_thread()) {
      ptx::mbarrier_arrive_in_cluster(ptx::in_block_of_cluster(empty, 1 - rank_));
    }
  }

  // -------------------------------------------------------------------------------- scores

  __device__ void run_scores(const BwdWgmmaTile& tile) {
    sync_warpgroup();  // all limits are there
    const SeeingAll seeing_all(work_.visible, first_key_, Config::kOwnKeys);
    add_scores_tile<false>(tile, nullptr, seeing_all);
    float* sums = sums_of<0>(tile);
    BwdWgmmaTile next = work_.next(tile);
#pragma unroll 1
    for (; work_.is_there(next); next = work_.next(next)) {
      add_scores_tile<true>(next, sums, seeing_all);
      sums = sums_of<0>(next);
    }
    float dQ[Config::kColumnsOfDQ / 2];
    multiply_gradients(dQ, next.number - 1);
    ptx::wgmma_wait<1>();
    add_dQ<0>(dQ, sums, next.number - 1);
    ptx::wgmma_wait<0>();
    finish<Config::kHalfColumns>();
  }

  /// kHasBefore: with dQ and dK of the tile before, whose sums of dQ are at sums_before.
  template <bool kHasBefore>
  __device__ void add_scores_tile(const BwdWgmmaTile& tile, float* sums_before,
                                  const SeeingAll& seeing_all) {
    const int stage = work_.stage(tile), first_query = tile.q_tile * kBlockQ;
    float S[kBlockQ / 2], dQ[Config::kColumnsOfDQ / 2];
    shared_.recompute();
    // 1.
    ptx::mbarrier_wait(shared_.q_full(stage), work_.parity(tile));
    clear_unseen_queries(shared_.Q(stage), tile.q_tile);
    multiply_rows(S, shared_.K(), shared_.Q(stage));
    // 2.
    if constexpr (kHasBefore) multiply_gradients(dQ, tile.number - 1);
    // 3.
    ptx::wgmma_wait<kHasBefore ? 2 : 0>();
    const float c = arguments_.softmax_scale * kLog2E;
    const ptx::SharedAddress lse = shared_.statistics(stage), limits = shared_.limits() + 8 * key();
    if (seeing_all.excludes(first_query, kBlockQ, arguments_.sizes.seqlen_q)) {
      weigh<true>(S, lse, limits, first_query, c, lane());
    } else {
      weigh<false>(S, lse, limits, first_query, c, lane());
    }
    round<Element>(P_, S);
    store_rounded(shared_.P(stage), Config::kOwnKeys, key_of_warp(), P_, lane());
    ptx::mbarrier_arrive(shared_.p_full(stage));
    // 4.
    ptx::mbarrier_wait(shared_.do_full(), tile.number % 2);
    if (has_unseen_queries(tile.q_tile)) {
      ptx::barrier_sync(Config::kIsCleared, Config::kComputing * kWarpgroup);
    }
    multiply_registers<Config::kHalfColumns>(dV_, P_, shared_.dO());
    // 5.
    if constexpr (kHasBefore) {
      ptx::wgmma_wait<1>();
      release<true>(shared_.q_empty(1 - stage));
      add_dQ<0>(dQ, sums_before, tile.number - 1);
    }
    ptx::wgmma_wait<0>();
    release<false>(shared_.do_empty());
  }

  /// dQ and dK of a tile, two groups of asynchronous products.
  __device__ void multiply_gradients(float (&dQ)[Config::kColumnsOfDQ / 2], std::uint32_t number) {
    const int stage = work_.stage_of(number);
    multiply_dS_K<0>(dQ, number);
    load_rounded(dS_, shared_.dS(stage, false), Config::kOwnKeys, key_of_warp(), lane());
    multiply_registers<Config::kHalfColumns>(dK_, dS_, shared_.Q(stage));
  }

  // -------------------------------------------------------------------------------- gradients

  __device__ void run_gradients(const BwdWgmmaTile& tile) {
    add_gradients_tile<false>(tile, nullptr);
    float* sums = sums_of<1>(tile);
    BwdWgmmaTile next = work_.next(tile);
#pragma unroll 1
    for (; work_.is_there(next); next = work_.next(next)) {
      add_gradients_tile<true>(next, sums);
      sums = sums_of<1>(next);
    }
    float dQ[Config::kColumnsOfDQ / 2];
    multiply_dS_K<1>(dQ, next.number - 1);
    ptx::wgmma_wait<0>();
    add_dQ<1>(dQ, sums, next.number - 1);
    finish<Config::kOtherColumns>();
  }

  /// kHasBefore: with dQ of the tile before, whose sums are at sums_before.
  template <bool kHasBefore>
  __device__ void add_gradients_tile(const BwdWgmmaTile& tile, float* sums_before) {
    const int stage = work_.stage(tile);
    const std::uint32_t parity = work_.parity(tile);
    float dP[kBlockQ / 2], dQ[Config::kColumnsOfDQ / 2];
    shared_.recompute();
    // 1.
    ptx::mbarrier_wait(shared_.do_full(), tile.number % 2);
    clear_unseen_queries(shared_.dO(), tile.q_tile);
    if (has_unseen_queries(tile.q_tile)) {
      ptx::barrier_arrive(Config::kIsCleared, Config::kComputing * kWarpgroup);
    }
    multiply_rows(dP, shared_.V(), shared_.dO());
    // 2.
    if constexpr (kHasBefore) multiply_dS_K<1>(dQ, tile.number - 1);
    // 3.
    ptx::mbarrier_wait(shared_.p_full(stage), parity);
    load_rounded(P_, shared_.P(stage), Config::kOwnKeys, key_of_warp(), lane());
    multiply_registers<Config::kOtherColumns>(dV_, P_, shared_.dO());
    // 4.
    ptx::wgmma_wait<kHasBefore ? 2 : 1>();
    ptx::mbarrier_wait(shared_.q_full(stage), parity);
    differentiate<Element>(dP, P_, shared_.statistics(stage) + 4 * kBlockQ, lane());
    round<Element>(dS_, dP);
    store_rounded(shared_.dS(stage, false), Config::kOwnKeys, key_of_warp(), dS_, lane());
    ptx::fence_async_proxy();
    sync_warpgroup();
    if (is_first_thread()) send_dS(stage);
    multiply_registers<Config::kOtherColumns>(dK_, dS_, shared_.Q(stage));
    // 5.
    ptx::wgmma_wait<1>();
    release<false>(shared_.do_empty());
    if constexpr (kHasBefore) add_dQ<1>(dQ, sums_before, tile.number - 1);
    ptx::wgmma_wait<0>();
    release<true>(shared_.q_empty(stage));
  }

  /// dS^T of the block's keys, which is in shared memory, to the other block.
  __device__ void send_dS(int stage) {
    ptx::mbarrier_arrive_expect(shared_.ds_full(stage), kPanelBytes);
    ptx::copy_to_block(ptx::in_block_of_cluster(shared_.dS(stage, true), 1 - rank_),
                       shared_.dS(stage, false), kPanelBytes,
                       ptx::in_block_of_cluster(shared_.ds_full(stage), 1 - rank_));
  }

  // -------------------------------------------------------------------------------- products

  /// `sums` = all rows of K or V times all rows of Q or dO, transposed. Asynchronous.
  __device__ void multiply_rows(float (&sums)[kBlockQ / 2], ptx::SharedAddress keys,
                                ptx::SharedAddress queries) {
    ptx::wgmma_fence();
    const std::uint64_t A = ptx::matrix_descriptor(keys), B = ptx::matrix_descriptor(queries);
#pragma unroll
    for (int k = 0; k < Config::kHeadDim / 16; ++k) {
      const std::uint64_t columns = ptx::descriptor_step(k / 4 * kPanelBytes + 32 * (k % 4));
      ptx::wgmma<Element>(sums, A + columns, B + columns, k > 0);
    }
    ptx::wgmma_commit();
  }

  /// The first kColumns of a warpgroup's sums of dK or dV.
  template <int kColumns>
  __device__ static auto columns(float (&sums)[Config::kHalfColumns / 2])
      -> float (&)[kColumns / 2] {
    return *reinterpret_cast<float(*)[kColumns / 2]>(&sums);
  }

  /// `sums` += P^T dO or dS^T Q for the warpgroup's kColumns columns, asynchronous.
  template <int kColumns>
  __device__ void multiply_registers(float (&sums)[Config::kHalfColumns / 2],
                                     const std::uint32_t (&A)[kSteps][4],
                                     ptx::SharedAddress queries) {
    ptx::wgmma_fence();
    const std::uint64_t B =
        ptx::matrix_descriptor(queries + first_panel() * kPanelBytes, kPanelBytes);
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      ptx::wgmma<Element>(columns<kColumns>(sums), A[k],
                          B + ptx::descriptor_step(k * 16 * Config::kPanelRowBytes), true);
    }
    ptx::wgmma_commit();
  }

  /// dQ = dS K of a tile for the keys of both blocks, and one panel of columns. Asynchronous. kNumber: the
  /// warpgroup's.
  template <int kNumber>
  __device__ void multiply_dS_K(float (&dQ)[Config::kColumnsOfDQ / 2], std::uint32_t number) {
    const int stage = work_.stage_of(number);
    ptx::mbarrier_wait(shared_.ds_full(stage), work_.parity_of(number));
    ptx::wgmma_fence();
    const int own_panel = panel_of_dQ<kNumber>(),
              other_panel = own_panel - Config::kHalfPanels * rank_;
    const std::uint64_t own_A = ptx::matrix_descriptor(shared_.dS(stage, false)),
                        other_A = ptx::matrix_descriptor(shared_.dS(stage, true)),
                        own_B = ptx::matrix_descriptor(shared_.K() + own_panel * kPanelBytes),
                        other_B =
                            ptx::matrix_descriptor(shared_.other_K() + other_panel * kPanelBytes);
#pragma unroll
    for (int k = 0; k < Config::kOwnKeys / 16; ++k) {
      const std::uint64_t rows = ptx::descriptor_step(k * 16 * Config::kPanelRowBytes);
      ptx::wgmma<Element, true>(dQ, own_A + rows, own_B + rows, k > 0);
    }
#pragma unroll
    for (int k = 0; k < Config::kOwnKeys / 16; ++k) {
      const std::uint64_t rows = ptx::descriptor_step(k * 16 * Config::kPanelRowBytes);
      ptx::wgmma<Element, true>(dQ, other_A + rows, other_B + rows, true);
    }
    ptx::wgmma_commit();
  }

  // -------------------------------------------------------------------------------- results

  /// Where this thread adds to the sums of dQ.
  template <int kNumber>
  __device__ float* sums_of(const BwdWgmmaTile& tile) const {
    return sums_of_part<Config>(arguments_.dQ_sums, work_.number_of_tile(tile, arguments_),
                                panel_of_dQ<kNumber>()) +
           4 * thread_of_warpgroup();
  }

  /// Adds the warpgroup's part of dQ of tile `number` to its sums. In turns: when keep_turns says so.
  template <int kNumber>
  __device__ void add_dQ(const float (&dQ)[Config::kColumnsOfDQ / 2], float* sums,
                         std::uint32_t number) {
    if constexpr (Config::kTakesTurns) {
      ptx::mbarrier_wait(shared_.may_add(warpgroup_), number % 2);
    }
#pragma unroll
    for (int i = 0; i < Config::kColumnsOfDQ / 2; i += 4) {
      if (!has_part_of_dQ<kNumber>()) break;
      const float four[4] = {dQ[i], dQ[i + 1], dQ[i + 2], dQ[i + 3]};
      ptx::red_add_4(sums + i * kWarpgroup, four);
    }
    if constexpr (Config::kTakesTurns) ptx::mbarrier_arrive(shared_.has_added(warpgroup_));
  }

  /// Writes the warpgroup's columns of dK and dV.
  template <int kColumns>
  __device__ void finish() {
    const Sizes& sizes = arguments_.sizes;
    const int num_chunks = (sizes.head_dim - Config::kHalfColumns * warpgroup_) / 8;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_key_ + key() + 8 * r;
      const bool is_key = row < sizes.seqlen_k;
      const int column = Config::kHalfColumns * warpgroup_;
      store_row_of_sums<Element>(arguments_.dK.row(work_.b, work_.kv_head, row) + column, is_key,
                                 columns<kColumns>(dK_), r, arguments_.softmax_scale, num_chunks,
                                 lane());
      store_row_of_sums<Element>(arguments_.dV.row(work_.b, work_.kv_head, row) + column, is_key,
                                 columns<kColumns>(dV_), r, 1.F, num_chunks, lane());
    }
  }

  // -------------------------------------------------------------------------------- what is hidden

  /// Rows that nobody sees may hold NaN, and 0 NaN is NaN.
  __device__ void clear_unseen_keys() {
    const Sizes& sizes = arguments_.sizes;
    const int other_key = work_.first_key + (1 - rank_) * Config::kOwnKeys;
    const IndexRange own = work_.seen_keys(first_key_, sizes),
                     other = work_.seen_keys(other_key, sizes);
    const auto are_all = [](const IndexRange& seen) {
      return seen.first <= 0 && seen.end >= Config::kOwnKeys;
    };
    if (are_all(own) && are_all(other)) return;
    const auto clear = [](ptx::SharedAddress tile, int num_panels, const IndexRange& seen) {
      clear_rows(tile, Config::kOwnKeys, num_panels, seen,
                 static_cast<int>(threadIdx.x) - kWarpgroup, Config::kComputing * kWarpgroup);
    };
    clear(shared_.K(), Config::kPanels, own);
    clear(shared_.V(), Config::kPanels, own);
    clear(shared_.other_K(),
          min(Config::kHalfPanels, Config::kPanels - Config::kHalfPanels * rank_), other);
    sync_computing();
  }
  __device__ bool has_unseen_queries(int q_tile) const {
    const int first = q_tile * kBlockQ;
    return seeing_.first > first || seeing_.end < min(first + kBlockQ, arguments_.sizes.seqlen_q);
  }
  __device__ void clear_unseen_queries(ptx::SharedAddress rows, int q_tile) {
    if (!has_unseen_queries(q_tile)) return;
    const int first = q_tile * kBlockQ;
    clear_rows(rows, kBlockQ, Config::kPanels, {seeing_.first - first, seeing_.end - first},
               thread_of_warpgroup(), kWarpgroup);
    sync_warpgroup();
  }

  BwdPairShared<Config> shared_;
  const BwdWgmmaWork<Config>& work_;
  const BwdWgmmaArguments& arguments_;
  int rank_, warpgroup_, first_key_;
  IndexRange seeing_;  // the queries that see any key
  std::uint32_t P_[kSteps][4], dS_[kSteps][4];
  float dK_[Config::kHalfColumns / 2], dV_[Config::kHalfColumns / 2];
};

}  // namespace flashlab::cuda
