// bwd-twopass with the instructions of compute capability 9.0, its first pass: dQ. One block per tile of
// 128 queries. The second pass, for dK and dV, is bwd_onepass_wgmma_sm90.cuh without dQ.
//
//   delta = rowsum(dO o O)
//   for each K/V tile j that a query of the tile sees:
//     1  S = Q Kj^T,  dP = dO Vj^T,  and dQ += dS K of the tile before begin
//     2  wait for S;  P = 2^(c S - lse)
//     3  wait for dP;  dS = P o (dP - delta), 0 for hidden pairs;  wait for dQ
//   dQ += dS K of the last tile;  dQ = scale dQ
//
// Shapes   Q, O, dO, dQ [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q] fp32
//          K, V [batch, num_kv_heads, seqlen_k, head_dim];  bf16 or fp16, rows and strides of multiples
//          of 16 bytes; head_dim to 128
// Roles    one thread of warpgroup 0 issues all copies. The other two warpgroups compute, 64 queries
//          each. Neither waits for the other one
// Tiles    panels of 64 columns in the 128-byte swizzle. sQ, sdO [128, kHeadDim] stay; rings of three sK
//          and two sV [kBlockKV, kHeadDim]. S, dP, dQ and a rounded dS in registers, where dS is an
//          operand of the next product
// Grid     query tiles x heads x batch, tiles fastest, from the last to the first: under a causal mask
//          the last sees most keys
// Traffic  Q, dO, dQ once, K and V once for each query tile
// Against  bwd_onepass_wgmma_sm90: seven products for five, and no sums of dQ in memory, whose order
//          would change from run to run
// Source   toy-model notes, two-option algorithm, option 2; Dao 2023, FlashAttention-2
#pragma once

#include <cstdint>

#include "attention_cuda/device/quad_transpose.cuh"
#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/kernels/backward_wgmma/weights.cuh"
#include "attention_cuda/kernels/bwd_twopass_wgmma_sm90.hpp"
#include "attention_cuda/ptx/warpgroup.cuh"
#include "attention_cuda/ptx/wgmma.cuh"

namespace flashlab::cuda {

template <class ElementType, QueryPassShape kShapeOf>
struct QueryPassConfig {
  using Element = ElementType;
  using Shape = QueryPassShape;
  static constexpr QueryPassShape kShape = kShapeOf;
  static constexpr int kHeadDim = kShape.head_dim, kBlockKV = kShape.block_kv;
  static constexpr int kBlockQ = Shape::kBlockQ, kComputing = Shape::kComputing;
  static constexpr int kStagesK = Shape::kStagesK, kStagesV = Shape::kStagesV;
  static constexpr int kThreads = Shape::kNumThreads, kSharedBytes = kShape.shared_bytes();
  static constexpr int kWarpgroup = WgmmaShape::kWarpgroupThreads;
  static constexpr int kPanelRowBytes = Shape::kPanelRowBytes, kPanels = kShape.num_panels();
  static constexpr int kQueriesBytes = kShape.queries_bytes(), kKeysBytes = kShape.keys_bytes();
  // Shares of the 168 registers that the launch allocates for each of 384 threads.
  static constexpr int kLoadingRegisters = 24, kComputingRegisters = 240;
  static constexpr int kAllComputing = 1;  // a named barrier
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
};

struct QueryPassArguments {
  DeviceTensor<const float> lse;
  DeviceTensor<std::uint16_t> dQ;  // bf16 or fp16
  const float* delta;              // [batch, num_heads, seqlen_q]
  Sizes sizes;
  MaskArguments mask;
  float softmax_scale;
};

/// A block's shared memory.
template <class Config>
class QueryPassShared {
 public:
  __device__ explicit QueryPassShared(unsigned char* memory) {
    const ptx::SharedAddress first = ptx::shared_address(memory);
    constexpr ptx::SharedAddress kMask = WgmmaShape::kAlignment - 1;
    Q_ = (first + kMask) & ~kMask;
  }
  /// [kBlockQ, kHeadDim] each.
  __device__ ptx::SharedAddress Q() const { return Q_; }
  __device__ ptx::SharedAddress dO() const { return Q_ + Config::kQueriesBytes; }
  /// [kBlockKV, kHeadDim] each.
  __device__ ptx::SharedAddress K(int stage) const {
    return Q_ + 2 * Config::kQueriesBytes + stage * Config::kKeysBytes;
  }
  __device__ ptx::SharedAddress V(int stage) const { return K(Config::kStagesK + stage); }

