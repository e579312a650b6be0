// Problems over several ranks that tests run over: every mask, lengths that do not divide, more ranks
// than tokens.
#pragma once

#include <string>
#include <vector>

#include "attention/ranks/shards.hpp"

namespace flashlab::test {

inline std::string description(const ShardedProblem& problem) {
  const AttentionProblem& whole = problem.whole;
  std::string text = std::to_string(problem.shards.num_ranks) + " ranks, " +
                     std::string(to_string(problem.shards.sharding)) + ", " +
                     std::to_string(whole.seqlen_q) + " queries, " +
                     std::to_string(whole.seqlen_k) + " keys, " +
                     std::string(to_string(whole.mask));
  if (whole.window_left) text += ", left " + std::to_string(*whole.window_left);
  if (whole.window_right) text += ", right " + std::to_string(*whole.window_right);
  if (whole.query_offset != 0) text += ", offset " + std::to_string(whole.query_offset);
  if (!whole.key_lengths.empty()) text += ", key lengths";
  return text;
}

/// Every mask for these lengths. Sizes other than lengths are small.
inline std::vector<AttentionProblem> masked_problems(std::int64_t seqlen_q, std::int64_t seqlen_k) {
  AttentionProblem plain;
  plain.batch = 2;
  plain.num_heads = 2;
  plain.num_kv_heads = 1;
  plain.seqlen_q = seqlen_q;
  plain.seqlen_k = seqlen_k;
  plain.head_dim = 16;
  plain.softmax_scale = 0.25;
  std::vector<AttentionProblem> result;
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight}) {
    AttentionProblem masked = plain;
    masked.mask = mask;
    result.push_back(masked);
    masked.window_left = seqlen_k / 3;
    result.push_back(masked);
  }
  AttentionProblem window = plain;
  window.window_left = 2;
  window.window_right = seqlen_k / 4;
  result.push_back(window);
  AttentionProblem moved = plain;
  moved.mask = Mask::kCausalTopLeft;
  moved.query_offset = -seqlen_q / 2;  // half of the queries see nothing
  result.push_back(moved);
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    AttentionProblem lengths = plain;
    lengths.mask = mask;
    lengths.key_lengths = {seqlen_k / 2, seqlen_k - seqlen_k / 7};
    result.push_back(lengths);
  }
  return result;
}

/// Of 1 to 5 ranks in both orders.
inline std::vector<ShardedProblem> sharded_problems() {
  std::vector<ShardedProblem> result;
  struct Lengths {
    std::int64_t q, k;
  };
  for (const auto& [q, k] : {Lengths{64, 64}, {37, 53}, {3, 3}, {0, 5}, {29, 1}}) {
    for (const AttentionProblem& whole : masked_problems(q, k)) {
      for (int num_ranks = 1; num_ranks <= 5; ++num_ranks) {
        for (const Sharding sharding : {Sharding::kContiguous, Sharding::kZigzag}) {
          result.push_back({whole, {sharding, num_ranks}});
        }
      }
    }
  }
  return result;
}

}  // namespace flashlab::test
