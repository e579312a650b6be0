#include "attention/ranks/rank_programs.hpp"

#include <set>
#include <string>
#include <vector>

#include "tests/attention/ranks/sharded_cases.hpp"
#include "tests/attention/ranks/symbolic_ranks.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::vector<RankProgram> programs(const RankVariant& variant, const ShardedProblem& problem) {
  std::vector<RankProgram> result;
  for (int rank = 0; rank < problem.shards.num_ranks; ++rank) {
    result.push_back(variant.program(problem, rank));
  }
  return result;
}

/// The ring's backward pass takes a rank's own keys in two halves.
std::multiset<SymbolicRanks::CallName> calls_of(const RankVariant& variant,
                                                const ShardedProblem& problem, int query_rank,
                                                int key_rank) {
  std::multiset<SymbolicRanks::CallName> result;
  const auto insert = [&](const std::vector<ShardCall>& calls) {
    for (const ShardCall& call : calls) {
      result.insert({query_rank, key_rank, call.queries.first, call.keys.first});
    }
  };
  if (variant.name == "bwd-ring" && query_rank == key_rank && problem.shards.num_ranks > 1) {
    for (const int half : {0, 1}) insert(problem.calls_of_half(query_rank, key_rank, half));
  } else {
    insert(problem.calls(query_rank, key_rank));
  }
  return result;
}

/// Elements of K and V, or of sums, that all ranks send.
std::int64_t sent_elements(const ShardedProblem& problem, const std::string& variant,
                           bool are_sums) {
  std::int64_t elements = 0;
  for (const RankProgram& program : programs(find_rank_variant(variant), problem)) {
    for (const RankOperation& operation : program) {
      for (const RankTransfer& transfer : operation.transfers) {
        if (!transfer.is_sent) continue;
        if ((transfer.buffer.kind == RankBuffer::Kind::kSums) != are_sums) continue;
        elements += transferred_elements(problem, transfer);
      }
    }
  }
  return elements;
}

/// One head of `length` queries and keys.
ShardedProblem square(Mask mask, Sharding sharding, int num_ranks, std::int64_t length) {
  ShardedProblem problem;
  problem.whole = masked_problems(length, length).front();
  problem.whole.batch = problem.whole.num_heads = 1;
  problem.whole.mask = mask;
  problem.shards = {sharding, num_ranks};
  return problem;
}

}  // namespace

TEST_CASE("programs of all ranks fit: each call runs once, on the keys that it names", "[ranks]") {
  for (const ShardedProblem& problem : sharded_problems()) {
    for (const RankVariant& variant : rank_variants()) {
      INFO(variant.name << ": " << description(problem));
      const auto all = programs(variant, problem);
      const SymbolicRanks ranks(problem, all);
      std::multiset<SymbolicRanks::CallName> expected;
      for (int q = 0; q < problem.shards.num_ranks; ++q) {
        for (int k = 0; k < problem.shards.num_ranks; ++k) {
          expected.merge(calls_of(variant, problem, q, k));
        }
      }
      CHECK(ranks.attended() == expected);
    }
  }
}

TEST_CASE("the stored dK and dV of a rank are the parts of all ranks", "[ranks]") {
  for (const ShardedProblem& problem : sharded_problems()) {
    for (const RankVariant& variant : rank_variants()) {
      if (variant.pass == Pass::kForward) continue;
      INFO(variant.name << ": " << description(problem));
      const auto all = programs(variant, problem);
      const SymbolicRanks ranks(problem, all);
      for (int rank = 0; rank < problem.shards.num_ranks; ++rank) {
        std::multiset<SymbolicRanks::CallName> expected;
        for (int q = 0; q < problem.shards.num_ranks; ++q) {
          expected.merge(calls_of(variant, problem, q, rank));
        }
        CHECK(ranks.has_stored(rank));
        CHECK(ranks.stored(rank) == expected);
      }
    }
  }
}

TEST_CASE("each query begins without a state and ends without one", "[ranks]") {
  for (const ShardedProblem& problem : sharded_problems()) {
    for (const RankVariant& variant : rank_variants()) {
      if (variant.pass == Pass::kBackward) continue;
      INFO(variant.name << ": " << description(problem));
      bool is_right = true;
      for (int rank = 0; rank < problem.shards.num_ranks; ++rank) {
        enum class Query { kNew, kHasState, kDone };
        std::vector<Query> queries(static_cast<std::size_t>(problem.query_rows(rank)), Query::kNew);
        for (const RankOperation& operation : variant.program(problem, rank)) {
          if (operation.kind != RankOperation::Kind::kAttend) continue;
          const KeyRange& rows = operation.call.queries;
          for (std::int64_t i = rows.first; i < rows.end; ++i) {
            Query& query = queries[static_cast<std::size_t>(i)];
            is_right &= query == (operation.has_state_in ? Query::kHasState : Query::kNew);
            query = operation.has_state_out ? Query::kHasState : Query::kDone;
          }
        }
        for (const Query query : queries) is_right &= query == Query::kDone;
      }
      CHECK(is_right);
    }
  }
}

