// The launches of the forward kernels, in the order of their launchers (kernels/*.cu).
#include "attention_cuda/detail/launches.hpp"
#include "attention_cuda/detail/split_kv_shape.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"

namespace flashlab::cuda {
namespace {

using Names = std::vector<std::string_view>;

LaunchTiles library(std::string_view name, std::string_view toy_pass, Names loaded, Names stored) {
  LaunchTiles launch = library_launch(name, toy_pass);
  launch.elements_loaded = std::move(loaded);
  launch.elements_stored = std::move(stored);
  return launch;
}

/// One block per row of S.
LaunchTiles row_by_row(std::string_view name, std::string_view toy_pass,
                       const TilesRequest& request, int shared_floats = 0) {
  LaunchTiles launch;
  launch.name = name;
  launch.toy_pass = toy_pass;
  launch.block_q = 1;
  launch.block_kv = static_cast<int>(request.problem.seqlen_k);
  launch.num_threads = kRowThreads;
  launch.shared_bytes = std::int64_t{4} * shared_floats;
  launch.num_blocks = request.rows();
  return launch;
}

/// The product with V, and what it leaves to do (device/stored_scores.cuh).
void add_output_product(Launches& launches, const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const bool has_unseen_keys =
      !problem.key_lengths.empty() ||
      (problem.mask == Mask::kCausalTopLeft && problem.seqlen_k > problem.seqlen_q);
  if (has_unseen_keys) {
    const std::int64_t key_rows = request.kv_heads() * problem.seqlen_k,
                       bytes = key_rows * problem.head_dim * request.element_bytes();
    launches.push_back(uncounted_launch("copy_rows", key_rows, {bytes, bytes}));
  }
  if (problem.seqlen_k > 0) launches.push_back(library("O = P V", "Output", {"p", "v"}, {"o"}));
  launches.push_back(
      uncounted_launch("finish_rows", request.rows(), {8 * request.rows(), 4 * request.rows()}));
}

/// One warp per query, which reads its keys by itself.
Launches query_a_warp(std::string_view name, const TilesRequest& request) {
  LaunchTiles launch;
  launch.name = name;
  launch.block_q = launch.block_kv = 1;
  launch.num_threads = 32 * kQueryWarps;
  launch.num_blocks = num_tiles(request.rows(), kQueryWarps);
  launch.shares_loads = true;
  return {launch};
}

/// One launch, one block per query tile.
template <class Shape>
LaunchTiles query_tiles(std::string_view name, const Shape& shape, std::int64_t shared_bytes,
                        const TilesRequest& request) {
  LaunchTiles launch;
  launch.name = name;
  launch.block_q = shape.block_q();
  launch.block_kv = shape.block_kv;
  launch.num_threads = shape.num_threads();
  launch.shared_bytes = shared_bytes;
  launch.num_blocks = request.heads() * num_tiles(request.problem.seqlen_q, shape.block_q());
  launch.elements_loaded = {"q", "k", "v"};
  launch.elements_stored = {"o"};
  return launch;
}

}  // namespace

Launches naive_launches(const TilesRequest& request) {
  const std::int64_t hidden = request.pairs() - request.problem.visible_pairs();
  Launches launches = {library("S = Q K^T", "Product", {"q", "k"}, {}),
                       row_by_row("naive_scale", "Scale", request)};
  if (request.is_masked()) {
    launches.push_back(row_by_row("naive_mask", "Mask", request));
    launches.back().moved = {0, 4 * hidden};
  }
  launches.push_back(row_by_row("naive_row_max", "Row max", request, kReduceFloats));
  launches.push_back(row_by_row("naive_subtract", "Subtract", request));
  launches.push_back(row_by_row("naive_exp", "Exp", request));
  launches.push_back(row_by_row("naive_row_sum", "Row sum", request, kReduceFloats));
  launches.push_back(row_by_row("naive_divide", "Divide", request));
  launches.back().elements_stored = {"p"};
  add_output_product(launches, request);
  return launches;
}

Launches fused_softmax_launches(const TilesRequest& request) {
  const std::int64_t seqlen_k = request.problem.seqlen_k, rows = request.rows();
  const bool is_stored = seqlen_k <= kMostStoredKeys;
  LaunchTiles softmax = row_by_row("fused_softmax", "Softmax", request,
                                   kReduceFloats + static_cast<int>(is_stored ? seqlen_k : 0));
  // Hidden scores are not read, and m and l are written for lse; the program keeps every row.
  softmax.moved = {(is_stored ? 1 : 3) * 4 * request.problem.visible_pairs(),
                   request.element_bytes() * request.pairs() + 8 * rows};
  softmax.elements_stored = {"p"};
  Launches launches = {library("S = Q K^T", "Product", {"q", "k"}, {}), softmax};
  add_output_product(launches, request);
  return launches;
}

Launches three_pass_launches(const TilesRequest& request) {
  return query_a_warp("three_pass", request);
}

Launches online_launches(const TilesRequest& request) { return query_a_warp("online", request); }

Launches flash1_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const std::int64_t rows = request.rows();
  LaunchTiles start;
  start.name = "flash1_start";
  start.toy_pass = "Start";
  start.num_threads = Flash1Shape::kStartThreads;
  start.num_blocks = num_tiles(rows * problem.head_dim, Flash1Shape::kStartThreads);

