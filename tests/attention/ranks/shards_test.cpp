#include "attention/ranks/shards.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "tests/attention/ranks/sharded_cases.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// The token of each row of a shard.
std::vector<std::int64_t> tokens_of(const Shards& shards, int rank, std::int64_t length) {
  std::vector<std::int64_t> tokens;
  for (const ShardPiece& piece : shards.pieces(rank, length)) {
    CHECK(piece.first_row == std::ssize(tokens));
    for (std::int64_t k = 0; k < piece.count; ++k) tokens.push_back(piece.first_token + k);
  }
  return tokens;
}

/// How often the calls of a batch entry visit each pair of a query and a key.
class Visits {
 public:
  Visits(const ShardedProblem& problem, std::int64_t b)
      : problem_(problem),
        b_(b),
        counts_(static_cast<std::size_t>(problem.whole.seqlen_q * problem.whole.seqlen_k)) {
    for (int query_rank = 0; query_rank < problem.shards.num_ranks; ++query_rank) {
      for (int key_rank = 0; key_rank < problem.shards.num_ranks; ++key_rank) {
        add(query_rank, key_rank);
      }
    }
  }
  int count(std::int64_t query, std::int64_t key) const {
    return counts_[static_cast<std::size_t>(query * problem_.whole.seqlen_k + key)];
  }

 private:
  void add(int query_rank, int key_rank) {
    const auto queries = tokens_of(problem_.shards, query_rank, problem_.whole.seqlen_q),
               keys = tokens_of(problem_.shards, key_rank, problem_.whole.seqlen_k);
    for (const ShardCall& call : problem_.calls(query_rank, key_rank)) {
      const AttentionProblem part = problem_.problem_of(call, key_rank);
      for (std::int64_t i = 0; i < part.seqlen_q; ++i) {
        const KeyRange visible = part.visible_keys(b_, i);
        for (std::int64_t j = visible.first; j < visible.end; ++j) {
          const std::int64_t query = queries[static_cast<std::size_t>(call.queries.first + i)],
                             key = keys[static_cast<std::size_t>(call.keys.first + j)];
          ++counts_[static_cast<std::size_t>(query * problem_.whole.seqlen_k + key)];
        }
      }
    }
  }

  const ShardedProblem& problem_;
  std::int64_t b_;
  std::vector<int> counts_;
};

std::int64_t pairs_of(const ShardedProblem& problem, int rank) {
  std::int64_t pairs = 0;
  for (int key_rank = 0; key_rank < problem.shards.num_ranks; ++key_rank) {
    for (const ShardCall& call : problem.calls(rank, key_rank)) {
      pairs += problem.problem_of(call, key_rank).visible_pairs();
    }
  }
  return pairs;
}

ShardedProblem causal(Sharding sharding, int num_ranks, std::int64_t length) {
  ShardedProblem problem;
  problem.whole.batch = problem.whole.num_heads = problem.whole.num_kv_heads = 1;
  problem.whole.seqlen_q = problem.whole.seqlen_k = length;
  problem.whole.head_dim = 8;
  problem.whole.mask = Mask::kCausalTopLeft;
  problem.shards = {sharding, num_ranks};
  return problem;
}

}  // namespace

TEST_CASE("every token is in one shard, in order", "[ranks]") {
  for (const Sharding sharding : {Sharding::kContiguous, Sharding::kZigzag}) {
    for (int num_ranks = 1; num_ranks <= 6; ++num_ranks) {
      for (std::int64_t length = 0; length <= 40; ++length) {
        const Shards shards = {sharding, num_ranks};
        std::vector<std::int64_t> all;
        for (int rank = 0; rank < num_ranks; ++rank) {
          const auto tokens = tokens_of(shards, rank, length);
          CHECK(std::is_sorted(tokens.begin(), tokens.end()));
          CHECK(std::ssize(tokens) == shards.num_rows(rank, length));
          CHECK(std::ssize(tokens) <= shards.most_rows(length));
          CHECK(shards.most_rows(length) <= length / num_ranks + 2);
          all.insert(all.end(), tokens.begin(), tokens.end());
        }
        std::sort(all.begin(), all.end());
        std::vector<std::int64_t> expected(static_cast<std::size_t>(length));
        std::iota(expected.begin(), expected.end(), 0);
        CHECK(all == expected);
      }
    }
  }
}

TEST_CASE("zigzag gives rank r the chunks r and 2 R - 1 - r", "[ranks]") {
  const Shards shards = {Sharding::kZigzag, 3};
  CHECK(tokens_of(shards, 0, 12) == std::vector<std::int64_t>{0, 1, 10, 11});
  CHECK(tokens_of(shards, 2, 12) == std::vector<std::int64_t>{4, 5, 6, 7});
}

