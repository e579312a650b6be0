// Bytes of a step from given counts: heads, kv heads, types, launches, L2, hidden keys.
#include "compare/model/step_traffic.hpp"

#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace compare;

/// 2 x 6 heads on 2 x 3 kv heads, 10 queries, 20 keys, 4 columns, 16 bits.
AttentionProblem grouped_problem() {
  AttentionProblem problem;
  problem.batch = 2;
  problem.num_heads = 6;
  problem.num_kv_heads = 3;
  problem.seqlen_q = 10;
  problem.seqlen_k = 20;
  problem.head_dim = 4;
  problem.dtype = DataType::kBFloat16;
  return problem;
}

cuda::LaunchTiles typed_launch() {
  cuda::LaunchTiles launch;
  launch.elements_loaded = {"q", "k"};
  launch.elements_stored = {"o"};
  return launch;
}

ArrayCount array_count(const char* name, std::int64_t size, std::int64_t loaded,
                       std::int64_t stored, std::int64_t updated) {
  return {name, false, size, loaded, stored, updated};
}

/// q once, k twice, o in 16 bits, lse in 32, dv by additions, and an array that stays untouched.
ToyCounts some_counts() {
  ToyCounts counts;
  counts.arrays = {array_count("q", 40, 40, 0, 0),   array_count("k", 80, 160, 0, 0),
                   array_count("o", 40, 0, 40, 0),   array_count("lse", 10, 0, 10, 0),
                   array_count("dv", 80, 0, 0, 100), array_count("v", 80, 0, 0, 0)};
  return counts;
}

struct Counted {
  AttentionProblem problem = grouped_problem();
  cuda::LaunchTiles launch = typed_launch();
  ToyCounts counts = some_counts();

  StepTraffic traffic() const { return {problem, launch, counts}; }
};

}  // namespace

TEST_CASE("to the SMs go all loads and stores of all query heads, in their types") {
  Counted counted;
  CHECK(counted.traffic().heads() == 12);
  // q 40 x 12 x 2, k 160 x 12 x 2; o 40 x 12 x 2, lse 10 x 12 x 4, dv 100 x 12 x 4
  CHECK(counted.traffic().sm() == Traffic{960 + 3840, 960 + 480 + 4800});
  counted.launch.is_per_kv_head = true;  // 6 workers load k and add to dv
  CHECK(counted.traffic().sm() == Traffic{960 + 1920, 960 + 480 + 2400});
  counted.launch.elements_loaded = {"q", "k", "dv"};  // how dv would be loaded does not matter
  CHECK(counted.traffic().sm() == Traffic{960 + 1920, 960 + 480 + 2400});
  counted.launch.elements_stored = {"o", "lse", "dv"};
  CHECK(counted.traffic().sm() == Traffic{960 + 1920, 960 + 240 + 1200});
}

TEST_CASE("a footprint has each touched array once, and a launch's part of keys and values") {
  Counted counted;
  // q 40 x 12 x 2, k 80 x 6 x 2, o 40 x 12 x 2 (stored in 16 bits), lse 10 x 12 x 4, dv 80 x 6 x 4
  CHECK(counted.traffic().footprint() == 960 + 960 + 960 + 480 + 1920);
  counted.launch.num_launches = 2;
  CHECK(counted.traffic().footprint() == 960 + 480 + 960 + 480 + 960);
  CHECK(counted.traffic().touched() == std::vector<std::string>{"q", "k", "o", "lse", "dv"});
}

TEST_CASE("from DRAM comes each array once, unless it is in L2 or was not loaded whole") {
  Counted counted;
  constexpr std::int64_t kLarge = 1'000'000;
  // q 40 x 12 x 2, k 80 x 6 x 2; o 40 x 12 x 2, lse 10 x 12 x 4, dv 80 x 6 x 4
  CHECK(counted.traffic().dram(kLarge, {}) == Traffic{960 + 960, 960 + 480 + 1920});
  CHECK(counted.traffic().dram(kLarge, {"k"}) == Traffic{960, 960 + 480 + 1920});
  CHECK(counted.traffic().dram(kLarge, {"o", "q", "k"}) == Traffic{0, 960 + 480 + 1920});
  counted.counts.arrays[0].loaded = 10;
  counted.counts.arrays[4].updated = 20;
  CHECK(counted.traffic().dram(kLarge, {}) == Traffic{240 + 960, 960 + 480 + 480});
}

TEST_CASE("arrays that exceed L2 are counted once for each launch, keys and values are not") {
  Counted counted;
  counted.launch.num_launches = 2;
  counted.counts.arrays[0].loaded = 100;  // of 40: two rounds are 80
  counted.counts.arrays[2].stored = 80;
  const std::int64_t footprint = counted.traffic().footprint();
  CHECK(footprint == 3840);
  CHECK(counted.traffic().dram(footprint, {}) == Traffic{960 + 960, 960 + 480 + 1920});
  CHECK(counted.traffic().dram(footprint - 1, {}) == Traffic{1920 + 960, 1920 + 480 + 1920});
}

TEST_CASE("under a causal mask keys after the last query are not moved") {
  Counted counted;
  counted.problem.mask = Mask::kCausalTopLeft;
  constexpr std::int64_t kLarge = 1'000'000;
  // 10 of 20 keys: k 40 x 6 x 2, dv 40 x 6 x 4
  CHECK(counted.traffic().dram(kLarge, {}) == Traffic{960 + 480, 960 + 480 + 960});
  counted.problem.seqlen_q = 20;
  CHECK(counted.traffic().dram(kLarge, {}) == Traffic{960 + 960, 960 + 480 + 1920});
  counted.problem.seqlen_q = 40;
  CHECK(counted.traffic().dram(kLarge, {}) == Traffic{960 + 960, 960 + 480 + 1920});
}

TEST_CASE("bytes that a launch states itself replace those to the SMs and limit those of DRAM") {
  Counted counted;
  counted.launch.moved = cuda::MovedBytes{1000, 5000};
  CHECK(counted.traffic().sm() == Traffic{1000, 5000});
  CHECK(counted.traffic().dram(1'000'000, {}) == Traffic{1000, 960 + 480 + 1920});
  counted.launch.moved = cuda::MovedBytes{5000, 1000};
  CHECK(counted.traffic().dram(1'000'000, {}) == Traffic{960 + 960, 1000});
}

}  // namespace flashlab::test
