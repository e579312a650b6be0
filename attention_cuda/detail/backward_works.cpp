#include "attention_cuda/detail/backward_works.hpp"

#include <algorithm>

#include "attention_cuda/detail/block_works.hpp"

namespace flashlab::cuda {
namespace {

/// The depth that the compiler unrolls (device/warp_products.cuh): eight instructions.
constexpr std::int64_t unrolled_depth(int element_bytes) { return 8 * 32 / element_bytes; }

/// For a part of a warp's scores, which of them are visible; for a round of unrolled products, the places of
/// four pairs of operands, and the loop.
constexpr double kInstructionsOfVisible = 6, kInstructionsOfRound = 8 + 3;
/// What a warp loads, by all lanes the same, of the facts about its block (KeyTileFacts): for a tile, and for
/// a part of its scores the ranges of its first and its last query, which count from the tile's first key.
constexpr std::int64_t kFactsOfTile = 18, kFactsOfPart = 2;
/// Places that a lane keeps for 16-bit elements (device/key_tile/lane_places.cuh) move by an instruction each; for all
/// of a part the first query's row in its stage (2).
constexpr double kInstructionsOfKeptPlace = 1, kInstructionsOfStageRow = 2;
/// Of a query, by the thread that has it: its lse and delta, and the keys that it sees.
constexpr double kInstructionsOfStatistics = 2 * (kInstructionsOfRowAddress + 7 + 1) + 20;

/// Sets how S and dP are made: part by part, each a round or several of two products. A warp waits for
/// each part's visible keys before. of_places: the instructions for the places of operands of each part.
void take_parts(BlockWork& work, std::int64_t depth, int element_bytes, double of_places) {
  const std::int64_t at_once = std::min(depth, unrolled_depth(element_bytes));
  for (std::size_t k = 0; k < 2; ++k) work.products[k].depth_at_once = at_once;
  const std::int64_t rounds_of_two = 2 * depth / at_once;
  const auto rounds = static_cast<double>(rounds_of_two);
  work.tile_instructions +=
      kInstructionsOfTwoTiles +
      work.score_passes * (kInstructionsOfVisible + of_places + rounds * kInstructionsOfRound);
  work.cache_waits += work.score_passes;
}

/// S and dP; each by half of the threads.
void add_fp32_scores(BlockWork& work, std::int64_t block, std::int64_t head_dim) {
  constexpr std::int64_t kHalf = 8;  // of the 8 x 8 threads
  const BlockProduct scores = {
      block, block, head_dim, block / kHalf, block / kHalf, Operand::kShared, Operand::kShared,
      true,  8};
  work.products = {scores, scores};
  // Of P and of dS, whether the query sees the key: two comparisons, both of them, a selection.
  constexpr double kOfVisible = 2 + 1 + 1;
  work.score_instructions = kScoreGradientInstructions + 2 * kOfVisible;
  work.halves_take_turns = true;
  // The statistics of each of a thread's rows. A weight P is loaded after dS before it has been stored, perhaps in
  // the same memory.
  const auto side = static_cast<int>(block / kHalf);  // of a thread's scores
  work.waits_of_P = side;
  work.waits_of_dS = side + side * side;
  work.stored = {2 * 4 * block * block, 4};
  work.loaded = {4 * block * block, 4};
  work.copied.bytes = 2 * 4 * block * head_dim;
  work.first_bytes = 2 * work.copied.bytes;
  work.num_barriers = 3;
  work.tile_instructions += kInstructionsOfTwoTiles;
}

/// dQ += dS K, by all threads.
BlockProduct fp32_dQ(std::int64_t block, std::int64_t head_dim) {
  return {
      block, head_dim, block, block / 16, head_dim / 8, Operand::kShared, Operand::kSharedColumns,
      false, 4};
}

}  // namespace

BlockWork fp32_key_work(const BackwardFp32Shape& shape, bool with_dQ) {
  const std::int64_t block = shape.block(), head_dim = shape.head_dim;
  BlockWork work = multiply_add_work(BackwardFp32Shape::kNumThreads / 32, 2);
  add_fp32_scores(work, block, head_dim);
  const BlockProduct gradient = {block,
                                 head_dim,
                                 block,
                                 block / 8,
                                 head_dim / 8,
                                 Operand::kSharedColumns,
                                 Operand::kSharedColumns,
                                 false,
                                 8};
  work.products.insert(work.products.end(), {gradient, gradient});
  store_sums(work, 2 * block * head_dim, 4);
  // The head and the tile of queries by a division of whole numbers: for loads, for half of the warps that have
  // statistics, and for dQ. Each instruction waits for the one before.
  const double num_divisions = with_dQ ? 2.5 : 1.5;
  work.tile_specials = kSpecialsOfDivider * num_divisions;
  work.tile_instructions +=
      kInstructionsOfDivider * num_divisions +
      kInstructionsOfStatistics * static_cast<double>(num_tiles(block, 32)) / work.num_warps;
  work.chained_instructions += kInstructionsOfDivider * num_divisions;
  if (with_dQ) {
    // Of a thread's rows of dQ: whether it exists (3), its address. Of four columns: whether they exist (2) and are
    // aligned (2), four products, the address.
    const std::int64_t rows = block / 16, fours = head_dim / 8 / 4;
    work.tile_instructions +=
        static_cast<double>(rows) *
        (3 + kInstructionsOfRowAddress + static_cast<double>(fours) * (2 + 2 + 4));
    work.products.push_back(fp32_dQ(block, head_dim));
    work.added.bytes = 4 * block * head_dim;
  } else {
    work.awaited_bytes = work.copied.bytes;  // with dQ, its product runs meanwhile
  }
  return work;
}

BlockWork mma_key_work(const KeyTileShape& shape, bool with_dQ, const TilesRequest& request) {
  const std::int64_t head_dim = padded_head_dim(request.problem.head_dim), keys = shape.block_kv,
                     queries = shape.block_q;
  const int bytes = request.element_bytes(), column_warps = shape.column_warps();
  const bool shares = shape.shares_scores(bytes);
  const std::int64_t chunk = shares ? queries / column_warps : shape.chunk;
  BlockWork work = mma_work(shape.warps, shape.min_blocks);
  work.score_copies = shares ? 1 : column_warps;
  const BlockProduct scores = {keys * work.score_copies, queries, head_dim,
                               shape.warp_keys,          chunk,   Operand::kShared,
                               Operand::kShared,         true};
  const BlockProduct gradient = {keys,
                                 head_dim,
                                 queries,
                                 shape.warp_keys,
                                 head_dim / column_warps,
                                 shares ? Operand::kShared : Operand::kResults,
                                 Operand::kSharedColumns};
  work.products = {scores, scores, gradient, gradient};
  if (!shares) work.products[2].depth_at_once = work.products[3].depth_at_once = chunk;
  if (with_dQ) {
    work.products.push_back({queries, head_dim, keys, queries / shape.warps_q,
                             head_dim / (shape.warps / shape.warps_q), Operand::kSharedColumns,
                             Operand::kSharedColumns, true});
    work.added = {4 * queries * head_dim, 4};
  }
  const std::int64_t queries_of_warp = shares ? chunk : queries;
  work.score_instructions = kScoreGradientInstructions;
  work.score_passes = static_cast<int>(queries_of_warp / chunk);
  constexpr double kNumPlaces = 6;  // of K, V, twice Q and dO
  take_parts(work, head_dim, bytes,
             bytes == 2 ? kInstructionsOfStageRow + kNumPlaces * kInstructionsOfKeptPlace
                        : kNumPlaces * kInstructionsOfTilePlace);
  load_as_split(work, request);
  constexpr std::int64_t kLanes = 32;
  work.tile_instructions +=
      kInstructionsOfStatistics * static_cast<double>(num_tiles(queries, kLanes)) / shape.warps;
  const int num_stored = shares ? 2 : with_dQ ? 1 : 0;
  work.stored = {num_stored * keys * queries * bytes, 2 * bytes};
  constexpr std::int64_t kConvertedAtOnce = 2;
  if (shares) {
    work.tile_instructions += static_cast<double>(num_stored * keys * queries) /
                              static_cast<double>(kConvertedAtOnce * kLanes * shape.warps);
  }
  work.loaded = loaded_statistics(shape.warps, queries_of_warp);
  work.loaded_alike = shape.warps * (kFactsOfTile + work.score_passes * kFactsOfPart);
  work.copied.bytes = 2 * queries * head_dim * bytes;
  work.first_bytes = 2 * (queries + keys) * head_dim * bytes;
  work.num_barriers = (shares ? 2 : 1) + (shape.stages == 1 ? 1 : 0);
  store_sums(work, 2 * keys * head_dim, bytes);
  return work;
}

BlockWork fp32_query_work(const BackwardFp32Shape& shape) {
  BlockWork work = multiply_add_work(BackwardFp32Shape::kNumThreads / 32, 2);
  add_fp32_scores(work, shape.block(), shape.head_dim);
  work.products.push_back(fp32_dQ(shape.block(), shape.head_dim));
  store_sums(work, shape.block() * shape.head_dim, 4);
  return work;
}

BlockWork mma_query_work(const QueryTileShape& shape, const TilesRequest& request) {
  const std::int64_t head_dim = padded_head_dim(request.problem.head_dim),
                     queries = shape.block_q(), keys = shape.block_kv, rows = shape.warp_queries;
  BlockWork work = mma_work(shape.warps, shape.min_blocks);
  const BlockProduct scores = {
      queries, keys, head_dim, rows, shape.chunk, Operand::kShared, Operand::kShared, true};
  work.products = {
      scores,
      scores,
      {queries, head_dim, keys, rows, head_dim, Operand::kResults, Operand::kSharedColumns}};
  work.products[2].depth_at_once = shape.chunk;
  work.score_instructions = kScoreGradientInstructions;
  work.score_passes = static_cast<int>(keys / shape.chunk);
  take_parts(work, head_dim, request.element_bytes(),
             3 * kInstructionsOfTilePlace);  // of K, twice, and V
  load_as_split(work, request);
  work.copied.bytes = 2 * keys * head_dim * request.element_bytes();
  work.first_bytes = 2 * (queries + keys) * head_dim * request.element_bytes();
  work.num_barriers = shape.stages == 1 ? 2 : 1;
  store_sums(work, queries * head_dim, request.element_bytes());
  return work;
}

}  // namespace flashlab::cuda