  __device__ ptx::SharedAddress queries_full() const { return barrier(0); }
  __device__ ptx::SharedAddress k_full(int stage) const { return barrier(1 + 2 * stage); }
  __device__ ptx::SharedAddress k_empty(int stage) const { return barrier(2 + 2 * stage); }
  __device__ ptx::SharedAddress v_full(int stage) const { return k_full(Config::kStagesK + stage); }
  __device__ ptx::SharedAddress v_empty(int stage) const {
    return k_empty(Config::kStagesK + stage);
  }

 private:
  __device__ ptx::SharedAddress barrier(int number) const {
    return V(Config::kStagesV) + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress Q_;
};

/// By all threads of the block, before anything else.
template <class Config>
__device__ void initialise_barriers(const QueryPassShared<Config>& shared) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(shared.queries_full(), 1);
    for (int stage = 0; stage < Config::kStagesK + Config::kStagesV; ++stage) {
      ptx::mbarrier_init(shared.k_full(stage), 1);  // those of V follow
      ptx::mbarrier_init(shared.k_empty(stage), Config::kComputing);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
}

/// A block's queries, and the keys that they see.
template <class Config>
struct QueryPassWork {
  int b, h, kv_head;
  int first_query;
  int first_key;  // of tile 0: the first one that a query sees
  int num_tiles;
  VisibleKeys visible;

  __device__ explicit QueryPassWork(const QueryPassArguments& arguments) {
    const Sizes& sizes = arguments.sizes;
    const auto num_q_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, Config::kBlockQ));
    const Place place = place_of(blockIdx.x, num_q_tiles, sizes);
    b = place.b;
    h = place.h;
    kv_head = place.kv_head;
    first_query = (num_q_tiles - 1 - place.part) * Config::kBlockQ;
    visible = arguments.mask.of_batch_entry(b, sizes);
    first_key = visible.first_of_query(first_query);
    const int end_key = visible.of_query(min(first_query + Config::kBlockQ, sizes.seqlen_q) - 1);
    num_tiles = max(0, end_key - first_key + Config::kBlockKV - 1) / Config::kBlockKV;
  }

  __device__ int key_of(int tile) const { return first_key + tile * Config::kBlockKV; }
  /// Where a tile's copy lies in a ring, and the parity of that stage's phase.
  template <int kStages>
  __device__ static int stage(int tile) {
    return static_cast<int>(static_cast<std::uint32_t>(tile) % kStages);
  }
  template <int kStages>
  __device__ static std::uint32_t parity(int tile) {
    return static_cast<std::uint32_t>(tile) / kStages % 2;
  }
};

/// By one thread: Q and dO, then K and V of all tiles.
template <class Config>
__device__ void load_tiles(const QueryPassShared<Config>& shared, const QueryPassWork<Config>& work,
                           const ptx::TensorMap& Q_map, const ptx::TensorMap& K_map,
                           const ptx::TensorMap& V_map, const ptx::TensorMap& dO_map) {
  constexpr int kStagesK = Config::kStagesK, kStagesV = Config::kStagesV;
  const auto load = [&](ptx::SharedAddress to, const ptx::TensorMap& map, ptx::SharedAddress full,
                        int rows, int first_row, int head) {
    for (int panel = 0; panel < Config::kPanels; ++panel) {
      ptx::load_box(to + panel * rows * Config::kPanelRowBytes, map, full,
                    panel * WgmmaShape::kPanelColumns, first_row, head, work.b);
    }
  };
  if (work.num_tiles == 0) return;
  ptx::mbarrier_arrive_expect(shared.queries_full(), 2 * Config::kQueriesBytes);
  load(shared.Q(), Q_map, shared.queries_full(), Config::kBlockQ, work.first_query, work.h);
  load(shared.dO(), dO_map, shared.queries_full(), Config::kBlockQ, work.first_query, work.h);
  // The first wait for each stage succeeds: the phase before the first one counts as complete.
#pragma unroll 1
  for (int tile = 0; tile < work.num_tiles; ++tile) {
    const int k = work.template stage<kStagesK>(tile), v = work.template stage<kStagesV>(tile);
    ptx::mbarrier_wait(shared.k_empty(k), work.template parity<kStagesK>(tile) ^ 1);
    ptx::mbarrier_arrive_expect(shared.k_full(k), Config::kKeysBytes);
    load(shared.K(k), K_map, shared.k_full(k), Config::kBlockKV, work.key_of(tile), work.kv_head);
    ptx::mbarrier_wait(shared.v_empty(v), work.template parity<kStagesV>(tile) ^ 1);
    ptx::mbarrier_arrive_expect(shared.v_full(v), Config::kKeysBytes);
    load(shared.V(v), V_map, shared.v_full(v), Config::kBlockKV, work.key_of(tile), work.kv_head);
  }
}

