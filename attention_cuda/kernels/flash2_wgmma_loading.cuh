// What the warpgroups of flash2_wgmma_sm90 share, and the one that loads.
#pragma once

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/kernels/flash2_wgmma_sm90.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

inline constexpr int kWarpgroup = WgmmaShape::kWarpgroupThreads, kPanelRowBytes = 128;

template <class ElementType, WgmmaShape kShape>
struct WgmmaConfig {
  using Element = ElementType;
  static constexpr int kHeadDim = kShape.head_dim, kBlockKV = kShape.block_kv;
  static constexpr int kBlockQ = kShape.block_q(), kComputing = kShape.computing;
  static constexpr bool kTakesTurns = kShape.takes_turns;
  // Under the causal mask a warpgroup skips whole tiles only if the block has enough queries after it.
  static constexpr bool kSkips = kBlockQ - WgmmaShape::kRowsOfWarpgroup >= kBlockKV;
  static constexpr int kStages = WgmmaShape::kStages, kThreads = kShape.num_threads();
  static constexpr int kPanels = kShape.num_panels(), kRowBytes = kPanels * kPanelRowBytes;
  static constexpr int kQBytes = kBlockQ * kRowBytes, kKVBytes = kBlockKV * kRowBytes;
  static constexpr int kSharedBytes = kShape.shared_bytes();
  // Shares of the registers that the launch allocates: 168 for 384 threads, 128 for 512.
  static constexpr int kLoadingRegisters = kComputing == 2 ? 24 : 32;
  static constexpr int kComputingRegisters = kComputing == 2 ? 240 : 160;
  // Named barriers: one for each warpgroup's turn, one for each warpgroup, one for all that compute.
  static constexpr int kFirstTurn = 1, kFirstWarpgroup = kFirstTurn + kComputing;
  static constexpr int kAllComputing = kFirstWarpgroup + kComputing;
  static_assert(kBlockQ - WgmmaShape::kRowsOfWarpgroup <= (kStages - 1) * kBlockKV || !kSkips,
                "threads that do not wait for a skipped tile wait for the next one in its stage");
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
  static_assert(kBlockKV % 16 == 0 && kHeadDim % 32 == 0);
};

struct WgmmaArguments {
  DeviceTensor<float> lse;
  Sizes sizes;
  MaskArguments mask;
  float factor;      // of S before anything else: 1, -1 for a negative scale, 0
  float scale_log2;  // positive
  int heads_together;
};

/// A block's shared memory.
template <class Config>
class WgmmaShared {
 public:
  __device__ explicit WgmmaShared(unsigned char* memory) {
    const ptx::SharedAddress first = ptx::shared_address(memory);
    constexpr ptx::SharedAddress kMask = WgmmaShape::kAlignment - 1;
    Q_ = (first + kMask) & ~kMask;
  }
  /// [kBlockQ, kHeadDim], later O.
  __device__ ptx::SharedAddress Q() const { return Q_; }
  /// [kBlockKV, kHeadDim] each.
  __device__ ptx::SharedAddress K(int stage) const {
    return Q_ + Config::kQBytes + stage * Config::kKVBytes;
  }
  __device__ ptx::SharedAddress V(int stage) const { return K(Config::kStages + stage); }
  __device__ ptx::SharedAddress q_full() const { return barrier(0); }
  __device__ ptx::SharedAddress k_full(int stage) const { return barrier(1 + 4 * stage); }
  __device__ ptx::SharedAddress k_empty(int stage) const { return barrier(2 + 4 * stage); }
  __device__ ptx::SharedAddress v_full(int stage) const { return barrier(3 + 4 * stage); }
  __device__ ptx::SharedAddress v_empty(int stage) const { return barrier(4 + 4 * stage); }

 private:
  __device__ ptx::SharedAddress barrier(int number) const {
    return V(Config::kStages) + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress Q_;
};

/// A stage of a ring, and the parity of its phase.
struct WgmmaStage {
  int index;
  std::uint32_t parity;
};

/// A block's queries and the keys that they see.
template <class Config>
struct WgmmaWork {
  int b, h, kv_head, first_query, num_kv_tiles;
  VisibleKeys visible;

  __device__ explicit WgmmaWork(const WgmmaArguments& arguments) {
    const Sizes& sizes = arguments.sizes;
    const GroupedTile tile = grouped_tile(sizes, arguments.heads_together);
    b = tile.b;
    h = tile.h;
    kv_head = h / sizes.heads_per_kv_head;
    first_query = tile.q_tile * Config::kBlockQ;
    visible = arguments.mask.of_batch_entry(b, sizes);
    num_kv_tiles = tiles_of_queries(first_query, first_query + Config::kBlockQ, sizes.seqlen_q);
  }

  /// Where a tile of K or V lies: tiles are loaded from the last to the first.
  __device__ WgmmaStage stage(int tile) const {
    const int number = num_kv_tiles - 1 - tile;
    return {number % Config::kStages, static_cast<std::uint32_t>(number / Config::kStages % 2)};
  }

  /// The tiles of K and V that the queries of a warpgroup see.
  __device__ int tiles_of_warpgroup(int warpgroup, int seqlen_q) const {
    const int first = first_query + WgmmaShape::kRowsOfWarpgroup * warpgroup;
    return tiles_of_queries(first, first + WgmmaShape::kRowsOfWarpgroup, seqlen_q);
  }

 private:
  __device__ int tiles_of_queries(int first, int end, int seqlen_q) const {
    if (first >= seqlen_q) return 0;
    return (visible.of_query(min(end, seqlen_q) - 1) + Config::kBlockKV - 1) / Config::kBlockKV;
  }
};

/// Loads Q, then all tiles of K and V from the last to the first.
template <class Config>
__device__ void load_tiles(const WgmmaShared<Config>& shared, const WgmmaWork<Config>& work,
                           const ptx::TensorMap& Q_map, const ptx::TensorMap& K_map,
                           const ptx::TensorMap& V_map) {
  const auto load = [&](ptx::SharedAddress to, const ptx::TensorMap& map, ptx::SharedAddress full,
                        int rows, int first_row, int head) {
    ptx::mbarrier_arrive_expect(full, static_cast<std::uint32_t>(rows * Config::kRowBytes));
    for (int panel = 0; panel < Config::kPanels; ++panel) {
      ptx::load_box(to + panel * rows * kPanelRowBytes, map, full,
                    panel * WgmmaShape::kPanelColumns, first_row, head, work.b);
    }
  };
  // The first wait for each stage succeeds: the phase before the first one counts as complete.
  const auto load_k = [&](int tile) {
    const WgmmaStage stage = work.stage(tile);
    ptx::mbarrier_wait(shared.k_empty(stage.index), stage.parity ^ 1);
    load(shared.K(stage.index), K_map, shared.k_full(stage.index), Config::kBlockKV,
         tile * Config::kBlockKV, work.kv_head);
  };
  const auto load_v = [&](int tile) {
    const WgmmaStage stage = work.stage(tile);
    ptx::mbarrier_wait(shared.v_empty(stage.index), stage.parity ^ 1);
    load(shared.V(stage.index), V_map, shared.v_full(stage.index), Config::kBlockKV,
         tile * Config::kBlockKV, work.kv_head);
  };
  if (work.num_kv_tiles == 0) return;
  load_k(work.num_kv_tiles - 1);
  load(shared.Q(), Q_map, shared.q_full(), Config::kBlockQ, work.first_query, work.h);
  for (int tile = work.num_kv_tiles - 2; tile >= 0; --tile) {
    load_k(tile);
    load_v(tile + 1);
  }
  load_v(0);
}

}  // namespace flashlab::cuda
