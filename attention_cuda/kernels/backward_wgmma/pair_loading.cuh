// What the blocks and warpgroups of bwd_onepass_pair_sm90 share, and the warpgroup that loads.
#pragma once

#include <cstdint>

#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/kernels/bwd_onepass_pair_sm90.hpp"
#include "attention_cuda/ptx/cluster.cuh"
#include "attention_cuda/ptx/turn.cuh"

namespace flashlab::cuda {

/// kTakesTurnsOf: whether pairs add to dQ in a fixed order.
template <class ElementType, BwdPairShape kShapeOf, bool kTakesTurnsOf>
struct BwdPairConfig {
  using Element = ElementType;
  using Shape = BwdPairShape;
  static constexpr BwdPairShape kShape = kShapeOf;
  static constexpr int kClusterBlocks = Shape::kBlocks, kHeadDim = kShape.head_dim;
  static constexpr int kBlockQ = Shape::kBlockQ, kOwnKeys = Shape::kOwnKeys;
  static constexpr int kBlockKV = Shape::kBlockKV;  // of both blocks
  static constexpr int kComputing = Shape::kComputing, kStages = Shape::kStages;
  static constexpr int kThreads = Shape::kNumThreads, kSharedBytes = kShape.shared_bytes();
  static constexpr int kWarpgroup = WgmmaShape::kWarpgroupThreads;
  static constexpr int kPanelRowBytes = BwdWgmmaShape::kPanelRowBytes;
  static constexpr int kPanels = kShape.num_panels(), kPanelBytes = Shape::kPanelBytes;
  static constexpr int kStatisticsBytes = Shape::kStatisticsBytes;
  /// Each block loads half of a tile's panels for both, and computes dQ for those columns. Each
  /// warpgroup computes half of the columns of dK and dV.
  static constexpr int kHalfPanels = kShape.half_panels(), kHalfColumns = kShape.half_columns();
  static constexpr int kOtherColumns = kHeadDim - kHalfColumns;   // of the second warpgroup
  static constexpr int kColumnsOfDQ = WgmmaShape::kPanelColumns;  // of a warpgroup
  static constexpr int kPartsOfDQ = kPanels;
  static constexpr int kTurnsOfTile = Shape::kTurnsOfTile;
  static constexpr int kSumsOfPart = kBlockQ * kColumnsOfDQ, kSumsOfTile = kBlockQ * kHeadDim;
  static constexpr int kSumsBytes = 4 * kSumsOfTile;
  static constexpr bool kDividesColumns = true, kTakesTurns = kTakesTurnsOf;
  // Shares of the 168 registers that the launch allocates for each of 384 threads.
  static constexpr int kLoadingRegisters = 24, kComputingRegisters = 240;
  // Named barriers: both computing warpgroups; dO without what nobody sees; each warpgroup.
  static constexpr int kAllComputing = 1, kIsCleared = 2, kFirstWarpgroup = 3;
  static_assert(kBlockQ == kOwnKeys && kBlockKV == kClusterBlocks * kOwnKeys);
  static_assert(kHalfPanels == kComputing, "a warpgroup's part of dQ is one panel of K");
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
};

/// A block's shared memory. Tiles have panels [64][64] in the 128-byte swizzle.
template <class Config>
class BwdPairShared {
 public:
  __device__ explicit BwdPairShared(unsigned char* memory) {
    const ptx::SharedAddress first = ptx::shared_address(memory);
    constexpr ptx::SharedAddress kMask = WgmmaShape::kAlignment - 1;
    K_ = (first + kMask) & ~kMask;
  }
  /// Addresses are computed again from here on, instead of being kept in registers.
  __device__ void recompute() { K_ = ptx::opaque(K_); }
  /// [kOwnKeys, kHeadDim] each.
  __device__ ptx::SharedAddress K() const { return K_; }
  __device__ ptx::SharedAddress V() const { return panel(Config::kPanels); }
  /// The other block's keys [kOwnKeys, kHalfColumns]: the columns of this block's part of dQ.
  __device__ ptx::SharedAddress other_K() const { return panel(2 * Config::kPanels); }
  /// [kBlockQ, kHeadDim].
  __device__ ptx::SharedAddress Q(int stage) const {
    return panel(2 * Config::kPanels + Config::kHalfPanels + stage * Config::kPanels);
  }
  __device__ ptx::SharedAddress dO() const { return Q(Config::kStages); }
  /// P^T [kOwnKeys, kBlockQ].
  __device__ ptx::SharedAddress P(int stage) const {
    return dO() + (Config::kPanels + stage) * Config::kPanelBytes;
  }
  /// dS^T [kOwnKeys, kBlockQ] of this block's keys, and of the other one's.
  __device__ ptx::SharedAddress dS(int stage, bool is_others) const {
    return P(Config::kStages + 2 * stage + (is_others ? 1 : 0));
  }
  /// lse log2(e) [kBlockQ], delta [kBlockQ].
  __device__ ptx::SharedAddress statistics(int stage) const {
    return dS(Config::kStages, false) + stage * Config::kStatisticsBytes;
  }
  /// [kOwnKeys][2]: the first query that sees a key, and their number.
  __device__ ptx::SharedAddress limits() const { return statistics(Config::kStages); }

