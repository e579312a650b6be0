#include "attention_cuda/detail/backward_launches.hpp"

#include <algorithm>

#include "attention_cuda/detail/backward_works.hpp"

namespace flashlab::cuda {

LaunchTiles delta_launch(const TilesRequest& request) {
  LaunchTiles launch;
  launch.name = "delta_kernel";
  launch.toy_pass = "Delta";
  const DeltaShape shape = {static_cast<int>(request.problem.head_dim), request.element_bytes()};
  launch.block_q = shape.num_rows();
  launch.num_threads = DeltaShape::kNumThreads;
  launch.num_blocks = num_tiles(request.rows(), shape.num_rows());
  launch.elements_loaded = {"o", "do"};
  if (request.execution.round_statistics) {  // rounds lse as well
    const std::int64_t tensors =
        2 * request.rows() * request.problem.head_dim * request.element_bytes();
    launch.moved = {tensors + 4 * request.rows(), 8 * request.rows()};
  }
  return launch;
}

LaunchTiles zero_dQ_sums(std::int64_t num_dQ_tiles, std::int64_t bytes) {
  LaunchTiles zero = uncounted_launch("dQ sums to zero", num_dQ_tiles, {0, bytes});
  zero.is_counted = true;
  zero.toy_pass = "Zero";
  zero.num_threads = 0;
  return zero;
}

LaunchTiles backward_tiles(std::string_view name, std::string_view toy_pass, int block_q,
                           int block_kv, int num_threads, std::int64_t shared_bytes) {
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

LaunchTiles for_dQ(LaunchTiles launch, const TilesRequest& request) {
  launch.num_blocks = request.heads() * num_tiles(request.problem.seqlen_q, launch.block_q);
  launch.elements_stored = {"dq"};
  return launch;
}

LaunchTiles for_dKV(LaunchTiles launch, const TilesRequest& request) {
  launch.num_blocks = request.kv_heads() * num_tiles(request.problem.seqlen_k, launch.block_kv);
  launch.elements_stored = {"dk", "dv"};
  launch.is_per_kv_head = true;
  return launch;
}

std::int64_t visible_tile_pairs(const AttentionProblem& problem, int block_q, int block_kv) {
  std::int64_t pairs = 0;  // of one head, in all batch entries
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t first = 0; first < problem.seqlen_q; first += block_q) {
      const std::int64_t last = std::min(first + block_q, problem.seqlen_q) - 1;
      const KeyRange seen = {problem.visible_keys(b, first).first,
                             problem.visible_keys(b, last).end};
      if (seen.count() > 0) pairs += num_tiles(seen.end, block_kv) - seen.first / block_kv;
    }
  }
  return problem.num_heads * pairs;
}

LaunchTiles fp32_key_pass(std::string_view name, std::string_view toy_pass, bool with_dQ,
                          const TilesRequest& request) {
  const BackwardFp32Shape shape = {padded_head_dim(request.problem.head_dim)};
  LaunchTiles launch =
      for_dKV(backward_tiles(name, toy_pass, shape.block(), shape.block(),
                             BackwardFp32Shape::kNumThreads, shape.key_pass_bytes()),
              request);
  launch.block_work = fp32_key_work(shape, with_dQ);
  return launch;
}

LaunchTiles mma_key_pass(std::string_view name, std::string_view toy_pass,
                         const KeyTileShape& shape, bool with_dQ, const TilesRequest& request) {
  const int head_dim = padded_head_dim(request.problem.head_dim);
  LaunchTiles launch =
      for_dKV(backward_tiles(name, toy_pass, shape.block_q, shape.block_kv, shape.num_threads(),
                             shape.shared_bytes(head_dim, request.element_bytes(), with_dQ)),
              request);
  launch.block_work = mma_key_work(shape, with_dQ, request);
  return launch;
}

}  // namespace flashlab::cuda