  LaunchTiles launch;
  launch.name = "flash1";
  launch.toy_pass = "Attention";
  launch.block_q = Flash1Shape::kBlockQ;
  launch.block_kv = Flash1Shape::kBlockKV;
  launch.num_threads = Flash1Shape::kNumThreads;
  launch.shared_bytes = Flash1Shape::shared_bytes(padded_head_dim(problem.head_dim));
  launch.num_blocks = request.heads() * num_tiles(problem.seqlen_q, Flash1Shape::kBlockQ);
  launch.num_launches = num_tiles(problem.seqlen_k, Flash1Shape::kBlockKV);

  LaunchTiles lse = uncounted_launch("flash1_lse", num_tiles(rows, Flash1Shape::kStartThreads),
                                     {8 * rows, 4 * rows});
  lse.num_threads = Flash1Shape::kStartThreads;
  return {start, launch, lse};
}

Launches flash2_fp32_launches(const TilesRequest& request) {
  const std::int64_t shared = request.gpu.shared_memory_per_block_bytes;
  const int chosen = flash2_fp32_shape(request.problem.head_dim, shared);
  if (chosen < 0) {
    throw ProblemError("flash2_fp32", std::to_string(shared) + " bytes of shared memory a block",
                       "more of them for this head_dim");
  }
  const Flash2Fp32Shape& shape = kFlash2Fp32Shapes[chosen];
  return {query_tiles("flash2_fp32", shape, shape.shared_bytes(), request)};
}

Launches flash2_mma_launches(const TilesRequest& request) {
  const std::int64_t head_dim = request.problem.head_dim;
  const bool is_16_bits = request.element_bytes() == 2;
  const Flash2Shape& shape =
      (is_16_bits ? kFlash2Shapes16 : kFlash2ShapesTf32)[head_dim_index(head_dim)];
  return {query_tiles(is_16_bits ? "flash2_mma_sm80" : "flash2_mma_tf32_sm80", shape,
                      shape.shared_bytes(padded_head_dim(head_dim), request.element_bytes()),
                      request)};
}

Launches split_kv_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const int head_dim = padded_head_dim(problem.head_dim);
  const SplitKvShape shape = {head_dim, split_kv_rows(problem)};
  LaunchTiles splits;
  splits.name = "split_kv";
  splits.toy_pass = "Partial results";
  splits.block_q = shape.rows;
  splits.block_kv = shape.groups() * shape.keys();
  splits.num_threads = SplitKvShape::kNumThreads;
  splits.shared_bytes = shape.shared_bytes();
  splits.is_per_kv_head = true;
  splits.num_splits =
      split_kv_splits(problem, request.execution.num_splits, request.gpu.num_multiprocessors);
  splits.num_blocks = split_kv_row_groups(problem) * splits.num_splits;

  LaunchTiles merge;
  merge.name = "split_kv_merge";
  merge.toy_pass = "Merge";
  merge.block_q = 1;
  merge.num_threads = MergeShape::kNumThreads;
  merge.shared_bytes = MergeShape::shared_bytes(head_dim);
  merge.num_blocks = request.rows();
  merge.num_splits = splits.num_splits;
  return {splits, merge};
}

}  // namespace flashlab::cuda
