// bwd-twopass on tensor cores: dQ in one pass, dK and dV in another, without atomic additions.
//
//   delta = rowsum(dO o O)
//   a block for each query tile:
//     1  find its queries, the keys that they see, and their lse and delta
//     for each K/V tile j that the query tile sees:
//       2  wait for Kj and Vj; start loading the next ones
//       3  S = Q Kj^T,  P = e^(scale S - lse),  dP = dO Vj^T,  dS = P o (dP - delta),  dQ += dS Kj
//     4  dQ = scale dQ;  write dQ
//   a block for each K/V tile: dK and dV (device/key_tile/backward_key_tile.cuh)
//
// Shapes   Q, O, dO, dQ [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V, dK, dV [batch, num_kv_heads, seqlen_k, head_dim];  bf16, fp16 or fp32
// Tiles    of the dQ pass: sQ, sdO [kBlockQ, kHeadDim] stay in shared memory; sK, sV
//          [kBlockKV, kHeadDim] change with each K/V tile, kStages of each; S, dP (kChunk keys at a
//          time) and dQ are in registers, kWarpQueries rows per warp
// Grid     query tiles x heads x batch, tiles fastest; the last tile, which sees most keys, first
// Traffic  Q, dO once and K, V num_q_tiles times; then K, V once and Q, dO num_kv_tiles times
// Against  bwd_onepass_mma_sm80: S and dP are computed twice (seven products instead of five); the
//          bits are reproducible
// Source   Dao 2023, FlashAttention-2, Algorithm 2, with its two outer loops in separate kernels
#pragma once

#include <cstdint>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/backward_launch.cuh"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/key_tile/backward_key_tile.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/bwd_twopass_mma_sm80.hpp"

namespace flashlab::cuda {

template <class TensorCoreType, int kPaddedHeadDim, QueryTileShape kShape>
struct QueryTileConfig {
  using TensorCore = TensorCoreType;
  using Element = typename TensorCore::Element;
  static constexpr int kHeadDim = kPaddedHeadDim;
  static constexpr int kNumThreads = kShape.warps * 32, kMinBlocks = kShape.min_blocks;
  static constexpr int kWarpQueries = kShape.warp_queries, kRowTiles = kWarpQueries / 16;
  static constexpr int kBlockQ = kShape.warps * kWarpQueries, kBlockKV = kShape.block_kv;
  static constexpr int kChunk = kShape.chunk, kStages = kShape.stages;
  using QueryTile = SharedTile<Element, kBlockQ, kHeadDim>;
  using KeyTile = SharedTile<Element, kBlockKV, kHeadDim>;
  static constexpr int kSharedBytes = 2 * QueryTile::kBytes + 2 * kStages * KeyTile::kBytes +
                                      kBlockQ * static_cast<int>(sizeof(IndexRange));
  static_assert(kSharedBytes == kShape.shared_bytes(kHeadDim, sizeof(Element)));
  static_assert(kSharedBytes <= kLeastSharedBytes);
  static_assert(kBlockKV % kChunk == 0 && kChunk % 16 == 0 && (kStages == 1 || kStages == 2));
};

/// The work of one block in the dQ pass.
template <class Config>
class QueryTileBlock {
  using TensorCore = typename Config::TensorCore;
  using Element = typename Config::Element;
  using Scores = WarpSums<Config::kRowTiles, Config::kChunk / 8>;
  using QueryGradients = WarpSums<Config::kRowTiles, Config::kHeadDim / 8>;

