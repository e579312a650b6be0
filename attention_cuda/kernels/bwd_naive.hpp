// The launches of bwd_naive.cu.
#pragma once

#include "attention_cuda/detail/backward_launches.hpp"
#include "attention_cuda/detail/block_works.hpp"

namespace flashlab::cuda {

inline Launches bwd_naive_launches(const TilesRequest& request) {
  const AttentionProblem& problem = request.problem;
  const std::int64_t rows = request.rows(), key_rows = request.kv_heads() * problem.seqlen_k,
                     row_bytes = 4 * problem.head_dim, pairs = request.pairs(),
                     visible = problem.visible_pairs();
  const auto copy = [&](std::string_view name, std::int64_t count, std::int64_t other_bytes) {
    LaunchTiles launch =
        uncounted_launch(name, count, {count * (row_bytes + other_bytes), count * row_bytes});
    launch.row_work = with_place(
        {count * problem.head_dim, kInstructionsOfRange, 2, 1, 0, other_bytes > 0 ? 2 : 1});
    return launch;
  };
  const RowWork of_scores = with_place({visible, kInstructionsOfRange, 2, 1, 0, 2});
  Launches launches = {copy("bwd_naive copies Q", rows, 4), copy("bwd_naive copies K", key_rows, 0),
                       copy("bwd_naive copies V", key_rows, 0),
                       copy("bwd_naive copies dO", rows, 4)};
  const bool has_pairs = rows > 0 && key_rows > 0;
  const auto add_product = [&](std::string_view name, std::string_view toy_pass) {
    if (has_pairs) launches.push_back(library_launch(name, toy_pass));
  };
  add_product("S = Q K^T", "P");  // includes the exponentials, which the next step computes
  launches.push_back(
      uncounted_launch("bwd_naive_weights_kernel", rows, {4 * visible + 4 * rows, 4 * pairs}));
  launches.back().row_work = of_scores;
  add_product("dV = P^T dO", "dV");
  add_product("dP = dO V^T", "dP");
  launches.push_back(delta_launch(request));
  LaunchTiles dS =
      uncounted_launch("bwd_naive_dS_kernel", rows, {8 * visible + 8 * rows, 4 * pairs});
  dS.is_counted = true;
  dS.toy_pass = "dS";
  dS.block_q = 1;
  dS.block_kv = static_cast<int>(problem.seqlen_k);
  dS.row_work = of_scores;
  dS.row_work->accesses = 3;
  launches.push_back(dS);
  add_product("dQ = scale dS K", "dQ");
  add_product("dK = scale dS^T Q", "dK");
  launches.push_back(copy("bwd_naive stores dQ", rows, 0));
  launches.push_back(copy("bwd_naive stores dK", key_rows, 0));
  launches.push_back(copy("bwd_naive stores dV", key_rows, 0));
  return launches;
}

}  // namespace flashlab::cuda
