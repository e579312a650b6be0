// What the warpgroups of flash2_wgmma_sm90 share, and the one that loads.
#pragma once

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/forward_state.cuh"
#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/kernels/flash2_wgmma_sm90.hpp"
#include "attention_cuda/kernels/forward_wgmma/marks.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "attention_cuda/ptx/warpgroup.cuh"

namespace flashlab::cuda {

inline constexpr int kWarpgroup = WgmmaShape::kWarpgroupThreads, kPanelRowBytes = 128;

template <class ElementType, WgmmaShape kShapeOf, class MarksType = NoMarks>
struct WgmmaConfig {
  using Element = ElementType;
  using Marks = MarksType;
  static constexpr WgmmaShape kShape = kShapeOf;
  static constexpr int kHeadDim = kShape.head_dim, kBlockKV = kShape.block_kv;
  static constexpr int kBlockQ = kShape.block_q(), kComputing = kShape.computing;
  static constexpr bool kOverlaps = kShape.overlaps, kTakesTurns = kShape.takes_turns;
  static constexpr bool kComparesThree = kShape.compares_three;
  static constexpr bool kCountsUnits = kShape.counts_units;
  // Under the causal mask a warpgroup skips whole tiles only if the block has enough queries after it.
  static constexpr bool kSkips = kBlockQ - WgmmaShape::kRowsOfWarpgroup >= kBlockKV;
  static constexpr bool kTakesWindows = true;
  static constexpr int kStagesK = kShape.stages_k, kStagesV = kShape.stages_v;
  static constexpr int kThreads = kShape.num_threads();
  static constexpr int kPanels = kShape.num_panels(), kRowBytes = kPanels * kPanelRowBytes;
  static constexpr int kQBytes = kBlockQ * kRowBytes, kKVBytes = kBlockKV * kRowBytes;
  static constexpr int kSharedBytes = kShape.shared_bytes();
  // Shares of the registers that the launch allocates: 168 for 384 threads, 128 for 512.
  static constexpr int kLoadingRegisters = kComputing == 2 ? 24 : 32;
  static constexpr int kComputingRegisters = kComputing == 2 ? 240 : 160;
  // Named barriers: one for each warpgroup's turn, one for all that compute.
  static constexpr int kFirstTurn = 1, kAllComputing = kFirstTurn + kComputing;
  static_assert(kBlockQ - WgmmaShape::kRowsOfWarpgroup <= kBlockKV || !kSkips,
                "a warpgroup skips at most the last tile, or all");
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
  static_assert(kBlockKV % 16 == 0 && kHeadDim % 32 == 0);
};

struct WgmmaArguments {
  DeviceTensor<std::uint16_t> O;  // bf16 or fp16
  DeviceTensor<float> lse;
  StateTensors state_in, state_out;
  Sizes sizes;
  MaskArguments mask;
  float factor;      // of S before anything else: 1, -1 for a negative scale, 0
  float scale;       // positive: of S into lse
  float scale_log2;  // c = scale log2(e)
  PlaceOrder units;  // what a block takes in a turn: query tiles, or pairs of them
  int num_q_tiles;   // of a head
  int rows_before;   // of the first query tile, before query 0
  bool is_paired;    // a unit is a long tile and the short one that makes it as long as all others
  const int* stop_flag = nullptr;
  // How many units blocks have taken beyond the first one of each. Null: block b takes b, b + gridDim.x, …
  int* next_unit = nullptr;
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
  /// [kBlockQ, kHeadDim].
  __device__ ptx::SharedAddress Q() const { return Q_; }
  /// [kBlockKV, kHeadDim] each.
  __device__ ptx::SharedAddress K(int stage) const {
    return Q_ + Config::kQBytes + stage * Config::kKVBytes;
  }
  __device__ ptx::SharedAddress V(int stage) const { return K(Config::kStagesK + stage); }
  __device__ ptx::SharedAddress k_full(int stage) const { return barrier(2 * stage); }
  __device__ ptx::SharedAddress k_empty(int stage) const { return barrier(2 * stage + 1); }
  __device__ ptx::SharedAddress v_full(int stage) const {
    return barrier(2 * (Config::kStagesK + stage));
  }
  __device__ ptx::SharedAddress v_empty(int stage) const {
    return barrier(2 * (Config::kStagesK + stage) + 1);
  }
  /// For the 64 rows of Q of each computing warpgroup.
  __device__ ptx::SharedAddress q_full(int warpgroup) const {
    return barrier(2 * (Config::kStagesK + Config::kStagesV + warpgroup));
  }
  __device__ ptx::SharedAddress q_empty(int warpgroup) const {
    return barrier(2 * (Config::kStagesK + Config::kStagesV + warpgroup) + 1);
  }
  /// The number of a unit from the counter, in one of two slots.
  __device__ ptx::SharedAddress unit_full(int slot) const { return barrier(kUnits + 2 * slot); }
  __device__ ptx::SharedAddress unit_empty(int slot) const {
    return barrier(kUnits + 2 * slot + 1);
  }
  __device__ ptx::SharedAddress unit(int slot) const {
    return barrier(kUnits + 2 * WgmmaShape::kUnitSlots) + 4 * slot;
  }

