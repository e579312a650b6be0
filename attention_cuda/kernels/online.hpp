// The launches of online.cu.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

/// One key, for all queries of a block. Every lane computes the query's two exponentials.
inline BlockWork online_work(std::int64_t head_dim) {
  constexpr int kMostBlocks[] = {16, 12, 10, 7};  // by head_dim, with 32, 40, 46 and 69 registers
  BlockWork work = warp_per_query_work(2, head_dim, kMostBlocks[head_dim_index(head_dim)]);
  // The scale, the maximum, the shift if all are hidden (2), two differences, the sum, the loop (3), and
  // O's columns times the factor.
  const double instructions = 10 + 2 * kInstructionsOfExpf + 2 * kInstructionsOfRowAddress;
  work.exps_per_score = 32 * 2;
  work.score_instructions = 32 * instructions + static_cast<double>(head_dim);
  work.score_passes = 1;
  // The scale, the maximum, the shift (2), a difference, one exponential (the other one is independent), and O.
  work.chained_instructions += 1 + 1 + 2 + 1 + kChainOfExpf + 2;
  return work;
}

inline Launches online_launches(const TilesRequest& request) {
  return one_warp_per_query("online", request,
                            online_work(padded_head_dim(request.problem.head_dim)));
}

}  // namespace flashlab::cuda
