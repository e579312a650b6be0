// The launches of three_pass.cu.
#pragma once

#include "attention_cuda/detail/block_works.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

/// One key in all three passes, for all queries of a block. Every lane computes what belongs to the score.
inline BlockWork three_pass_work(std::int64_t head_dim) {
  constexpr int kMostBlocks[] = {12, 10, 9, 7};  // by head_dim, with 40, 48, 52 and 72 registers
  BlockWork work = warp_per_query_work(4, head_dim, kMostBlocks[head_dim_index(head_dim)]);
  // Three times the scale and the loop (3), twice the difference, the maximum, the sum.
  const double instructions = 3 * 4 + 2 + 2 + 2 * kInstructionsOfExpf + kInstructionsOfDivision +
                              4 * kInstructionsOfRowAddress;
  work.exps_per_score = 32 * (2 + kSpecialsOfDivision);
  work.score_instructions = 32 * instructions;
  work.score_passes = 3;
  // Three times the scale; the maximum, twice a difference and an exponential, the sum, a division, and O.
  work.chained_instructions += 3 + 1 + 2 * (1 + kChainOfExpf) + 1 + kInstructionsOfDivision + 1;
  return work;
}

inline Launches three_pass_launches(const TilesRequest& request) {
  return one_warp_per_query("three_pass", request,
                            three_pass_work(padded_head_dim(request.problem.head_dim)));
}

}  // namespace flashlab::cuda