 private:
  static constexpr int kUnits = 2 * (Config::kStagesK + Config::kStagesV + Config::kComputing);
  __device__ ptx::SharedAddress barrier(int number) const {
    return V(Config::kStagesV) + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress Q_;
};

/// By all threads of the block, before anything else.
template <class Config>
__device__ void initialise_barriers(const WgmmaShared<Config>& shared) {
  if (threadIdx.x == 0) {
    for (int warpgroup = 0; warpgroup < Config::kComputing; ++warpgroup) {
      ptx::mbarrier_init(shared.q_full(warpgroup), 1);
      ptx::mbarrier_init(shared.q_empty(warpgroup), kWarpgroup / 32);
    }
    for (int stage = 0; stage < Config::kStagesK; ++stage) {
      ptx::mbarrier_init(shared.k_full(stage), 1);
      ptx::mbarrier_init(shared.k_empty(stage), Config::kComputing);
    }
    for (int stage = 0; stage < Config::kStagesV; ++stage) {
      ptx::mbarrier_init(shared.v_full(stage), 1);
      ptx::mbarrier_init(shared.v_empty(stage), Config::kComputing);
    }
    for (int slot = 0; Config::kCountsUnits && slot < WgmmaShape::kUnitSlots; ++slot) {
      ptx::mbarrier_init(shared.unit_full(slot), 1);
      ptx::mbarrier_init(shared.unit_empty(slot), Config::kComputing * kWarpgroup / 32);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
}

/// A stage of a ring, and the parity of its phase.
struct WgmmaStage {
  int index;
  std::uint32_t parity;
};

/// One of a block's query tiles, and the keys that its queries see.
template <class Config>
struct WgmmaWork {
  int b, h, kv_head;
  int first_query;  // of the tile; negative if whole warpgroups have no queries
  int first_key;    // of tile 0: the first one that a query sees
  int num_kv_tiles;
  int turn;         // the number of query tiles that the block had before
  int last_number;  // counts the tiles of K and V that the block loads: the last one's
  VisibleKeys visible;

  __device__ WgmmaWork(const WgmmaArguments& arguments, const GroupedTile& tile, int turn_,
                       int num_loaded)
      : b(tile.b), h(tile.h), turn(turn_) {
    const Sizes& sizes = arguments.sizes;
    kv_head = arguments.units.heads_per_kv_head.quotient(h);
    first_query = tile.q_tile * Config::kBlockQ - arguments.rows_before;
    visible = arguments.mask.of_batch_entry(b, sizes);
    if (!Config::kTakesWindows) visible.ranges = {};  // packed sequences are for other kernels
    first_key = Config::kTakesWindows ? visible.first_of_query(max(0, first_query)) : 0;
    num_kv_tiles = tiles_of_queries(first_query, first_query + Config::kBlockQ, sizes.seqlen_q);
    last_number = num_loaded + num_kv_tiles - 1;
  }

  /// Where a tile of K or V lies: tiles are loaded from the last to the first.
  __device__ WgmmaStage k_stage(int tile) const { return stage<Config::kStagesK>(tile); }
  __device__ WgmmaStage v_stage(int tile) const { return stage<Config::kStagesV>(tile); }

  /// The tiles of K and V that the queries of a warpgroup see.
  __device__ int tiles_of_warpgroup(int warpgroup, int seqlen_q) const {
    const int first = first_query + WgmmaShape::kRowsOfWarpgroup * warpgroup;
    return tiles_of_queries(first, first + WgmmaShape::kRowsOfWarpgroup, seqlen_q);
  }

 private:
  template <int kStages>
  __device__ WgmmaStage stage(int tile) const {
    const auto number = static_cast<std::uint32_t>(last_number - tile);
    return {static_cast<int>(number % kStages), number / kStages % 2};
  }
  __device__ int tiles_of_queries(int first, int end, int seqlen_q) const {
    if (first >= seqlen_q || end <= 0) return 0;
    const int end_key = visible.of_query(min(end, seqlen_q) - 1);
    return max(0, end_key - first_key + Config::kBlockKV - 1) / Config::kBlockKV;
  }
};

/// The units of a block that takes every gridDim.x-th one.
struct WgmmaUnitsInTurn {
  __device__ static int of_turn(int turn) {
    return static_cast<int>(blockIdx.x) + turn * static_cast<int>(gridDim.x);
  }
};

/// By the thread that loads: units from the counter, if there is one. It is some tiles of K and V ahead of the warps that
/// compute, so nobody waits for the counter.
template <class Config>
class WgmmaUnitsTaken {
 public:
  __device__ WgmmaUnitsTaken(const WgmmaShared<Config>& shared, const WgmmaArguments& arguments)
      : shared_(shared), arguments_(arguments) {}
  __device__ int of_turn(int turn) const {
    if (!Config::kCountsUnits || arguments_.next_unit == nullptr) {
      return WgmmaUnitsInTurn::of_turn(turn);
    }
    const int unit = turn == 0 ? static_cast<int>(blockIdx.x)
                               : static_cast<int>(gridDim.x) + atomicAdd(arguments_.next_unit, 1);
    const int slot = turn % WgmmaShape::kUnitSlots;
    ptx::mbarrier_wait(shared_.unit_empty(slot), turn / WgmmaShape::kUnitSlots % 2 ^ 1);
    ptx::store_shared(shared_.unit(slot), static_cast<std::uint32_t>(unit));
    ptx::mbarrier_arrive(shared_.unit_full(slot));
    return unit;
  }

 private:
  WgmmaShared<Config> shared_;
  const WgmmaArguments& arguments_;
};

/// By the warps that compute: the units that the thread that loads has taken.
template <class Config>
class WgmmaUnitsHandedOver {
 public:
  __device__ WgmmaUnitsHandedOver(const WgmmaShared<Config>& shared,
                                  const WgmmaArguments& arguments)
      : shared_(shared), arguments_(arguments) {}
  __device__ int of_turn(int turn) const {
    if (!Config::kCountsUnits || arguments_.next_unit == nullptr) {
      return WgmmaUnitsInTurn::of_turn(turn);
    }
    const int slot = turn % WgmmaShape::kUnitSlots;
    ptx::mbarrier_wait(shared_.unit_full(slot), turn / WgmmaShape::kUnitSlots % 2);
    const int unit = ptx::same_in_warp(__float_as_int(ptx::load_shared_float(shared_.unit(slot))));
    __syncwarp();  // all lanes have read it
    if (ptx::recomputed(static_cast<int>(threadIdx.x)) % 32 == 0) {
      ptx::mbarrier_arrive(shared_.unit_empty(slot));
    }
    return unit;
  }

 private:
  WgmmaShared<Config> shared_;
  const WgmmaArguments& arguments_;
};

/// Calls work(WgmmaWork) for each query tile of the block. The inner loops need the registers, so
/// everything follows from the number of the turn, and of the unit.
template <class Config, class Units, class Work>
__device__ __forceinline__ void for_each_query_tile(const WgmmaArguments& arguments, Units units,
                                                    const Work& work) {
  int last_number = -1;
  for (int turn = 0;; ++turn) {
    const int unit = units.of_turn(arguments.is_paired ? turn / 2 : turn);
    if (unit >= arguments.units.num_places) return;
    GroupedTile tile = arguments.units.tile(unit);
    if (arguments.is_paired) {
      // The pair p has the tiles last - p and p. A tile in the middle has none: the one after the
      // last, which has no queries, stands for it.
      const int last = arguments.num_q_tiles - 1, pair = last / 2 - tile.q_tile;
      tile.q_tile = turn % 2 == 0 ? last - pair : 2 * pair == last ? last + 1 : pair;
    }
    const WgmmaWork<Config> of_tile(arguments, tile, turn, last_number + 1);
    last_number = of_tile.last_number;
    work(of_tile);
  }
}

/// Loads the Q of a query tile, then all its tiles of K and V from the last to the first.
template <class Config>
__device__ void load_tiles(const WgmmaShared<Config>& shared, const WgmmaWork<Config>& work,
                           const ptx::TensorMap& Q_map, const ptx::TensorMap& K_map,
                           const ptx::TensorMap& V_map) {
  const auto load = [&](ptx::SharedAddress to, const ptx::TensorMap& map, ptx::SharedAddress full,
                        int rows, int rows_of_panel, int first_row, int head) {
    ptx::mbarrier_arrive_expect(full, static_cast<std::uint32_t>(rows * Config::kRowBytes));
    for (int panel = 0; panel < Config::kPanels; ++panel) {
      ptx::load_box(to + panel * rows_of_panel * kPanelRowBytes, map, full,
                    panel * WgmmaShape::kPanelColumns, first_row, head, work.b);
    }
  };
  // The first wait for each stage succeeds: the phase before the first one counts as complete.
  const auto load_k = [&](int tile) {
    const WgmmaStage stage = work.k_stage(tile);
    Config::Marks::mark(WgmmaMark::kWaitsForK, work.turn, tile);
    ptx::mbarrier_wait(shared.k_empty(stage.index), stage.parity ^ 1);
    Config::Marks::mark(WgmmaMark::kLoadsK, work.turn, tile);
    load(shared.K(stage.index), K_map, shared.k_full(stage.index), Config::kBlockKV,
         Config::kBlockKV, work.first_key + tile * Config::kBlockKV, work.kv_head);
  };
  const auto load_v = [&](int tile) {
    const WgmmaStage stage = work.v_stage(tile);
    Config::Marks::mark(WgmmaMark::kWaitsForV, work.turn, tile);
    ptx::mbarrier_wait(shared.v_empty(stage.index), stage.parity ^ 1);
    Config::Marks::mark(WgmmaMark::kLoadsV, work.turn, tile);
    load(shared.V(stage.index), V_map, shared.v_full(stage.index), Config::kBlockKV,
         Config::kBlockKV, work.first_key + tile * Config::kBlockKV, work.kv_head);
  };
  if (work.num_kv_tiles > 0) load_k(work.num_kv_tiles - 1);
  for (int warpgroup = 0; warpgroup < Config::kComputing; ++warpgroup) {
    constexpr int kRows = WgmmaShape::kRowsOfWarpgroup;
    Config::Marks::mark(WgmmaMark::kWaitsForQ, work.turn, warpgroup);
    ptx::mbarrier_wait(shared.q_empty(warpgroup), work.turn % 2 ^ 1);
    Config::Marks::mark(WgmmaMark::kLoadsQ, work.turn, warpgroup);
    load(shared.Q() + warpgroup * kRows * kPanelRowBytes, Q_map, shared.q_full(warpgroup), kRows,
         Config::kBlockQ, work.first_query + warpgroup * kRows, work.h);
  }
  if (work.num_kv_tiles == 0) return;
#pragma unroll 1  // the loading warp has few registers
  for (int tile = work.num_kv_tiles - 2; tile >= 0; --tile) {
    load_k(tile);
    load_v(tile + 1);
  }
  load_v(0);
}

}  // namespace flashlab::cuda
