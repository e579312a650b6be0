#include "attention_cuda/detail/backward_works.hpp"

#include "attention_cuda/detail/block_works.hpp"

namespace flashlab::cuda {
namespace {

/// S and dP; each by half of the threads.
void add_fp32_scores(BlockWork& work, std::int64_t block, std::int64_t head_dim) {
  constexpr std::int64_t kHalf = 8;  // of the 8 x 8 threads
  const BlockProduct scores = {
      block, block, head_dim, block / kHalf, block / kHalf, Operand::kShared, Operand::kShared,
      true,  8};
  work.products = {scores, scores};
  work.score_instructions = kScoreGradientInstructions;
  work.halves_take_turns = true;
  work.stored.bytes = 2 * 4 * block * block;
  work.loaded.bytes = 4 * block * block;
  work.copied.bytes = 2 * 4 * block * head_dim;
  work.first_bytes = 2 * work.copied.bytes;
  work.num_barriers = 3;
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
  if (with_dQ) {
    work.products.push_back(fp32_dQ(block, head_dim));
    work.added.bytes = 4 * block * head_dim;
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
  if (with_dQ) {
    work.products.push_back({queries, head_dim, keys, queries / shape.warps_q,
                             head_dim / (shape.warps / shape.warps_q), Operand::kSharedColumns,
                             Operand::kSharedColumns, true});
    work.added = {4 * queries * head_dim, 4};
  }
  load_as_split(work, request);
  const std::int64_t queries_of_warp = shares ? chunk : queries;
  work.score_instructions = kScoreGradientInstructions;
  work.score_passes = static_cast<int>(queries_of_warp / chunk);
  const int num_stored = shares ? 2 : with_dQ ? 1 : 0;
  work.stored = {num_stored * keys * queries * bytes, 2 * bytes};
  // lse and delta: a wavefront each for 8 queries.
  work.loaded = {shape.warps * queries_of_warp / 8 * 2 * kWavefrontBytes, 4};
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
  load_as_split(work, request);
  work.score_instructions = kScoreGradientInstructions;
  work.score_passes = static_cast<int>(keys / shape.chunk);
  work.copied.bytes = 2 * keys * head_dim * request.element_bytes();
  work.first_bytes = 2 * (queries + keys) * head_dim * request.element_bytes();
  work.num_barriers = shape.stages == 1 ? 2 : 1;
  store_sums(work, queries * head_dim, request.element_bytes());
  return work;
}

}  // namespace flashlab::cuda