 public:
  __device__ __forceinline__ QueryTileBlock(const BackwardArguments<Element>& arguments,
                                            const float* delta, bool is_aligned)
      : arguments_(arguments), is_aligned_(is_aligned) {
    auto* const shared = reinterpret_cast<Element*>(ptx::shared_memory());
    constexpr int kQueryElements = Config::kBlockQ * Config::kHeadDim;
    sQ_ = {shared};
    sdO_ = {shared + kQueryElements};
    sK_ = shared + 2 * kQueryElements;
    sV_ = sK_ + Config::kStages * Config::KeyTile::kRows * Config::KeyTile::kColumns;

    // 1. The block's queries, the keys that they see, and the lse and delta of the lane's queries.
    const Sizes& sizes = arguments.sizes;
    const int num_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, Config::kBlockQ));
    place_ = place_of(blockIdx.x, num_tiles, sizes);
    first_query_ = (num_tiles - 1 - place_.part) * Config::kBlockQ;
    const VisibleKeys visible = arguments.mask.of_batch_entry(place_.b, sizes);
    ranges_ = reinterpret_cast<IndexRange*>(sV_ + Config::kStages * Config::KeyTile::kRows *
                                                      Config::KeyTile::kColumns);
    for (int row = static_cast<int>(threadIdx.x); row < Config::kBlockQ;
         row += Config::kNumThreads) {
      ranges_[row] = visible.range_of_query(first_query_ + row);
    }
    begin_key_ = visible.first_of_query(first_query_);
    end_key_ = visible.of_query(min(first_query_ + Config::kBlockQ, sizes.seqlen_q) - 1);
#pragma unroll
    for (int m = 0; m < Config::kRowTiles * 2; ++m) {
      statistics_[m] = load_statistics(arguments, delta, place_.b, place_.h,
                                       warp_first_query() + m * 8 + lane_id() / 4);
    }
  }

  /// The kernel: computes dQ of the block's queries.
  __device__ __forceinline__ void run() {
    load_queries();
    QueryGradients dQ;  // [kWarpQueries, kHeadDim]
    set_to_zero(dQ);
    const int num_kv_tiles = static_cast<int>(ceil_div(end_key_ - begin_key_, Config::kBlockKV));
    if (Config::kStages == 2 && num_kv_tiles > 0) load_keys(0, 0);
    for (int tile = 0; tile < num_kv_tiles; ++tile) {
      const int stage = Config::kStages == 2 ? tile % 2 : 0;
      // 2. Wait for this tile's K and V; start loading the next ones.
      if constexpr (Config::kStages == 2) {
        ptx::cp_async_wait<0>();
        __syncthreads();
        if (tile + 1 < num_kv_tiles) load_keys(tile + 1, 1 - stage);
      } else {
        __syncthreads();
        load_keys(tile, 0);
        ptx::cp_async_wait<0>();
        __syncthreads();
      }
      // 3. dQ.
#pragma unroll 1
      for (int key = 0; key < Config::kBlockKV; key += Config::kChunk) {
        add_chunk(dQ, tile, key, stage);
      }
    }
    write_gradients(dQ);
  }

 private:
  static __device__ __forceinline__ int warp_row() {
    return static_cast<int>(threadIdx.x) / 32 * Config::kWarpQueries;
  }
  __device__ __forceinline__ int warp_first_query() const { return first_query_ + warp_row(); }

  __device__ __forceinline__ void load_queries() const {
    const auto rows = [&](const DeviceTensor<const Element>& tensor) {
      return global_rows(tensor, place_.b, place_.h, first_query_, arguments_.sizes.seqlen_q,
                         arguments_.sizes.head_dim, is_aligned_);
    };
    load_tile<Config::kNumThreads>(sQ_, rows(arguments_.Q));
    load_tile<Config::kNumThreads>(sdO_, rows(arguments_.dO));
    // Committed even if no K/V tile follows: a wait only covers committed copies.
    ptx::cp_async_commit();
  }

  /// Loads a tile of K and V. Keys that none of the block's queries sees become 0.
  __device__ __forceinline__ void load_keys(int tile, int stage) const {
    const auto load = [&](Element* to, const DeviceTensor<const Element>& tensor) {
      const int first = begin_key_ + tile * Config::kBlockKV, head_dim = arguments_.sizes.head_dim;
      load_tile<Config::kNumThreads>(
          key_tile(to, stage),
          global_rows(tensor, place_.b, place_.kv_head, first, end_key_, head_dim, is_aligned_));
    };
    load(sK_, arguments_.K);
    load(sV_, arguments_.V);
    ptx::cp_async_commit();
  }

  __device__ __forceinline__ typename Config::KeyTile key_tile(Element* tiles, int stage) const {
    return {tiles + stage * Config::KeyTile::kRows * Config::KeyTile::kColumns};
  }

  /// dQ += dS K for kChunk keys.
  __device__ __forceinline__ void add_chunk(QueryGradients& dQ, int tile, int key,
                                            int stage) const {
    const int first_key = begin_key_ + tile * Config::kBlockKV + key;
    const IndexRange* const ranges = ranges_ + warp_row();
    const IndexRange first_range = ranges[0], last_range = ranges[Config::kWarpQueries - 1];
    if (first_key >= last_range.end) return;
    if (first_key + Config::kChunk <= first_range.first) return;
    const auto sK = rows_from<Config::kChunk>(key_tile(sK_, stage), key);
    const auto sV = rows_from<Config::kChunk>(key_tile(sV_, stage), key);
    const auto sQ = rows_from<Config::kWarpQueries>(sQ_, warp_row());
    const auto sdO = rows_from<Config::kWarpQueries>(sdO_, warp_row());
    const float scale_log2 = arguments_.softmax_scale * kLog2E;

    Scores S, dP;  // [kWarpQueries, kChunk]
    multiply_rows<TensorCore>(S, ARows(sQ), BRows(sK));
    multiply_rows<TensorCore>(dP, ARows(sdO), BRows(sV));
    if (first_key + Config::kChunk > first_range.end || first_key < last_range.first) {
      weigh_queries<true>(S, dP, statistics_, scale_log2, ranges, first_key);
    } else {
      weigh_queries<false>(S, dP, statistics_, scale_log2, ranges, first_key);
    }
    using Columns = typename TensorCore::template BColumns<
        SharedTile<Element, Config::kChunk, Config::kHeadDim>>;
    multiply_sums<TensorCore>(dQ, dP, Columns(sK));
  }

  /// 4. Writes dQ in rows, through the warp's rows of sQ.
  __device__ __forceinline__ void write_gradients(const QueryGradients& dQ) const {
    ptx::cp_async_wait<0>();
    __syncthreads();
    put_sums(sQ_, warp_row(), 0, dQ, arguments_.softmax_scale);
    __syncwarp();
    store_rows(rows_from<Config::kWarpQueries>(sQ_, warp_row()),
               global_rows(arguments_.dQ, place_.b, place_.h, warp_first_query(),
                           arguments_.sizes.seqlen_q, arguments_.sizes.head_dim, is_aligned_));
  }

  const BackwardArguments<Element>& arguments_;
  const bool is_aligned_;
  typename Config::QueryTile sQ_, sdO_;  // [kBlockQ, kHeadDim]
  Element *sK_, *sV_;                    // [kStages][kBlockKV, kHeadDim]
  Place place_;
  int first_query_;
  int begin_key_, end_key_;  // the keys from the first to the last that any query of the block sees
  IndexRange* ranges_;       // [kBlockQ]: the keys that each query sees
  QueryStatistics statistics_[Config::kRowTiles * 2];
};

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kMinBlocks)
    bwd_twopass_dQ_mma_sm80_kernel(BackwardArguments<typename Config::Element> arguments,
                                   const float* delta, bool is_aligned) {
  QueryTileBlock<Config>(arguments, delta, is_aligned).run();
}

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kMinBlocks)
    bwd_twopass_dKdV_mma_sm80_kernel(BackwardArguments<typename Config::Element> arguments,
                                     const float* delta, bool is_aligned) {
  KeyTileBlock<Config>(arguments, delta, nullptr, is_aligned).run();
}

