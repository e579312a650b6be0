// The launches of the backward kernels, in the order of their launchers (kernels/*.cu).
#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {
namespace {

LaunchTiles delta(const TilesRequest& request) {
  LaunchTiles launch;
  launch.name = "delta_kernel";
  launch.toy_pass = "Delta";
  launch.block_q = DeltaShape::kNumWarps;
  launch.num_threads = DeltaShape::kNumThreads;
  launch.num_blocks = num_tiles(request.rows(), DeltaShape::kNumWarps);
  launch.elements_loaded = {"o", "do"};
  if (request.execution.round_statistics) {  // lse is rounded beside it
    const std::int64_t tensors =
        2 * request.rows() * request.problem.head_dim * request.element_bytes();
    launch.moved = {tensors + 4 * request.rows(), 8 * request.rows()};
  }
  return launch;
}

LaunchTiles tiled(std::string_view name, std::string_view toy_pass, int block_q, int block_kv,
                  int num_threads, std::int64_t shared_bytes) {
  LaunchTiles launch;
  launch.name = name;
  launch.toy_pass = toy_pass;
  launch.block_q = block_q;
  launch.block_kv = block_kv;
  launch.num_threads = num_threads;
  launch.shared_bytes = shared_bytes;
  launch.elements_loaded = {"q", "k", "v", "do"};
  return launch;
}

/// One block per query tile.
LaunchTiles for_dQ(LaunchTiles launch, const TilesRequest& request) {
  launch.num_blocks = request.heads() * num_tiles(request.problem.seqlen_q, launch.block_q);
  launch.elements_stored = {"dq"};
  return launch;
}

/// A block a K/V tile.
LaunchTiles for_dKV(LaunchTiles launch, const TilesRequest& request) {
  launch.num_blocks = request.kv_heads() * num_tiles(request.problem.seqlen_k, launch.block_kv);
  launch.elements_stored = {"dk", "dv"};
  launch.is_per_kv_head = true;
  return launch;
}

LaunchTiles fp32_key_pass(std::string_view name, std::string_view toy_pass,
                          const TilesRequest& request) {
  const BackwardFp32Shape shape = {padded_head_dim(request.problem.head_dim)};
  return for_dKV(tiled(name, toy_pass, shape.block(), shape.block(), BackwardFp32Shape::kNumThreads,
                       shape.key_pass_bytes()),
                 request);
}

LaunchTiles mma_key_pass(std::string_view name, std::string_view toy_pass,
                         const KeyTileShape& shape, bool with_dQ, const TilesRequest& request) {
  const int head_dim = padded_head_dim(request.problem.head_dim);
  return for_dKV(tiled(name, toy_pass, shape.block_q, shape.block_kv, shape.num_threads(),
                       shape.shared_bytes(head_dim, request.element_bytes(), with_dQ)),
                 request);
}

const KeyTileShape& onepass_shape(const TilesRequest& request) {
  const std::int64_t head_dim = request.problem.head_dim;
  const int index = head_dim_index(head_dim);
  if (request.element_bytes() != 2) return kOnePassShapesTf32[index];
  return takes_large_shape(head_dim, request.gpu.shared_memory_per_block_bytes)
             ? kOnePassLargeShapes16[index]
             : kOnePassShapes16[index];
}

}  // namespace

