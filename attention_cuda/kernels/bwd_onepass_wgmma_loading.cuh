// What the warpgroups of bwd_onepass_wgmma_sm90 share, and the one that loads.
#pragma once

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/backward_mma.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

template <class ElementType, BwdWgmmaShape kShapeOf>
struct BwdWgmmaConfig {
  using Element = ElementType;
  static constexpr BwdWgmmaShape kShape = kShapeOf;
  static constexpr int kHeadDim = kShape.head_dim, kBlockQ = kShape.block_q;
  static constexpr int kBlockKV = BwdWgmmaShape::kBlockKV, kComputing = BwdWgmmaShape::kComputing;
  static constexpr int kThreads = BwdWgmmaShape::kNumThreads, kStages = BwdWgmmaShape::kStages;
  static constexpr int kWarpgroup = WgmmaShape::kWarpgroupThreads;
  static constexpr int kPanelRowBytes = BwdWgmmaShape::kPanelRowBytes;
  static constexpr int kPanels = kShape.num_panels();
  static constexpr int kSharedBytes = kShape.shared_bytes();
  // Warpgroups divide a tile of dQ [kBlockQ, kHeadDim]: by columns, or if it has 128 queries by those.
  static constexpr bool kDividesColumns = kBlockQ == BwdWgmmaShape::kRowsOfWarpgroup;
  static constexpr int kColumnsOfDQ = kDividesColumns ? kHeadDim / kComputing : kHeadDim;
  static constexpr int kSumsOfWarpgroup = kBlockQ * kHeadDim / kComputing;
  // Shares of the 168 registers that the launch allocates for each of 384 threads.
  static constexpr int kLoadingRegisters = 24, kComputingRegisters = 240;
  // Named barriers: one for all that compute, then one for each warpgroup.
  static constexpr int kAllComputing = 1, kFirstWarpgroup = 2;
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
  static_assert(kDividesColumns || kBlockQ == kComputing * BwdWgmmaShape::kRowsOfWarpgroup);
};

struct BwdWgmmaArguments {
  DeviceTensor<const float> lse;
  DeviceTensor<std::uint16_t> dK, dV;  // bf16 or fp16
  const float* delta;                  // [batch, num_heads, seqlen_q]
  float* dQ_sums;                      // [batch, num_heads, query tiles][kBlockQ kHeadDim]
  Sizes sizes;
  MaskArguments mask;
  float softmax_scale;
  int num_q_tiles;  // of a head
};

/// A block's shared memory.
template <class Config>
class BwdWgmmaShared {
 public:
  __device__ explicit BwdWgmmaShared(unsigned char* memory) {
    const ptx::SharedAddress first = ptx::shared_address(memory);
    constexpr ptx::SharedAddress kMask = WgmmaShape::kAlignment - 1;
    K_ = (first + kMask) & ~kMask;
  }
  /// [kBlockKV, kHeadDim] each.
  __device__ ptx::SharedAddress K() const { return K_; }
  __device__ ptx::SharedAddress V() const { return K_ + kShape.keys_bytes(); }
  /// [kBlockQ, kHeadDim] each.
  __device__ ptx::SharedAddress Q(int stage) const {
    return K_ + 2 * kShape.keys_bytes() + stage * kShape.queries_bytes();
  }
  __device__ ptx::SharedAddress dO(int stage) const { return Q(Config::kStages + stage); }
  /// dS^T [kBlockKV, kBlockQ].
  __device__ ptx::SharedAddress dS(int stage) const {
    return Q(2 * Config::kStages) + stage * kShape.gradient_bytes();
  }
  /// A warpgroup's part of a tile of dQ, in the order of the fragments.
  __device__ ptx::SharedAddress sums(int warpgroup) const {
    return dS(Config::kStages) + warpgroup * 4 * Config::kSumsOfWarpgroup;
  }
  /// lse log2(e) [kBlockQ], delta [kBlockQ].
  __device__ ptx::SharedAddress statistics(int stage) const {
    return sums(Config::kComputing) + stage * kShape.statistics_bytes();
  }
  /// [kBlockKV][2]: the first query that sees a key, and their number.
  __device__ ptx::SharedAddress limits() const { return statistics(Config::kStages); }

  __device__ ptx::SharedAddress k_full() const { return barrier(0); }
  __device__ ptx::SharedAddress v_full() const { return barrier(1); }
  __device__ ptx::SharedAddress q_full(int stage) const { return barrier(2 + 4 * stage); }
  __device__ ptx::SharedAddress q_empty(int stage) const { return barrier(3 + 4 * stage); }
  __device__ ptx::SharedAddress do_full(int stage) const { return barrier(4 + 4 * stage); }
  __device__ ptx::SharedAddress do_empty(int stage) const { return barrier(5 + 4 * stage); }