TEST_CASE("the ring's backward pass has work beside every transfer", "[ranks]") {
  for (const Sharding sharding : {Sharding::kContiguous, Sharding::kZigzag}) {
    for (const int num_ranks : {2, 3, 4}) {
      const ShardedProblem problem = square(Mask::kCausalTopLeft, sharding, num_ranks, 400);
      for (int rank = 0; rank < num_ranks; ++rank) {
        std::set<int> without_work;  // exchanges on their way
        for (const RankOperation& operation :
             find_rank_variant("bwd-ring").program(problem, rank)) {
          if (operation.kind == RankOperation::Kind::kStart) {
            without_work.insert(operation.exchange);
          } else if (operation.kind == RankOperation::Kind::kAttend) {
            without_work.clear();
          } else if (operation.kind == RankOperation::Kind::kWait &&
                     sharding == Sharding::kZigzag) {
            INFO("exchange " << operation.exchange << " of rank " << rank);
            CHECK(!without_work.contains(operation.exchange));
          }
        }
        CHECK(without_work.empty());  // the last transfer brings the sums home
      }
    }
  }
}

TEST_CASE("one rank makes one call and sends nothing", "[ranks]") {
  for (const RankVariant& variant : rank_variants()) {
    INFO(variant.name);
    const ShardedProblem problem = square(Mask::kCausalTopLeft, Sharding::kZigzag, 1, 100);
    int num_calls = 0;
    for (const RankOperation& operation : variant.program(problem, 0)) {
      CHECK(operation.transfers.empty());
      if (operation.kind != RankOperation::Kind::kAttend) continue;
      ++num_calls;
      CHECK((!operation.has_state_in && !operation.has_state_out));
    }
    CHECK(num_calls == 1);
  }
}

TEST_CASE("without a mask every rank's K and V go to all others", "[ranks]") {
  // R - 1 transfers of 2 n d / R elements for each of R ranks; sums of dK and dV go all the way round
  // the ring, or home directly.
  for (const Sharding sharding : {Sharding::kContiguous, Sharding::kZigzag}) {
    const ShardedProblem problem = square(Mask::kNone, sharding, 4, 800);
    const std::int64_t kv = 2 * 800 * 16;
    for (const char* const variant : {"ring", "gather-kv", "bwd-ring", "bwd-gather-kv"}) {
      CHECK(sent_elements(problem, variant, false) == 3 * kv);
    }
    CHECK(sent_elements(problem, "ring", true) == 0);
    CHECK(sent_elements(problem, "bwd-ring", true) == 4 * kv);
    CHECK(sent_elements(problem, "bwd-gather-kv", true) == 3 * kv);
  }
}

TEST_CASE("contiguous chunks of a causal mask send only keys that a later rank sees", "[ranks]") {
  const ShardedProblem problem = square(Mask::kCausalTopLeft, Sharding::kContiguous, 4, 800);
  const std::int64_t kv = 2 * 800 * 16;
  CHECK(sent_elements(problem, "ring", false) == 6 * kv / 4);  // 3 + 2 + 1 hops of a quarter
  CHECK(sent_elements(problem, "gather-kv", false) == 6 * kv / 4);
  CHECK(sent_elements(problem, "bwd-gather-kv", true) == 6 * kv / 4);
}

TEST_CASE("the ring needs two buffers of K and V at any size, gather-kv one for each other rank",
          "[ranks]") {
  for (const int num_ranks : {4, 5}) {
    const ShardedProblem problem = square(Mask::kNone, Sharding::kZigzag, num_ranks, 800);
    const auto buffers = [&](const char* variant, RankBuffer::Kind kind) {
      return num_buffers(find_rank_variant(variant).program(problem, 1), kind);
    };
    CHECK(buffers("ring", RankBuffer::Kind::kKeys) == 2);
    CHECK(buffers("bwd-ring", RankBuffer::Kind::kSums) == 2);
    CHECK(buffers("gather-kv", RankBuffer::Kind::kKeys) == num_ranks - 1);
    CHECK(buffers("bwd-gather-kv", RankBuffer::Kind::kSums) == 5);
  }
}

TEST_CASE("a name that is no variant over several ranks is refused with those that are",
          "[ranks]") {
  CHECK(find_rank_variant("bwd-ring").pass == Pass::kBackward);
  CHECK_THROWS_WITH(
      find_rank_variant("flash2"),
      "variant: flash2: expected one of ring, gather-kv, bwd-ring, bwd-gather-kv over "
      "several ranks");
}