/// One computing warpgroup: 64 queries. Each thread has a part of two of them, 8 apart.
template <class Config>
class QueryPassComputing {
 public:
  __device__ QueryPassComputing(const QueryPassShared<Config>& shared,
                                const QueryPassWork<Config>& work,
                                const QueryPassArguments& arguments)
      : shared_(shared),
        work_(work),
        arguments_(arguments),
        warpgroup_(ptx::same_in_warp(static_cast<int>(threadIdx.x) / Config::kWarpgroup) - 1),
        end_for_all_(work.visible.of_query(first_of_warpgroup())),
        first_for_all_(work.visible.first_of_query(first_of_warpgroup() + kRows - 1)) {}

  __device__ void run() {
#pragma unroll
    for (int i = 0; i < Config::kHeadDim / 2; ++i) dQ_[i] = 0;
    if (work_.num_tiles > 0) {
      for (int r = 0; r < 2; ++r) {
        statistics_[r] =
            load_statistics(arguments_, arguments_.delta, work_.b, work_.h, first_row() + 8 * r);
      }
      ptx::mbarrier_wait(shared_.queries_full(), 0);
      add_tile<false>(0);
#pragma unroll 1
      for (int tile = 1; tile < work_.num_tiles; ++tile) add_tile<true>(tile);
      multiply_dS_K(work_.num_tiles - 1);
      ptx::wgmma_wait<0>();
    }
    finish();
  }

 private:
  static constexpr int kRows = WgmmaShape::kRowsOfWarpgroup;
  static constexpr int kPanelRowBytes = Config::kPanelRowBytes;

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ int first_of_warpgroup() const { return work_.first_query + kRows * warpgroup_; }
  /// The query of this thread's first row.
  __device__ int first_row() const {
    const int warp = static_cast<int>(threadIdx.x) % Config::kWarpgroup / 32;
    return first_of_warpgroup() + 16 * warp + lane() / 4;
  }

