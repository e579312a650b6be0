// bwd-onepass on tensor cores: one block per K/V tile, dQ by atomic additions.
//
//   delta = rowsum(dO o O);  dQ sums = 0
//   a block for each K/V tile (device/key_tile/backward_key_tile.cuh): dK, dV and its part of the dQ sums
//   dQ = softmax_scale x sums, rounded
//
// Shapes   Q, O, dO, dQ [batch, num_heads, seqlen_q, head_dim];  lse [batch, num_heads, seqlen_q]
//          K, V, dK, dV [batch, num_kv_heads, seqlen_k, head_dim];  bf16, fp16 or fp32
// Grid     K/V tiles x kv heads x batch, tiles fastest, in order: most queries see the first tile
// Traffic  K and V once, Q and dO num_kv_tiles times; num_kv_tiles additions to dQ in fp32, which
//          is then read and written once
// Against  bwd_onepass_fp32: products by tensor cores; P stays in registers; dQ sums are in the
//          workspace, in the order of the fragments
// Source   Dao 2023, FlashAttention-2, Algorithm 2
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/backward_launch.cuh"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/key_tile/backward_key_tile.cuh"
#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kMinBlocks)
    bwd_onepass_mma_sm80_kernel(BackwardArguments<typename Config::Element> arguments,
                                const float* delta, float* dQ_sums, bool is_aligned) {
  KeyTileBlock<Config>(arguments, delta, dQ_sums, is_aligned).run();
}

/// One block converts a tile of sums in the order of fragments into rows of dQ.
template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads)
    dQ_of_sums_kernel(BackwardArguments<typename Config::Element> arguments, const float* dQ_sums,
                      bool is_aligned) {
  const Sizes& sizes = arguments.sizes;
  const int num_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, Config::kBlockQ));
  const Place place = place_of(blockIdx.x, num_tiles, sizes);
  const int first_query = place.part * Config::kBlockQ;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  constexpr int kRowTiles = Config::kWarpQueriesDQ / 16;
  constexpr int kColumnTiles = Config::kWarpColumnsDQ / 8;
  WarpSums<kRowTiles, kColumnTiles> dQ;  // [kWarpQueriesDQ, kWarpColumnsDQ]
  const float* from = dQ_sums + static_cast<std::int64_t>(blockIdx.x) * Config::kTileElements +
                      warp * (Config::kTileElements / Config::kWarps) + lane_id();
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        dQ[m][n][i] = *from;
        from += 32;
      }
    }
  }

  using Element = typename Config::Element;
  const typename Config::QueryTile sdQ{reinterpret_cast<Element*>(ptx::shared_memory())};
  put_sums(sdQ, warp / Config::kWarpsD * Config::kWarpQueriesDQ,
           warp % Config::kWarpsD * Config::kWarpColumnsDQ, dQ, arguments.softmax_scale);
  __syncthreads();
  constexpr int kRows = Config::kBlockQ > Config::kWarps * 8 ? Config::kBlockQ / Config::kWarps : 8;
  if (warp * kRows >= Config::kBlockQ) return;
  store_rows(rows_from<kRows>(sdQ, warp * kRows),
             global_rows(arguments.dQ, place.b, place.h, first_query + warp * kRows, sizes.seqlen_q,
                         sizes.head_dim, is_aligned));
}

namespace bwd_onepass_mma {

/// The workspace has room for query tiles of up to this size.
inline constexpr int kMaxBlockQ = 128;

struct Arrays {
  float *delta, *rounded_lse, *dQ_sums;
  std::size_t bytes;
};

inline Arrays arrays(const AttentionProblem& problem, const ExecutionOptions& options,
                     std::byte* memory) {
  Workspace workspace(memory);
  const std::int64_t heads = problem.batch * problem.num_heads;
  const std::int64_t queries = heads * problem.seqlen_q;
  const std::int64_t padded_queries = heads * ceil_div(problem.seqlen_q, kMaxBlockQ) * kMaxBlockQ;
  float* const delta = workspace.take<float>(queries);
  float* const rounded_lse = options.round_statistics ? workspace.take<float>(queries) : nullptr;
  float* dQ_sums = nullptr;
  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    dQ_sums = workspace.take<float>(padded_queries * kHeadDim);
  });
  return {delta, rounded_lse, dQ_sums, workspace.bytes()};
}

}  // namespace bwd_onepass_mma

inline std::size_t bwd_onepass_mma_workspace_bytes(const AttentionProblem& problem,
                                                   const ExecutionOptions& options) {
  return bwd_onepass_mma::arrays(problem, options, nullptr).bytes;
}

/// name: for profilers and errors.
template <class Config>
void launch_bwd_onepass_mma(const BackwardCall& call, std::string_view name) {
  using namespace bwd_onepass_mma;
  static_assert(kMaxBlockQ % Config::kBlockQ == 0);
  const AttentionProblem& problem = call.problem;
  const Arrays workspace = arrays(problem, call.options, call.workspace);
  const std::int64_t num_q_tiles = ceil_div(problem.seqlen_q, Config::kBlockQ);
  const std::int64_t num_dQ_tiles = problem.batch * problem.num_heads * num_q_tiles;
  const std::span sums(workspace.dQ_sums,
                       static_cast<std::size_t>(num_dQ_tiles * Config::kTileElements));
  const auto arguments =
      begin_onepass<typename Config::Element>(call, workspace, std::as_writable_bytes(sums));
  const bool is_aligned = has_aligned_rows(arguments);
  launch(call, name, bwd_onepass_mma_sm80_kernel<Config>,
         {problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Config::kBlockKV),
          Config::kNumThreads, Config::kSharedBytes},
         arguments, workspace.delta, workspace.dQ_sums, is_aligned);
  launch(call, "dQ_of_sums_kernel", dQ_of_sums_kernel<Config>,
         {num_dQ_tiles, Config::kNumThreads, Config::QueryTile::kBytes}, arguments,
         workspace.dQ_sums, is_aligned);
}

}  // namespace flashlab::cuda