namespace bwd_twopass_mma {

struct Arrays {
  float *delta, *rounded_lse;
  std::size_t bytes;
};

inline Arrays arrays(const AttentionProblem& problem, const ExecutionOptions& options,
                     std::byte* memory) {
  Workspace workspace(memory);
  const std::int64_t queries = problem.batch * problem.num_heads * problem.seqlen_q;
  float* const delta = workspace.take<float>(queries);
  float* const rounded_lse = options.round_statistics ? workspace.take<float>(queries) : nullptr;
  return {delta, rounded_lse, workspace.bytes()};
}

}  // namespace bwd_twopass_mma

inline std::size_t bwd_twopass_mma_workspace_bytes(const AttentionProblem& problem,
                                                   const ExecutionOptions& options) {
  return bwd_twopass_mma::arrays(problem, options, nullptr).bytes;
}

/// QueryConfig: for the dQ pass; KeyConfig: for the other pass.
template <class QueryConfig, class KeyConfig>
void launch_bwd_twopass_mma(const BackwardCall& call) {
  using namespace bwd_twopass_mma;
  using Element = typename QueryConfig::Element;
  static_assert(KeyConfig::kSharedBytes <= kLeastSharedBytes);
  const AttentionProblem& problem = call.problem;
  const Arrays workspace = arrays(problem, call.options, call.workspace);
  auto arguments = backward_arguments<Element>(call);
  launch_delta(call, arguments, workspace.delta, workspace.rounded_lse);
  if (workspace.rounded_lse != nullptr) arguments = with_lse(arguments, workspace.rounded_lse);
  const bool is_aligned = has_aligned_rows(arguments);
  launch(call, "bwd_twopass_dQ_mma_sm80", bwd_twopass_dQ_mma_sm80_kernel<QueryConfig>,
         {problem.batch * problem.num_heads * ceil_div(problem.seqlen_q, QueryConfig::kBlockQ),
          QueryConfig::kNumThreads, QueryConfig::kSharedBytes},
         arguments, workspace.delta, is_aligned);
  launch(call, "bwd_twopass_dKdV_mma_sm80", bwd_twopass_dKdV_mma_sm80_kernel<KeyConfig>,
         {problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, KeyConfig::kBlockKV),
          KeyConfig::kNumThreads, KeyConfig::kSharedBytes},
         arguments, workspace.delta, is_aligned);
}

}  // namespace flashlab::cuda
