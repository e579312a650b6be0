// What the warpgroups of bwd_onepass_wgmma_sm90 share, and the one that loads.
#pragma once

#include <cstdint>

#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/backward_mma.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.hpp"
#include "attention_cuda/kernels/forward_wgmma/marks.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/dependent_launch.cuh"
#include "attention_cuda/ptx/mbarrier.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"

namespace flashlab::cuda {

/// kAddsDQOf: whether the kernel adds dQ, too; without it, it is the second pass of bwd-twopass.
template <class ElementType, BwdWgmmaShape kShapeOf, bool kAddsDQOf = true, class MarksOf = NoMarks>
struct BwdWgmmaConfig {
  using Element = ElementType;
  using Marks = MarksOf;
  static constexpr bool kAddsDQ = kAddsDQOf;
  static constexpr BwdWgmmaShape kShape = kShapeOf;
  static constexpr int kHeadDim = kShape.head_dim, kBlockQ = kShape.block_q;
  static constexpr int kBlockKV = BwdWgmmaShape::kBlockKV, kComputing = BwdWgmmaShape::kComputing;
  static constexpr int kOwnKeys = kBlockKV;  // of a block
  static constexpr int kClusterBlocks = 1, kTurnsOfTile = 1;
  static constexpr int kThreads = BwdWgmmaShape::kNumThreads, kStages = BwdWgmmaShape::kStages;
  static constexpr int kKeyStages = kShape.key_stages();
  static constexpr int kWarpgroup = WgmmaShape::kWarpgroupThreads, kPanels = kShape.num_panels();
  static constexpr int kPanelRowBytes = BwdWgmmaShape::kPanelRowBytes;
  static constexpr int kKeysBytes = kShape.keys_bytes(), kQueriesBytes = kShape.queries_bytes();
  static constexpr int kGradientBytes = kShape.gradient_bytes();
  static constexpr int kStatisticsBytes = kShape.statistics_bytes();
  static constexpr int kSharedBytes = kShape.shared_bytes(), kSumsBytes = kShape.sums_bytes();
  // Warpgroups divide a tile of dQ [kBlockQ, kHeadDim]: by panels, or if it has 128 queries by those.
  static constexpr bool kDividesColumns = kBlockQ == BwdWgmmaShape::kRowsOfWarpgroup;
  static constexpr int kColumnsOfDQ = kDividesColumns ? WgmmaShape::kPanelColumns : kHeadDim;
  static constexpr int kPartsOfDQ = kComputing, kSumsOfTile = kBlockQ * kHeadDim;
  static constexpr int kSumsOfPart = BwdWgmmaShape::kRowsOfWarpgroup * kColumnsOfDQ;
  // Shares of the 168 registers that the launch allocates for each of 384 threads.
  static constexpr int kLoadingRegisters = 24, kComputingRegisters = 240;
  static constexpr int kAllComputing = 1, kFirstWarpgroup = 2;  // named barriers; one for each
  static_assert(kSharedBytes <= 227 << 10, "a block has at most 227 KiB");
  static_assert(!kAddsDQ ||
                (kDividesColumns ? kPanels == kComputing
                                 : kBlockQ == kComputing * BwdWgmmaShape::kRowsOfWarpgroup));
};

struct BwdWgmmaArguments {
  DeviceTensor<const float> lse;
  DeviceTensor<std::uint16_t> dK, dV;  // bf16 or fp16
  const float* delta;                  // [batch, num_heads, seqlen_q]
  float* dQ_sums;                      // [batch, num_heads, query tiles][kSumsOfTile]
  Sizes sizes;
  MaskArguments mask;
  float softmax_scale;
  int num_q_tiles;  // of a head
  /// For each tile of sums, how many blocks have added to it. Null: in order of arrival.
  int* turns = nullptr;
  HeadGroups groups = {1, 1};
  int num_key_tiles = 0;         // of all kv heads
  int* next_key_tile = nullptr;  // how many are taken; null: a block has the one of its number
  /// Whether blocks of one head begin with different query tiles, so that they add to different tiles of
  /// dQ at a time. Only a gain where all see the same query tiles.
  bool staggers = false;
  const int* stop_flag = nullptr;  // once raised, no further K/V tile is taken
  int first_q_tile = 0;            // those before it are left out
};

/// A block's shared memory.
template <class Config>
class BwdWgmmaShared {
 public:
  /// memory: at a multiple of WgmmaShape::kAlignment.
  __device__ explicit BwdWgmmaShared(unsigned char* memory) : K_(ptx::shared_address(memory)) {}
  /// The compiler knows from here on that a warp's addresses are the same.
  __device__ void make_uniform() { K_ = ptx::uniform(K_); }
  /// [kBlockKV, kHeadDim] each.
  __device__ ptx::SharedAddress K(int stage) const { return K_ + stage * Config::kKeysBytes; }
  __device__ ptx::SharedAddress V() const { return K(Config::kKeyStages); }
  /// [kBlockQ, kHeadDim] each.
  __device__ ptx::SharedAddress Q(int stage) const {
    return K(Config::kKeyStages + 1) + stage * Config::kQueriesBytes;
  }
  __device__ ptx::SharedAddress dO(int stage) const { return Q(Config::kStages + stage); }
  /// dS^T [kBlockKV, kBlockQ].
  __device__ ptx::SharedAddress dS(int stage) const {
    return Q(2 * Config::kStages) + stage * Config::kGradientBytes;
  }
  /// A warpgroup's part of a tile of dQ, in the order of the fragments.
  __device__ ptx::SharedAddress sums(int warpgroup) const {
    return dS(Config::kStages) + warpgroup * 4 * Config::kSumsOfPart;
  }
  /// lse log2(e) [kBlockQ], delta [kBlockQ].
  __device__ ptx::SharedAddress statistics(int stage) const {
    return sums(0) + 4 * Config::kSumsOfTile + stage * Config::kStatisticsBytes;
  }
  /// [kBlockKV][2]: the first query that sees a key, and their number.
  __device__ ptx::SharedAddress limits() const { return statistics(Config::kStages); }
  /// A BwdWgmmaWork (key_tiles.cuh).
  __device__ ptx::SharedAddress work(std::uint32_t slot) const {
    return limits() + BwdWgmmaShape::kLimitsBytes + slot * BwdWgmmaShape::kWorkBytes;
  }

