#include "attention_cuda/detail/launches.hpp"

#include "attention_cuda/detail/block_works.hpp"

namespace flashlab::cuda {

LaunchTiles uncounted_launch(std::string_view name, std::int64_t num_blocks, MovedBytes moved) {
  LaunchTiles launch;
  launch.name = name;
  launch.is_counted = false;
  launch.num_threads = kRowThreads;
  launch.num_blocks = num_blocks;
  launch.moved = moved;
  return launch;
}

LaunchTiles library_launch(std::string_view name, std::string_view toy_pass) {
  LaunchTiles launch;
  launch.name = name;
  launch.is_library = true;
  launch.toy_pass = toy_pass;
  return launch;
}

LaunchTiles stored_numbers(std::string_view name, std::int64_t count) {
  LaunchTiles launch = uncounted_launch(name, 1, {0, 8 * count});
  launch.num_threads = kNumbersAtOnce;
  launch.num_launches = num_tiles(count, kNumbersAtOnce);
  return launch;
}

Launches packed_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const bool is_on_device = request.execution.device_cu_seqlens_q != nullptr;
  if (!problem.is_packed() && !is_on_device) return {};
  const std::int64_t num_bounds =
      1 + (is_on_device ? request.execution.num_sequences : problem.num_sequences());
  const std::int64_t num_ranges = problem.seqlen_q + problem.seqlen_k;
  Launches launches;
  if (!is_on_device) {
    launches = {stored_numbers("store_cu_seqlens_q", num_bounds),
                stored_numbers("store_cu_seqlens_k", num_bounds)};
  }
  launches.push_back(uncounted_launch("visible_ranges", num_tiles(num_ranges, kRangeThreads),
                                      {16 * num_bounds, 8 * num_ranges}));
  launches.back().num_threads = kRangeThreads;
  return launches;
}

LaunchTiles library_product(std::string_view name, std::string_view toy_pass, Names loaded,
                            Names stored) {
  LaunchTiles launch = library_launch(name, toy_pass);
  launch.elements_loaded = std::move(loaded);
  launch.elements_stored = std::move(stored);
  return launch;
}

LaunchTiles row_by_row(std::string_view name, std::string_view toy_pass,
                       const TilesRequest& request, const RowWork& work, int shared_floats) {
  LaunchTiles launch;
  launch.name = name;
  launch.toy_pass = toy_pass;
  launch.block_q = 1;
  launch.block_kv = static_cast<int>(request.problem.seqlen_k);
  launch.num_threads = kRowThreads;
  launch.shared_bytes = std::int64_t{4} * shared_floats;
  launch.num_blocks = request.rows();
  launch.row_work = work;
  return launch;
}

void add_output_product(Launches& launches, const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  if (problem.has_unseen_keys()) {
    const std::int64_t key_rows = request.kv_heads() * problem.seqlen_k,
                       bytes = key_rows * problem.head_dim * request.element_bytes();
    launches.push_back(uncounted_launch("copy_rows", key_rows, {bytes, bytes}));
  }
  if (problem.seqlen_k > 0)
    launches.push_back(library_product("O = P V", "Output", {"p", "v"}, {"o"}));
  launches.push_back(
      uncounted_launch("finish_rows", request.rows(), {8 * request.rows(), 4 * request.rows()}));
  launches.back().row_work =
      with_place({request.rows(), kInstructionsOfRange, 3, 1, 0, 2, /*loops=*/0});
}

BlockWork warp_per_query_work(int num_products, std::int64_t head_dim, int blocks_per_sm) {
  constexpr std::int64_t kLanes = 32;
  BlockWork work = multiply_add_work(kQueryWarps, blocks_per_sm);
  // A lane has some columns, and all lanes have the score.
  const BlockProduct scores = {kQueryWarps,        1, head_dim, 1, 1, Operand::kRegisters,
                               Operand::kRegisters};
  work.products.assign(static_cast<std::size_t>(num_products - 1), scores);
  work.products.push_back(
      {kQueryWarps, head_dim, 1, 1, head_dim / kLanes, Operand::kRegisters, Operand::kRegisters});
  constexpr int kStepsOfWarp = 5;
  work.row_shuffles = (num_products - 1) * kStepsOfWarp;
  work.row_lanes = kLanes;
  // Each score is a sum of products in a lane, and then of the lanes.
  const std::int64_t chained = (num_products - 1) * (head_dim / kLanes + kStepsOfWarp);
  work.chained_instructions = static_cast<double>(chained);
  work.loaded_through_l1 = {num_products * 4 * kQueryWarps * head_dim, 4};
  // An address of each number, beside the one that each load counts.
  constexpr double kLoop =
      2;  // per key: the comparison, the branch; the sum is in the row's address
  const std::int64_t numbers_of_lane = num_products * (head_dim / kLanes);
  work.tile_instructions =
      kLoop + static_cast<double>(numbers_of_lane) * (kInstructionsOfColumnAddress - 1);
  // For each number of a lane the stride of its columns and the tensor's address, for each row its stride.
  work.constant_loads = kQueryWarps * (2 * numbers_of_lane + num_products);
  work.cache_waits = num_products - 1;  // V comes meanwhile
  work.first_bytes = 4 * kQueryWarps * head_dim;
  return work;
}

Launches one_warp_per_query(std::string_view name, const TilesRequest& request,
                            const BlockWork& work) {
  LaunchTiles launch;
  launch.name = name;
  launch.block_q = launch.block_kv = 1;
  launch.num_threads = 32 * kQueryWarps;
  launch.num_blocks = num_tiles(request.rows(), kQueryWarps);
  launch.shares_loads = true;
  launch.block_work = work;
  return {launch};
}

}  // namespace flashlab::cuda