Launches bwd_naive_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const std::int64_t rows = request.rows(), key_rows = request.kv_heads() * problem.seqlen_k,
                     row_bytes = 4 * problem.head_dim, pairs = request.pairs(),
                     visible = problem.visible_pairs();
  const auto copy = [&](std::string_view name, std::int64_t count, std::int64_t other_bytes) {
    return uncounted_launch(name, count, {count * (row_bytes + other_bytes), count * row_bytes});
  };
  Launches launches = {copy("bwd_naive copies Q", rows, 4), copy("bwd_naive copies K", key_rows, 0),
                       copy("bwd_naive copies V", key_rows, 0),
                       copy("bwd_naive copies dO", rows, 4)};
  const bool has_pairs = rows > 0 && key_rows > 0;
  const auto add_product = [&](std::string_view name, std::string_view toy_pass) {
    if (has_pairs) launches.push_back(library_launch(name, toy_pass));
  };
  add_product("S = Q K^T", "P");  // with the exponentials, which the next step takes
  launches.push_back(
      uncounted_launch("bwd_naive_weights_kernel", rows, {4 * visible + 4 * rows, 4 * pairs}));
  add_product("dV = P^T dO", "dV");
  add_product("dP = dO V^T", "dP");
  launches.push_back(delta(request));
  LaunchTiles dS =
      uncounted_launch("bwd_naive_dS_kernel", rows, {8 * visible + 8 * rows, 4 * pairs});
  dS.is_counted = true;
  dS.toy_pass = "dS";
  dS.block_q = 1;
  dS.block_kv = static_cast<int>(problem.seqlen_k);
  launches.push_back(dS);
  add_product("dQ = scale dS K", "dQ");
  add_product("dK = scale dS^T Q", "dK");
  launches.push_back(copy("bwd_naive stores dQ", rows, 0));
  launches.push_back(copy("bwd_naive stores dK", key_rows, 0));
  launches.push_back(copy("bwd_naive stores dV", key_rows, 0));
  return launches;
}

Launches bwd_onepass_fp32_launches(const TilesRequest& request) {
  LaunchTiles zero;
  zero.name = "zero_dQ_kernel";
  zero.toy_pass = "Zero";
  zero.num_threads = BackwardFp32Shape::kZeroThreads;
  zero.num_blocks =
      num_tiles(request.rows() * request.problem.head_dim, BackwardFp32Shape::kZeroThreads);
  return {delta(request), zero, fp32_key_pass("bwd_onepass_fp32_kernel", "Gradients", request)};
}

Launches bwd_onepass_mma_launches(const TilesRequest& request) {
  const KeyTileShape& shape = onepass_shape(request);
  const int head_dim = padded_head_dim(request.problem.head_dim);
  const std::int64_t num_dQ_tiles =
                         request.heads() * num_tiles(request.problem.seqlen_q, shape.block_q),
                     sums = 4 * num_dQ_tiles * shape.block_q * head_dim,
                     dQ = request.rows() * request.problem.head_dim * request.element_bytes();
  LaunchTiles zero = uncounted_launch("dQ sums to zero", num_dQ_tiles, {0, sums});
  zero.is_counted = true;
  zero.toy_pass = "Zero";
  zero.num_threads = 0;  // cudaMemset's
  LaunchTiles round = uncounted_launch("dQ_of_sums_kernel", num_dQ_tiles, {sums, dQ});
  round.num_threads = shape.num_threads();
  round.shared_bytes = std::int64_t{shape.block_q} * head_dim * request.element_bytes();
  const std::string_view name =
      request.element_bytes() == 2 ? "bwd_onepass_mma_sm80" : "bwd_onepass_mma_tf32_sm80";
  return {delta(request), zero, mma_key_pass(name, "Gradients", shape, true, request), round};
}

Launches bwd_twopass_fp32_launches(const TilesRequest& request) {
  const BackwardFp32Shape shape = {padded_head_dim(request.problem.head_dim)};
  return {delta(request),
          for_dQ(tiled("bwd_twopass_fp32_dQ_kernel", "dQ", shape.block(), shape.block(),
                       BackwardFp32Shape::kNumThreads, shape.query_pass_bytes()),
                 request),
          fp32_key_pass("bwd_twopass_fp32_dKV_kernel", "dK and dV", request)};
}

Launches bwd_twopass_mma_launches(const TilesRequest& request) {
  const int index = head_dim_index(request.problem.head_dim), bytes = request.element_bytes();
  const int splits = request.execution.products == Products::kTensorFloat32x3 ? 1 : 0;
  const QueryTileShape& queries =
      bytes == 2 ? kTwoPassQueryShapes16[index] : kTwoPassQueryShapesTf32[splits][index];
  const KeyTileShape& keys =
      bytes == 2 ? kTwoPassKeyShapes16[index] : kTwoPassKeyShapesTf32[splits][index];
  return {delta(request),
          for_dQ(tiled("bwd_twopass_dQ_mma_sm80", "dQ", queries.block_q(), queries.block_kv,
                       queries.num_threads(), queries.shared_bytes(kHeadDims[index], bytes)),
                 request),
          mma_key_pass("bwd_twopass_dKdV_mma_sm80", "dK and dV", keys, false, request)};
}

}  // namespace flashlab::cuda
