// Launches that several backward kernels share.
#pragma once

#include <cstdint>
#include <string_view>

#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

LaunchTiles delta_launch(const TilesRequest& request);
/// cudaMemset of this many bytes of dQ sums.
LaunchTiles zero_dQ_sums(std::int64_t num_dQ_tiles, std::int64_t bytes);
LaunchTiles backward_tiles(std::string_view name, std::string_view toy_pass, int block_q,
                           int block_kv, int num_threads, std::int64_t shared_bytes);
/// One block per query tile.
LaunchTiles for_dQ(LaunchTiles launch, const TilesRequest& request);
/// One block per K/V tile.
LaunchTiles for_dKV(LaunchTiles launch, const TilesRequest& request);
/// Returns the pairs of a tile of keys and a tile of queries that sees one of them, of all query heads.
std::int64_t visible_tile_pairs(const AttentionProblem& problem, int block_q, int block_kv);
LaunchTiles fp32_key_pass(std::string_view name, std::string_view toy_pass, bool with_dQ,
                          const TilesRequest& request);
LaunchTiles mma_key_pass(std::string_view name, std::string_view toy_pass,
                         const KeyTileShape& shape, bool with_dQ, const TilesRequest& request);

}  // namespace flashlab::cuda
