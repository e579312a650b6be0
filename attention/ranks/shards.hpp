// Attention divided among ranks, of which each is one GPU: which tokens a rank holds, and the calls
// that a rank makes for its queries and the keys of another rank.
//
// Chunks   R ranks divide n tokens into C chunks; chunk c has tokens floor(c n / C) to
//          floor((c + 1) n / C) - 1, none if there are fewer tokens than chunks
//            contiguous  C = R,   rank r holds chunk r
//            zigzag      C = 2 R, rank r holds chunks r and 2 R - 1 - r
//          Under a causal mask, rank r of contiguous chunks has r + 1 times the work of rank 0. In
//          zigzag order all ranks have the same.
// Shard    the rows of a rank, in the order of the tokens. Queries are divided by seqlen_q, keys by
//          seqlen_k
// Source   zhuzilin/ring-flash-attention, issue 2 (zigzag)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"

namespace flashlab {

enum class Sharding : std::uint8_t { kContiguous, kZigzag };

/// Returns "contiguous" or "zigzag": the values of --sharding.
std::string_view to_string(Sharding sharding);

/// Neighbouring tokens of a shard.
struct ShardPiece {
  std::int64_t first_row = 0;    // in the shard
  std::int64_t first_token = 0;  // in the whole sequence
  std::int64_t count = 0;        // 0 … : a piece may be empty
};

/// The division of sequences among ranks.
struct Shards {
  Sharding sharding = Sharding::kContiguous;
  int num_ranks = 1;

  int pieces_of_rank() const { return sharding == Sharding::kZigzag ? 2 : 1; }
  /// Returns a rank's pieces of a sequence of `length` tokens, in the order of the tokens.
  std::vector<ShardPiece> pieces(int rank, std::int64_t length) const;
  /// Returns the rows of a rank's shard.
  std::int64_t num_rows(int rank, std::int64_t length) const;
  /// Returns the rows of the longest shard.
  std::int64_t most_rows(std::int64_t length) const;
};

/// One call of attention: some rows of a queries' shard and of a keys' shard.
struct ShardCall {
  KeyRange queries, keys;         // rows of the two shards
  bool sees_all = false;          // the mask hides nothing; key lengths may
  std::int64_t query_offset = 0;  // else AttentionOptions::query_offset

  bool operator==(const ShardCall&) const = default;
};

/// A problem of which each rank holds a shard.
struct ShardedProblem {
  AttentionProblem whole;
  Shards shards;

  /// Returns the calls for the queries of one rank and the keys of another: as few as the mask allows,
  /// none if all these pairs are hidden. Each visible pair is in exactly one call.
  std::vector<ShardCall> calls(int query_rank, int key_rank) const;
  /// The same for a part of the keys, half 0 or 1: of zigzag shards the first or the second piece, of
  /// contiguous ones the first or the second half of the rows.
  std::vector<ShardCall> calls_of_half(int query_rank, int key_rank, int half) const;
  /// Returns the problem of a call, with its mask and key lengths.
  AttentionProblem problem_of(const ShardCall& call, int key_rank) const;
  std::int64_t query_rows(int rank) const { return shards.num_rows(rank, whole.seqlen_q); }
  std::int64_t key_rows(int rank) const { return shards.num_rows(rank, whole.seqlen_k); }
};

/// Returns the problem with these sizes and type, and with the options, which are checked as for one
/// GPU. Throws ProblemError: a size below 0, heads that do not divide, options.
AttentionProblem whole_problem(const AttentionProblem& sizes, const AttentionOptions& options);

/// Throws ProblemError: packed sequences; key lengths under a mask that they move; no rank.
void check_sharded(const ShardedProblem& problem);

}  // namespace flashlab