 private:
  static constexpr BwdWgmmaShape kShape = Config::kShape;
  __device__ ptx::SharedAddress barrier(int number) const {
    return limits() + BwdWgmmaShape::kLimitsBytes + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress K_;
};

/// By all threads of the block, before anything else.
template <class Config>
__device__ void initialise_barriers(const BwdWgmmaShared<Config>& shared) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(shared.k_full(), 1);
    ptx::mbarrier_init(shared.v_full(), 1);
    for (int stage = 0; stage < Config::kStages; ++stage) {
      ptx::mbarrier_init(shared.q_full(stage), 2);  // the copy, and the statistics
      ptx::mbarrier_init(shared.q_empty(stage), Config::kComputing);
      ptx::mbarrier_init(shared.do_full(stage), 1);
      ptx::mbarrier_init(shared.do_empty(stage), Config::kComputing);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
}

/// A query tile of the block's walk, and where its copies lie.
struct BwdWgmmaTile {
  int head, q_tile;
  int stage;
  std::uint32_t parity;  // of the stage's phase
};

/// A block's keys, and the queries that see them.
template <class Config>
struct BwdWgmmaWork {
  int b, kv_head;
  int first_key;
  int first_tile, end_tile;  // query tiles that see a key
  VisibleKeys visible;

  __device__ explicit BwdWgmmaWork(const BwdWgmmaArguments& arguments) {
    const Sizes& sizes = arguments.sizes;
    const auto num_tiles = static_cast<int>(ceil_div(sizes.seqlen_k, Config::kBlockKV));
    const Place place = place_of_kv(blockIdx.x, num_tiles, sizes);
    b = place.b;
    kv_head = place.h;
    first_key = place.part * Config::kBlockKV;
    visible = arguments.mask.of_batch_entry(b, sizes);
    const int last_key = min(first_key + Config::kBlockKV, visible.keys) - 1;
    const int end_query = min(visible.end_query(last_key), sizes.seqlen_q);
    first_tile = visible.first_query(first_key) / Config::kBlockQ;
    end_tile = static_cast<int>(ceil_div(end_query, Config::kBlockQ));
  }

  /// Calls work(BwdWgmmaTile): all query tiles of one head, then those of the next.
  template <class Work>
  __device__ __forceinline__ void for_each_query_tile(const Sizes& sizes, const Work& work) const {
    std::uint32_t number = 0;
    const int first_head = kv_head * sizes.heads_per_kv_head;
#pragma unroll 1
    for (int head = first_head; head < first_head + sizes.heads_per_kv_head; ++head) {
#pragma unroll 1
      for (int q_tile = first_tile; q_tile < end_tile; ++q_tile, ++number) {
        work(BwdWgmmaTile{head, q_tile, static_cast<int>(number % Config::kStages),
                          number / Config::kStages % 2});
      }
    }
  }
};

/// By one thread: K, V, then Q and dO of all query tiles.
template <class Config>
__device__ void load_tiles(const BwdWgmmaShared<Config>& shared, const BwdWgmmaWork<Config>& work,
                           const Sizes& sizes, const ptx::TensorMap& Q_map,
                           const ptx::TensorMap& K_map, const ptx::TensorMap& V_map,
                           const ptx::TensorMap& dO_map) {
  const auto load = [&](ptx::SharedAddress to, const ptx::TensorMap& map, ptx::SharedAddress full,
                        int rows, int first_row, int head) {
    const int panel_bytes = rows * Config::kPanelRowBytes;
    ptx::mbarrier_arrive_expect(full, static_cast<std::uint32_t>(Config::kPanels * panel_bytes));
    for (int panel = 0; panel < Config::kPanels; ++panel) {
      ptx::load_box(to + panel * panel_bytes, map, full, panel * WgmmaShape::kPanelColumns,
                    first_row, head, work.b);
    }
  };
  if (work.first_tile >= work.end_tile) return;
  load(shared.K(), K_map, shared.k_full(), Config::kBlockKV, work.first_key, work.kv_head);
  load(shared.V(), V_map, shared.v_full(), Config::kBlockKV, work.first_key, work.kv_head);
  // The first wait for each stage succeeds: the phase before the first one counts as complete.
  work.for_each_query_tile(sizes, [&](const BwdWgmmaTile& tile) {
    const int first_query = tile.q_tile * Config::kBlockQ;
    ptx::mbarrier_wait(shared.q_empty(tile.stage), tile.parity ^ 1);
    load(shared.Q(tile.stage), Q_map, shared.q_full(tile.stage), Config::kBlockQ, first_query,
         tile.head);
    ptx::mbarrier_wait(shared.do_empty(tile.stage), tile.parity ^ 1);
    load(shared.dO(tile.stage), dO_map, shared.do_full(tile.stage), Config::kBlockQ, first_query,
         tile.head);
  });
}

/// By one warp: lse and delta of all query tiles. Copies of rows of any length are not for bulk copies.
template <class Config>
__device__ void load_statistics(const BwdWgmmaShared<Config>& shared,
                                const BwdWgmmaWork<Config>& work,
                                const BwdWgmmaArguments& arguments) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  work.for_each_query_tile(arguments.sizes, [&](const BwdWgmmaTile& tile) {
    ptx::mbarrier_wait(shared.q_empty(tile.stage), tile.parity ^ 1);
#pragma unroll
    for (int row = lane; row < Config::kBlockQ; row += 32) {
      const QueryStatistics statistics = load_statistics(
          arguments, arguments.delta, work.b, tile.head, tile.q_tile * Config::kBlockQ + row);
      const ptx::SharedAddress to = shared.statistics(tile.stage) + 4 * row;
      ptx::store_shared(to, __float_as_uint(statistics.lse_log2));
      ptx::store_shared(to + 4 * Config::kBlockQ, __float_as_uint(statistics.delta));
    }
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(shared.q_full(tile.stage));
  });
}

}  // namespace flashlab::cuda
