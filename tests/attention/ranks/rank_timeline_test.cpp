// Times of ranks by a model of the link, at costs that are easy to add up by hand.
#include "attention/ranks/rank_timeline.hpp"

#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

using namespace flashlab;

namespace {

/// Each of two ranks has 50 of 100 tokens, of one head with 8 columns, in bf16: K and V are 1600 bytes.
ShardedProblem two_ranks(Sharding sharding = Sharding::kContiguous) {
  ShardedProblem problem;
  problem.whole.batch = problem.whole.num_heads = problem.whole.num_kv_heads = 1;
  problem.whole.seqlen_q = problem.whole.seqlen_k = 100;
  problem.whole.head_dim = 8;
  problem.whole.dtype = DataType::kBFloat16;
  problem.shards = {sharding, 2};
  return problem;
}

/// A pair of a query and a key takes 0.002 ms, and a message takes byte_ms for each byte.
RankTimes times(const ShardedProblem& problem, const std::string& variant, double byte_ms) {
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < problem.shards.num_ranks; ++rank) {
    programs.push_back(find_rank_variant(variant).program(problem, rank));
  }
  const auto compute_ms = [](const RankOperation& operation) {
    if (operation.kind != RankOperation::Kind::kAttend) return 0.0;
    return 0.002 *
           static_cast<double>(operation.call.queries.count() * operation.call.keys.count());
  };
  return rank_times(problem, programs, {compute_ms, [=](std::int64_t bytes) {
                                          return byte_ms * static_cast<double>(bytes);
                                        }});
}

}  // namespace

TEST_CASE("a link that is faster than the work beside it adds no time", "[ranks]") {
  // Two calls of 50 x 50 pairs, 5 ms each; 1600 bytes take 1.6 ms.
  const RankTimes ring = times(two_ranks(), "ring", 0.001);
  CHECK(ring.total_ms == Approx(10));
  CHECK(ring.compute_ms == Approx(10));
  CHECK(ring.link_ms == Approx(1.6));
  CHECK(ring.exposed_ms() == Approx(0).margin(1e-9));
}

TEST_CASE("what the link needs beyond the work beside it is exposed", "[ranks]") {
  // 1600 bytes take 8 ms, of which 5 are beside the first call.
  const RankTimes ring = times(two_ranks(), "ring", 0.005);
  CHECK(ring.total_ms == Approx(13));
  CHECK(ring.exposed_ms() == Approx(3));
}

TEST_CASE("the backward ring hides its sums behind the other half of a rank's own keys",
          "[ranks]") {
  // Half a call, 2.5 ms; the other rank's keys, 5 ms; the other half, 2.5 ms. Sums are 3200 bytes in
  // fp32: 1.6 ms beside the second call, and 1.6 beside the last one, as K and V beside the first.
  const RankTimes hidden = times(two_ranks(), "bwd-ring", 0.0005);
  CHECK(hidden.compute_ms == Approx(10));
  CHECK(hidden.link_ms == Approx(0.8 + 2 * 1.6));
  CHECK(hidden.exposed_ms() == Approx(0).margin(1e-9));
  // Ten times as slow: K and V take 8 ms from 0; sums 16 ms after these, until 24, and 16 more, until 40.
  const RankTimes slow = times(two_ranks(), "bwd-ring", 0.005);
  CHECK(slow.total_ms == Approx(40));
}

TEST_CASE("a rank that comes late delays those who receive from it", "[ranks]") {
  // A call takes as long as its rectangle, hidden pairs too. Contiguous chunks under a causal mask: rank 0
  // has one of 50 x 50, rank 1 two. In zigzag order each has one and a half.
  ShardedProblem problem = two_ranks();
  problem.whole.mask = Mask::kCausalTopLeft;
  const RankTimes uneven = times(problem, "ring", 0);
  CHECK(uneven.total_ms == Approx(10));
  problem = two_ranks(Sharding::kZigzag);
  problem.whole.mask = Mask::kCausalTopLeft;
  CHECK(times(problem, "ring", 0).total_ms == Approx(7.5));
}