  /// kHasBefore: with dQ of the tile before.
  template <bool kHasBefore>
  __device__ void add_tile(int tile) {
    const int k = work_.template stage<Config::kStagesK>(tile),
              v = work_.template stage<Config::kStagesV>(tile);
    float S[Config::kBlockKV / 2], dP[Config::kBlockKV / 2];
    // 1.
    ptx::mbarrier_wait(shared_.k_full(k), work_.template parity<Config::kStagesK>(tile));
    clear_unseen_keys(tile);
    multiply_rows(S, shared_.Q(), shared_.K(k));
    ptx::mbarrier_wait(shared_.v_full(v), work_.template parity<Config::kStagesV>(tile));
    multiply_rows(dP, shared_.dO(), shared_.V(v));
    if constexpr (kHasBefore) multiply_dS_K(tile - 1);
    // 2. and 3.
    ptx::wgmma_wait<kHasBefore ? 2 : 1>();
    const float c = arguments_.softmax_scale * kLog2E;
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      S[i] = ptx::exp2_approximate(S[i] * c - statistics_[i / 2 % 2].lse_log2);
    }
    ptx::wgmma_wait<kHasBefore ? 1 : 0>();
    release(shared_.v_empty(v));
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      dP[i] = S[i] * (dP[i] - statistics_[i / 2 % 2].delta);
    }
    if (is_masked(tile)) mask(dP, tile);
    if constexpr (kHasBefore) {
      ptx::wgmma_wait<0>();
      release(shared_.k_empty(work_.template stage<Config::kStagesK>(tile - 1)));
    }
    round<typename Config::Element>(dS_, dP);  // not earlier: the product reads these registers
  }

  __device__ void release(ptx::SharedAddress empty) {
    if (threadIdx.x % Config::kWarpgroup == 0) ptx::mbarrier_arrive(empty);
  }

  // -------------------------------------------------------------------------------- products

  /// `sums` = the warpgroup's rows of Q or dO times all rows of K or V, transposed. Asynchronous.
  __device__ void multiply_rows(float (&sums)[Config::kBlockKV / 2], ptx::SharedAddress queries,
                                ptx::SharedAddress keys) {
    ptx::wgmma_fence();
    const std::uint64_t A = ptx::matrix_descriptor(queries + warpgroup_ * kRows * kPanelRowBytes),
                        B = ptx::matrix_descriptor(keys);
#pragma unroll
    for (int k = 0; k < Config::kHeadDim / 16; ++k) {
      const int panel = k / 4, column = 32 * (k % 4);
      ptx::wgmma<typename Config::Element>(
          sums, A + ptx::descriptor_step(panel * Config::kBlockQ * kPanelRowBytes + column),
          B + ptx::descriptor_step(panel * Config::kBlockKV * kPanelRowBytes + column), k > 0);
    }
    ptx::wgmma_commit();
  }

  /// dQ += dS K of a tile, asynchronous.
  __device__ void multiply_dS_K(int tile) {
    ptx::wgmma_fence();
    const std::uint64_t B = ptx::matrix_descriptor(
        shared_.K(work_.template stage<Config::kStagesK>(tile)), Config::kBlockKV * kPanelRowBytes);
#pragma unroll
    for (int k = 0; k < Config::kBlockKV / 16; ++k) {
      ptx::wgmma<typename Config::Element>(dQ_, dS_[k],
                                           B + ptx::descriptor_step(k * 16 * kPanelRowBytes), true);
    }
    ptx::wgmma_commit();
  }

  // -------------------------------------------------------------------------------- what is hidden

  /// Whether some query of the warpgroup does not see some key of the tile.
  __device__ bool is_masked(int tile) const {
    const int first = work_.key_of(tile);
    return first < first_for_all_ || first + Config::kBlockKV > end_for_all_;
  }
  /// Sets dS of hidden pairs to 0. It may be NaN: P of a query that sees nothing is 0, but V and dO may
  /// hold NaN where they are not seen.
  __device__ void mask(float (&dS)[Config::kBlockKV / 2], int tile) {
    const int first_column = work_.key_of(tile) + 2 * (lane() % 4);  // of this thread
    int first[2], count[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const IndexRange seen = work_.visible.range_of_query(first_row() + 8 * r);
      first[r] = seen.first - first_column;
      count[r] = max(0, seen.end - seen.first);
    }
#pragma unroll
    for (int i = 0; i < Config::kBlockKV / 2; ++i) {
      const auto past = static_cast<unsigned>(8 * (i / 4) + i % 2 - first[i / 2 % 2]);
      if (past >= static_cast<unsigned>(count[i / 2 % 2])) dS[i] = 0;
    }
  }
  /// Rows of K that nobody sees may hold NaN, and 0 NaN is NaN.
  __device__ void clear_unseen_keys(int tile) {
    const int first = work_.key_of(tile);
    const Sizes& sizes = arguments_.sizes;
    const IndexRange seen = {work_.visible.first_of_query(0) - first,
                             work_.visible.of_query(sizes.seqlen_q - 1) - first};
    if (seen.first <= 0 && seen.end >= min(Config::kBlockKV, sizes.seqlen_k - first)) return;
    clear_rows(shared_.K(work_.template stage<Config::kStagesK>(tile)), Config::kBlockKV,
               Config::kPanels, seen, static_cast<int>(threadIdx.x) - Config::kWarpgroup,
               Config::kComputing * Config::kWarpgroup);
    ptx::barrier_sync(Config::kAllComputing, Config::kComputing * Config::kWarpgroup);
  }

  // -------------------------------------------------------------------------------- results

  /// Writes dQ.
  __device__ void finish() {
    const Sizes& sizes = arguments_.sizes;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row() + 8 * r;
      store_row_of_sums<typename Config::Element>(
          arguments_.dQ.row(work_.b, work_.h, row), row < sizes.seqlen_q, dQ_, r,
          arguments_.softmax_scale, sizes.head_dim / 8, lane());
    }
  }

  QueryPassShared<Config> shared_;
  const QueryPassWork<Config>& work_;
  const QueryPassArguments& arguments_;
  int warpgroup_;
  int end_for_all_, first_for_all_;  // the keys that all queries of the warpgroup see
  QueryStatistics statistics_[2];
  float dQ_[Config::kHeadDim / 2];
  std::uint32_t dS_[Config::kBlockKV / 16][4];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    bwd_twopass_dQ_wgmma_sm90_kernel(const __grid_constant__ ptx::TensorMap Q_map,
                                     const __grid_constant__ ptx::TensorMap K_map,
                                     const __grid_constant__ ptx::TensorMap V_map,
                                     const __grid_constant__ ptx::TensorMap dO_map,
                                     const QueryPassArguments arguments) {
  const QueryPassShared<Config> shared(ptx::shared_memory());
  initialise_barriers(shared);
  const QueryPassWork<Config> work(arguments);
  if (threadIdx.x < Config::kWarpgroup) {
    ptx::release_registers<Config::kLoadingRegisters>();
    if (threadIdx.x < 32 && ptx::elect_one()) {
      load_tiles(shared, work, Q_map, K_map, V_map, dO_map);
    }
  } else {
    ptx::take_registers<Config::kComputingRegisters>();
    QueryPassComputing<Config>(shared, work, arguments).run();
  }
}

}  // namespace flashlab::cuda