  __device__ ptx::SharedAddress v_full() const { return barrier(0); }
  __device__ ptx::SharedAddress v_empty() const { return barrier(1); }
  __device__ ptx::SharedAddress q_full(int stage) const { return barrier(2 + 6 * stage); }
  __device__ ptx::SharedAddress q_empty(int stage) const { return barrier(3 + 6 * stage); }
  __device__ ptx::SharedAddress do_full(int stage) const { return barrier(4 + 6 * stage); }
  __device__ ptx::SharedAddress do_empty(int stage) const { return barrier(5 + 6 * stage); }
  __device__ ptx::SharedAddress ds_full(int stage) const { return barrier(6 + 6 * stage); }
  __device__ ptx::SharedAddress ds_empty(int stage) const { return barrier(7 + 6 * stage); }
  /// Of a warpgroup's part of dQ, if blocks take turns. tile: its number.
  __device__ ptx::SharedAddress sums_full(int warpgroup, std::uint32_t tile) const {
    return barrier(2 + 6 * Config::kStages + 3 * warpgroup + static_cast<int>(tile % 2));
  }
  __device__ ptx::SharedAddress sums_empty(int warpgroup) const {
    return barrier(4 + 6 * Config::kStages + 3 * warpgroup);
  }
  __device__ ptx::SharedAddress work_full(std::uint32_t slot) const {
    return barrier(kFirstOfWork + static_cast<int>(slot));
  }
  __device__ ptx::SharedAddress work_empty(std::uint32_t slot) const {
    return barrier(kFirstOfWork + 2 + static_cast<int>(slot));
  }
  __device__ ptx::SharedAddress k_full(int stage) const {
    return barrier(kFirstOfWork + 4 + 2 * stage);
  }
  __device__ ptx::SharedAddress k_empty(int stage) const {
    return barrier(kFirstOfWork + 5 + 2 * stage);
  }