  // "full" and "empty"; dO has one stage.
  __device__ ptx::SharedAddress k_full() const { return barrier(0); }
  __device__ ptx::SharedAddress v_full() const { return barrier(1); }
  __device__ ptx::SharedAddress do_full() const { return barrier(2); }
  __device__ ptx::SharedAddress do_empty() const { return barrier(3); }
  __device__ ptx::SharedAddress q_full(int stage) const { return barrier(4 + 4 * stage); }
  __device__ ptx::SharedAddress q_empty(int stage) const { return barrier(5 + 4 * stage); }
  __device__ ptx::SharedAddress p_full(int stage) const { return barrier(6 + 4 * stage); }
  __device__ ptx::SharedAddress ds_full(int stage) const { return barrier(7 + 4 * stage); }
  /// In turns: whether a warpgroup may add its part of dQ, and whether it has.
  __device__ ptx::SharedAddress may_add(int warpgroup) const {
    return barrier(4 + 4 * Config::kStages + 2 * warpgroup);
  }
  __device__ ptx::SharedAddress has_added(int warpgroup) const {
    return barrier(5 + 4 * Config::kStages + 2 * warpgroup);
  }

 private:
  __device__ ptx::SharedAddress panel(int number) const {
    return K_ + number * Config::kPanelBytes;
  }
  __device__ ptx::SharedAddress barrier(int number) const {
    return limits() + 8 * Config::kOwnKeys + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress K_;
};

/// By all threads of both blocks, before anything else. Then waits for delta.
template <class Config>
__device__ void initialise_barriers(const BwdPairShared<Config>& shared) {
  constexpr int kOfBoth = Config::kClusterBlocks * Config::kComputing;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(shared.k_full(), 1);
    ptx::mbarrier_init(shared.v_full(), 1);
    ptx::mbarrier_init(shared.do_full(), 1);
    ptx::mbarrier_init(shared.do_empty(), kOfBoth);
    for (int stage = 0; stage < Config::kStages; ++stage) {
      ptx::mbarrier_init(shared.q_full(stage), 1 + 32);  // the copies, and lanes with statistics
      ptx::mbarrier_init(shared.q_empty(stage), Config::kComputing * (Config::kWarpgroup + 1));
      ptx::mbarrier_init(shared.p_full(stage), Config::kWarpgroup);
      ptx::mbarrier_init(shared.ds_full(stage), 1);  // and the bytes of the other block
    }
    for (int warpgroup = 0; warpgroup < Config::kComputing; ++warpgroup) {
      if (!Config::kTakesTurns) break;
      ptx::mbarrier_init(shared.may_add(warpgroup), 1);
      ptx::mbarrier_init(shared.has_added(warpgroup), Config::kWarpgroup);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_arrive();
  ptx::cluster_wait();
  ptx::wait_for_previous_kernels();
  ptx::let_next_kernel_start();
}

/// By one thread: K, V, the other block's K, then this block's halves of Q and dO of all query tiles, for
/// both blocks.
template <class Config>
__device__ void load_tiles(const BwdPairShared<Config>& shared, const BwdWgmmaWork<Config>& work,
                           int rank, const Sizes& sizes, const ptx::TensorMap& Q_map,
                           const ptx::TensorMap& K_map, const ptx::TensorMap& V_map,
                           const ptx::TensorMap& dO_map) {
  constexpr int kColumns = WgmmaShape::kPanelColumns, kPanelBytes = Config::kPanelBytes;
  constexpr std::uint32_t kTileBytes = Config::kPanels * kPanelBytes;
  constexpr std::uint16_t kBothBlocks = (1 << Config::kClusterBlocks) - 1;
  const int first_panel = rank * Config::kHalfPanels,  // of dQ, and of the loads for both
      end_panel = min(first_panel + Config::kHalfPanels, Config::kPanels);
  const int own_key = work.first_key + rank * Config::kOwnKeys;
  const int other_key = work.first_key + (1 - rank) * Config::kOwnKeys;
  const auto load_keys = [&](ptx::SharedAddress to, const ptx::TensorMap& map,
                             ptx::SharedAddress full, int first, int end, int key) {
    for (int panel = first; panel < end; ++panel) {
      ptx::load_box(to + (panel - first) * kPanelBytes, map, full, panel * kColumns, key,
                    work.kv_head, work.b);
    }
  };
  const auto load_queries = [&](ptx::SharedAddress to, const ptx::TensorMap& map,
                                ptx::SharedAddress full, const BwdWgmmaTile& tile) {
    ptx::mbarrier_arrive_expect(full, kTileBytes);
    for (int panel = first_panel; panel < end_panel; ++panel) {
      ptx::load_box_of_cluster(to + panel * kPanelBytes, map, full, kBothBlocks, panel * kColumns,
                               tile.q_tile * Config::kBlockQ, tile.head, work.b);
    }
  };
  if (work.first_tile >= work.end_tile) return;
  ptx::mbarrier_arrive_expect(shared.k_full(),
                              kTileBytes + (end_panel - first_panel) * kPanelBytes);
  load_keys(shared.K(), K_map, shared.k_full(), 0, Config::kPanels, own_key);
  load_keys(shared.other_K(), K_map, shared.k_full(), first_panel, end_panel, other_key);
  ptx::mbarrier_arrive_expect(shared.v_full(), kTileBytes);
  load_keys(shared.V(), V_map, shared.v_full(), 0, Config::kPanels, own_key);
  // The first wait for each stage succeeds: the phase before the first one counts as complete.
#pragma unroll 1
  for (BwdWgmmaTile tile = work.first(sizes); work.is_there(tile); tile = work.next(tile)) {
    const int stage = work.stage(tile);
    ptx::mbarrier_wait(shared.q_empty(stage), work.parity(tile) ^ 1);
    load_queries(shared.Q(stage), Q_map, shared.q_full(stage), tile);
    ptx::mbarrier_wait(shared.do_empty(), tile.number % 2 ^ 1);
    load_queries(shared.dO(), dO_map, shared.do_full(), tile);
  }
}

/// By one thread, for a warpgroup of its block: the turns of its parts of dQ. So the warpgroup itself does
/// not wait until its additions have reached L2, which takes a good part of a tile.
template <class Config>
__device__ void keep_turns(const BwdPairShared<Config>& shared, const BwdWgmmaWork<Config>& work,
                           int rank, int warpgroup, const BwdWgmmaArguments& arguments) {
#pragma unroll 1
  for (BwdWgmmaTile tile = work.first(arguments.sizes); work.is_there(tile);
       tile = work.next(tile)) {
    int* const turns = arguments.turns +
                       work.number_of_tile(tile, arguments) * Config::kTurnsOfTile +
                       Config::kComputing * rank + warpgroup;
    ptx::wait_for_turn(turns, work.blocks_before(tile.q_tile, arguments.sizes));
    ptx::mbarrier_arrive(shared.may_add(warpgroup));
    ptx::mbarrier_wait(shared.has_added(warpgroup), tile.number % 2);
    ptx::end_turn(turns);  // after the additions, which that wait has ordered before it
  }
}

}  // namespace flashlab::cuda