TEST_CASE("the calls of all ranks visit each visible pair once, and no hidden one", "[ranks]") {
  for (const ShardedProblem& problem : sharded_problems()) {
    INFO(description(problem));
    for (std::int64_t b = 0; b < problem.whole.batch; ++b) {
      const Visits visits(problem, b);
      bool is_right = true;
      for (std::int64_t i = 0; i < problem.whole.seqlen_q; ++i) {
        const KeyRange visible = problem.whole.visible_keys(b, i);
        for (std::int64_t j = 0; j < problem.whole.seqlen_k; ++j) {
          is_right &= visits.count(i, j) == (visible.contains(j) ? 1 : 0);
        }
      }
      CHECK(is_right);
    }
  }
}

TEST_CASE("a causal mask in zigzag order needs one call for each pair of ranks", "[ranks]") {
  const ShardedProblem problem = causal(Sharding::kZigzag, 4, 800);
  for (int query_rank = 0; query_rank < 4; ++query_rank) {
    for (int key_rank = 0; key_rank < 4; ++key_rank) {
      const auto calls = problem.calls(query_rank, key_rank);
      REQUIRE(calls.size() == 1);
      CHECK(calls[0].sees_all == (query_rank != key_rank));
      CHECK(calls[0].queries.count() == (query_rank < key_rank ? 100 : 200));
      CHECK(calls[0].keys.count() == (query_rank > key_rank ? 100 : 200));
    }
  }
}

TEST_CASE("the calls of both halves of a rank's keys see what its calls see", "[ranks]") {
  for (const ShardedProblem& problem : sharded_problems()) {
    INFO(description(problem));
    for (int rank = 0; rank < problem.shards.num_ranks; ++rank) {
      const auto pairs = [&](const std::vector<ShardCall>& calls, const KeyRange& keys) {
        std::int64_t count = 0;
        for (const ShardCall& call : calls) {
          count += problem.problem_of(call, rank).visible_pairs();
          CHECK((keys.first <= call.keys.first && call.keys.end <= keys.end));
        }
        return count;
      };
      const std::int64_t rows = problem.key_rows(rank);
      const std::int64_t half =
          problem.shards.sharding == Sharding::kZigzag
              ? problem.shards.pieces(rank, problem.whole.seqlen_k).front().count
              : rows / 2;
      CHECK(pairs(problem.calls_of_half(rank, rank, 0), {0, half}) +
                pairs(problem.calls_of_half(rank, rank, 1), {half, rows}) ==
            pairs(problem.calls(rank, rank), {0, rows}));
    }
  }
}

TEST_CASE("without a mask a pair of ranks is one call in either order", "[ranks]") {
  for (const Sharding sharding : {Sharding::kContiguous, Sharding::kZigzag}) {
    ShardedProblem problem = causal(sharding, 3, 301);
    problem.whole.mask = Mask::kNone;
    for (int rank = 0; rank < 9; ++rank) {
      const auto calls = problem.calls(rank / 3, rank % 3);
      REQUIRE(calls.size() == 1);
      CHECK(calls[0].sees_all);
    }
  }
}

TEST_CASE("zigzag balances a causal mask, contiguous chunks do not", "[ranks]") {
  const ShardedProblem zigzag = causal(Sharding::kZigzag, 4, 800),
                       contiguous = causal(Sharding::kContiguous, 4, 800);
  const std::int64_t all = zigzag.whole.visible_pairs();
  for (int rank = 0; rank < 4; ++rank) CHECK(pairs_of(zigzag, rank) == all / 4);
  CHECK(pairs_of(contiguous, 3) > 6 * pairs_of(contiguous, 0));
}

TEST_CASE("what cannot be divided among ranks is refused", "[ranks]") {
  ShardedProblem problem = causal(Sharding::kZigzag, 2, 8);
  CHECK_NOTHROW(check_sharded(problem));
  problem.whole.cu_seqlens_q = problem.whole.cu_seqlens_k = {0, 8};
  CHECK_THROWS_WITH(check_sharded(problem),
                    "cu_seqlens_q: given: expected no packed sequences over several ranks");
  problem = causal(Sharding::kZigzag, 2, 8);
  problem.whole.key_lengths = {4};
  CHECK_NOTHROW(check_sharded(problem));
  problem.whole.mask = Mask::kCausalBottomRight;
  CHECK_THROWS_WITH(check_sharded(problem), contains("key_lengths: given: expected none with "
                                                     "causal-bottom-right over several ranks"));
  problem.shards.num_ranks = 0;
  problem.whole.key_lengths = {};
  CHECK_THROWS_WITH(check_sharded(problem), "num_ranks: 0: expected at least 1");
}