 private:
  static constexpr int kFirstOfWork = 2 + 6 * Config::kStages + 3 * Config::kComputing;
  __device__ ptx::SharedAddress barrier(int number) const {
    return work(2) + number * ptx::kMbarrierBytes;
  }
  ptx::SharedAddress K_;
};

/// By all threads of the block, before anything else. Then waits for delta.
template <class Config>
__device__ void initialise_barriers(const BwdWgmmaShared<Config>& shared, bool takes_turns) {
  constexpr int kReading = Config::kComputing * Config::kWarpgroup;  // threads
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(shared.v_full(), 1);
    ptx::mbarrier_init(shared.v_empty(), Config::kComputing);
    for (int stage = 0; stage < Config::kKeyStages; ++stage) {
      ptx::mbarrier_init(shared.k_full(stage), 1);
      ptx::mbarrier_init(shared.k_empty(stage), Config::kComputing);
    }
    for (int stage = 0; stage < Config::kStages; ++stage) {
      ptx::mbarrier_init(shared.q_full(stage), 1 + 32);  // the copy, and lanes with statistics
      ptx::mbarrier_init(shared.q_empty(stage), kReading);
      ptx::mbarrier_init(shared.do_full(stage), 1);
      ptx::mbarrier_init(shared.do_empty(stage), Config::kComputing);
      ptx::mbarrier_init(shared.ds_full(stage), Config::kComputing);
      ptx::mbarrier_init(shared.ds_empty(stage), Config::kComputing);
    }
    for (int warpgroup = 0; warpgroup < Config::kComputing; ++warpgroup) {
      ptx::mbarrier_init(shared.sums_full(warpgroup, 0), 1);
      ptx::mbarrier_init(shared.sums_full(warpgroup, 1), 1);
      ptx::mbarrier_init(shared.sums_empty(warpgroup), 1);
    }
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      ptx::mbarrier_init(shared.work_full(slot), 1);
      // And the warp that brings lse and delta, and the threads that add.
      ptx::mbarrier_init(shared.work_empty(slot), kReading + 32 + (takes_turns ? 2 : 0));
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  ptx::wait_for_previous_kernels();
  ptx::let_next_kernel_start();
}

/// A query tile of the block's walk.
struct BwdWgmmaTile {
  int head, q_tile;
  std::uint32_t number;  // of the block's tiles
};

/// The keys of a K/V tile, and a walk over the queries that see them: all query tiles of one head, then
/// those of the next.
template <class Config>
struct BwdWgmmaWork {
  int b = kNone;
  int kv_head = 0, end_head = 0;
  int first_key = 0;
  int first_tile = 0, end_tile = 0;  // query tiles that see a key
  int begin_tile = 0;                // with which the walk over a head begins; it goes around
  std::uint32_t first_number = 0, loads_before = 0;  // the block's query tiles; its loads
  int first_q_tile = 0;                              // as BwdWgmmaArguments
  VisibleKeys visible;

  static constexpr int kNone = -1;  // in place of b: no keys are left

  BwdWgmmaWork() = default;
  /// The K/V tile of this number of all blocks', after this much work of the block.
  __device__ BwdWgmmaWork(const BwdWgmmaArguments& arguments, int number,
                          std::uint32_t query_tiles_before = 0, std::uint32_t loads = 0)
      : first_number(query_tiles_before), loads_before(loads) {
    const Sizes& sizes = arguments.sizes;
    const auto tiles_of_head = static_cast<int>(ceil_div(sizes.seqlen_k, Config::kBlockKV));
    const Place place = place_of_kv_in_groups(number, arguments.num_key_tiles, tiles_of_head,
                                              arguments.groups, sizes);
    b = place.b;
    kv_head = place.h;
    end_head = (kv_head + 1) * sizes.heads_per_kv_head;
    const int part = arguments.turns == nullptr ? place.part : tiles_of_head - 1 - place.part;
    first_key = part * Config::kBlockKV;
    visible = arguments.mask.of_batch_entry(b, sizes);
    first_q_tile = arguments.first_q_tile;
    const IndexRange tiles = query_tiles(first_key, sizes);
    begin_tile = first_tile = tiles.first;
    end_tile = tiles.end;
    if (arguments.staggers && end_tile > first_tile) begin_tile += part % (end_tile - first_tile);
  }

  __device__ bool is_there() const { return b != kNone; }

  /// The query tiles that the block of these keys adds to.
  __device__ IndexRange query_tiles(int first_of_keys, const Sizes& sizes) const {
    const int last_key = min(first_of_keys + Config::kBlockKV, visible.keys) - 1;
    const int end_query = min(visible.end_query(last_key), sizes.seqlen_q);
    return {max(visible.first_query(first_of_keys) / Config::kBlockQ, first_q_tile),
            static_cast<int>(ceil_div(end_query, Config::kBlockQ))};
  }
  /// How many blocks add to a query tile before this one, if they have turns: those of later keys, for
  /// under a causal mask they get there first. Without packed sequences, the blocks that add to a tile
  /// are neighbours.
  __device__ int blocks_before(int q_tile, const Sizes& sizes) const {
    const auto adds = [&](int first_of_keys) {
      const IndexRange tiles = query_tiles(first_of_keys, sizes);
      return first_of_keys < sizes.seqlen_k && q_tile >= tiles.first && q_tile < tiles.end;
    };
    const int last_query = min((q_tile + 1) * Config::kBlockQ, sizes.seqlen_q) - 1;
    const int last_key = visible.of_query(last_query) - 1;
    int last = max(first_key, last_key / Config::kBlockKV * Config::kBlockKV);
    // A block also adds 0 if only queries of the tile would see its keys that are not there.
    while (adds(last + Config::kBlockKV)) last += Config::kBlockKV;
    return (last - first_key) / Config::kBlockKV;
  }

  __device__ BwdWgmmaTile first(const Sizes& sizes) const {
    const int first_head = kv_head * sizes.heads_per_kv_head;
    return {first_tile < end_tile ? first_head : end_head, begin_tile, first_number};
  }
  __device__ int num_query_tiles(const Sizes& sizes) const {
    return max(0, end_tile - first_tile) * sizes.heads_per_kv_head;
  }
  /// Where K lies, and the parities of the phases in which K and V are there.
  __device__ int k_stage() const { return static_cast<int>(loads_before % Config::kKeyStages); }
  __device__ std::uint32_t k_parity() const { return loads_before / Config::kKeyStages % 2; }
  __device__ std::uint32_t v_parity() const { return loads_before % 2; }
  __device__ BwdWgmmaTile next(const BwdWgmmaTile& tile) const {
    const int q_tile = tile.q_tile + 1 == end_tile ? first_tile : tile.q_tile + 1;
    return {tile.head + (q_tile == begin_tile ? 1 : 0), q_tile, tile.number + 1};
  }
  __device__ bool is_there(const BwdWgmmaTile& tile) const { return tile.head < end_head; }
  /// Of all tiles of dQ.
  __device__ std::int64_t number_of_tile(const BwdWgmmaTile& tile,
                                         const BwdWgmmaArguments& arguments) const {
    return (std::int64_t{b} * arguments.sizes.num_heads + tile.head) * arguments.num_q_tiles +
           tile.q_tile;
  }

  /// The rows that any query sees of K and V from `first` on.
  __device__ IndexRange seen_keys(int first, const Sizes& sizes) const {
    return {visible.first_of_query(0) - first, visible.of_query(sizes.seqlen_q - 1) - first};
  }
  /// The rows of a query tile that see any key.
  __device__ IndexRange seeing_queries(int q_tile, const Sizes& sizes) const {
    const int first = q_tile * Config::kBlockQ;
    return {visible.first_query(0) - first,
            min(visible.end_query(visible.keys - 1), sizes.seqlen_q) - first};
  }
  /// The same, from those that do in all tiles.
  __device__ static IndexRange seeing_queries(int q_tile, const IndexRange& all) {
    return {all.first - q_tile * Config::kBlockQ, all.end - q_tile * Config::kBlockQ};
  }

  __device__ void mark(BwdWgmmaMark what, const BwdWgmmaTile& tile) const {
    Config::Marks::mark(what, static_cast<int>(loads_before), static_cast<int>(tile.number));
  }

  /// Where a tile's copies lie, and the parity of that stage's phase.
  __device__ static int stage(const BwdWgmmaTile& tile) { return stage_of(tile.number); }
  __device__ static std::uint32_t parity(const BwdWgmmaTile& tile) {
    return parity_of(tile.number);
  }
  __device__ static int stage_of(std::uint32_t number) {
    return static_cast<int>(number % Config::kStages);
  }
  __device__ static std::uint32_t parity_of(std::uint32_t number) {
    return number / Config::kStages % 2;
  }
};

/// By one thread: Q and dO of all query tiles, and beside the first of them K and V. Where there is room
/// for a second K, it comes first, and S^T begins before all have used the K before.
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
  BwdWgmmaTile tile = work.first(sizes);
  if (!work.is_there(tile)) return;
  // The first wait for each stage succeeds: the phase before the first one counts as complete.
  const auto load_K = [&] {
    const int stage = work.k_stage();
    ptx::mbarrier_wait(shared.k_empty(stage), work.k_parity() ^ 1);
    load(shared.K(stage), K_map, shared.k_full(stage), Config::kBlockKV, work.first_key,
         work.kv_head);
  };
  if constexpr (Config::kKeyStages > 1) load_K();
#pragma unroll 1
  for (; work.is_there(tile); tile = work.next(tile)) {
    const int first_query = tile.q_tile * Config::kBlockQ, stage = work.stage(tile);
    work.mark(BwdWgmmaMark::kWaitsForEmptyQ, tile);
    ptx::mbarrier_wait(shared.q_empty(stage), work.parity(tile) ^ 1);
    work.mark(BwdWgmmaMark::kLoadsQ, tile);
    load(shared.Q(stage), Q_map, shared.q_full(stage), Config::kBlockQ, first_query, tile.head);
    work.mark(BwdWgmmaMark::kWaitsForEmptyDO, tile);
    ptx::mbarrier_wait(shared.do_empty(stage), work.parity(tile) ^ 1);
    work.mark(BwdWgmmaMark::kLoadsDO, tile);
    load(shared.dO(stage), dO_map, shared.do_full(stage), Config::kBlockQ, first_query, tile.head);
    if (tile.number != work.first_number) continue;
    if constexpr (Config::kKeyStages == 1) load_K();
    ptx::mbarrier_wait(shared.v_empty(), work.v_parity() ^ 1);
    load(shared.V(), V_map, shared.v_full(), Config::kBlockKV, work.first_key, work.kv_head);
  }
}

/// By one warp: lse and delta of a query tile. Copies of rows of any length are not for bulk copies. All
/// loads begin before the first one is used, and before there is room for them: one after the other
/// they take longer than a tile does.
template <class Config, class Shared>
__device__ __forceinline__ void load_statistics(const Shared& shared,
                                                const BwdWgmmaWork<Config>& work,
                                                const BwdWgmmaTile& tile,
                                                const BwdWgmmaArguments& arguments) {
  const int lane = static_cast<int>(threadIdx.x) % 32, stage = work.stage(tile);
  const Sizes& sizes = arguments.sizes;
  const std::int64_t head = static_cast<std::int64_t>(work.b) * sizes.num_heads + tile.head;
  constexpr int kRowsOfLane = Config::kBlockQ / 32;
  float lse[kRowsOfLane], delta[kRowsOfLane];
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const int query = tile.q_tile * Config::kBlockQ + lane + 32 * r;
    const bool is_there = query < sizes.seqlen_q;
    lse[r] = is_there ? *arguments.lse.row(work.b, tile.head, query) : -INFINITY;
    delta[r] = is_there ? arguments.delta[head * sizes.seqlen_q + query] : 0.F;
  }
  ptx::mbarrier_wait(shared.q_empty(stage), work.parity(tile) ^ 1);
#pragma unroll
  for (int r = 0; r < kRowsOfLane; ++r) {
    const QueryStatistics statistics = query_statistics(lse[r], delta[r]);
    const ptx::SharedAddress to = shared.statistics(stage) + 4 * (lane + 32 * r);
    ptx::store_shared(to, __float_as_uint(statistics.lse_log2));
    ptx::store_shared(to + 4 * Config::kBlockQ, __float_as_uint(statistics.delta));
  }
  ptx::mbarrier_arrive(shared.q_full(stage));
}

/// By a computing warpgroup: which queries see each of its keys, from first_key on. `to`: a pair of
/// numbers for each.
__device__ inline void store_limits(ptx::SharedAddress to, const VisibleKeys& visible,
                                    int first_key) {
  const int row = static_cast<int>(threadIdx.x) % WgmmaShape::kWarpgroupThreads;
  if (row >= BwdWgmmaShape::kRowsOfWarpgroup) return;
  const int first = visible.first_query(first_key + row), end = visible.end_query(first_key + row);
  ptx::store_shared(to + 8 * row, __int_as_float(first), __int_as_float(max(0, end - first)));
}

/// By num_threads threads, this one being `thread`: clears the rows of a tile [rows, panels] that are not `kept`.
__device__ inline void clear_rows(ptx::SharedAddress tile, int rows, int num_panels,
                                  const IndexRange& kept, int thread, int num_threads) {
  constexpr int kRowBytes = BwdWgmmaShape::kPanelRowBytes, kWords = kRowBytes / 4;
  for (int panel = 0; panel < num_panels; ++panel) {
    for (int word = thread; word < rows * kWords; word += num_threads) {
      if (word >= kept.first * kWords && word < kept.end * kWords) continue;
      ptx::store_shared(tile + panel * rows * kRowBytes + 4 * word, 0U);
    }
  }
  ptx::fence_async_proxy();
}

}  // namespace flashlab::cuda
