// Predictions for several GPUs.
#include "compare/rows/rank_rows.hpp"

#include <cmath>
#include <string>
#include <tuple>

#include "attention/ranks/rank_programs.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::compare {
namespace {

ShardedProblem long_problem(Mask mask, Sharding sharding, int num_ranks) {
  ShardedProblem problem;
  problem.whole.batch = 1;
  problem.whole.num_heads = problem.whole.num_kv_heads = 16;
  problem.whole.seqlen_q = problem.whole.seqlen_k = 65536;
  problem.whole.head_dim = 128;
  problem.whole.dtype = DataType::kBFloat16;
  problem.whole.mask = mask;
  problem.whole.softmax_scale = 1 / std::sqrt(128.0);
  problem.shards = {sharding, num_ranks};
  return problem;
}

RankRow rank_row_of(const std::string& variant, const ShardedProblem& problem,
                    const LinkModel& link) {
  const MachineModel machine = machine_model(*gpu::find_gpu("h200"));
  return predict_ranks(variant, problem, machine, machine, link);
}

}  // namespace

TEST_CASE("a link's latency and rate are those through its two largest messages") {
  // 0.02 ms, then 400 GB/s: 64 MiB take 0.18777 ms, 512 MiB 1.36218 ms. The small message and other
  // transports do not matter.
  const LinkModel link = link_in(R"({"gpus": 2, "gpu": "a GPU", "links_between": "NV18", "links": [
    {"link": "copy engines", "megabytes": 1, "gb_per_s_each_way": 1},
    {"link": "copy engines", "megabytes": 64, "gb_per_s_each_way": 357.4},
    {"link": "copy engines", "megabytes": 512, "gb_per_s_each_way": 394.13},
    {"link": "nccl", "megabytes": 512, "gb_per_s_each_way": 5}]})");
  CHECK(link.bytes_per_s == Approx(400e9).epsilon(1e-3));
  CHECK(link.latency_ms == Approx(0.02).epsilon(1e-2));
  CHECK(link.source == "2 x a GPU, NV18");
  CHECK(link.ms(4e8) == Approx(1.02).epsilon(1e-3));
  CHECK_THROWS(link_in(R"({"gpus": 2, "gpu": "", "links_between": "", "links": []})"));
  CHECK(measured_link().bytes_per_s > 1e11);
}

TEST_CASE("with a fast link ranks share the work, with a slow one they wait") {
  const ShardedProblem problem = long_problem(Mask::kCausalTopLeft, Sharding::kZigzag, 2);
  const LinkModel fast = {0, 1e15, ""}, slow = {0, 1e9, ""};
  for (const std::string variant : {"ring", "gather-kv", "bwd-ring", "bwd-gather-kv"}) {
    INFO(variant);
    const RankRow good = rank_row_of(variant, problem, fast),
                  bad = rank_row_of(variant, problem, slow);
    CHECK(good.times.exposed_ms() < 1e-3 * good.times.total_ms);
    CHECK(good.efficiency(2) <= 1.01);
    CHECK(good.efficiency(2) > 0.85);
    CHECK(bad.times.compute_ms == Approx(good.times.compute_ms).epsilon(0.01));  // of another rank
    // K and V of a rank are 2 * 16 * 32768 * 128 * 2 bytes: 268 ms, more than the work beside them.
    CHECK(bad.times.exposed_ms() > 0.5 * 268);
  }
}

TEST_CASE("sums of gradients cost the bytes that they move, and dQ none where kernels sum it") {
  // On one rank bwd-ring is one call, and parts are added to sums that are stored.
  const double per_s = machine_model(*gpu::find_gpu("h200")).dram_copy->per_s;
  for (const auto& [dtype, num_sums, part] :
       {std::tuple(DataType::kBFloat16, 2.0, 2.0), {DataType::kFloat32, 3.0, 4.0}}) {
    ShardedProblem problem = long_problem(Mask::kNone, Sharding::kContiguous, 1);
    problem.whole.dtype = dtype;
    const RankRow one = rank_row_of("bwd-ring", problem, {});
    // Each begins with 0, is added to and stored.
    const double elements = num_sums * 16 * 65536 * 128;
    const double bytes = elements * 4 + elements * (part + 4 + 4) + elements * (4 + part);
    CHECK(one.times.total_ms - one.one_gpu_ms == Approx(1e3 * bytes / per_s));
    CHECK(one.times.link_ms == 0);
  }
}

TEST_CASE("zeros, delta and rounding come once for all calls that sum dQ together") {
  // Chunks of 8000 tokens do not begin with a query tile, those of 8192 do.
  const auto num_launches = [](std::int64_t chunk) {
    ShardedProblem problem = long_problem(Mask::kCausalTopLeft, Sharding::kZigzag, 4);
    problem.whole.seqlen_q = problem.whole.seqlen_k = 8 * chunk;
    MachineModel machine = machine_model(*gpu::find_gpu("h200"));
    const auto total_ms = [&](double launch_s) {
      machine.launch_s = launch_s;
      return predict_ranks("bwd-gather-kv", problem, machine, machine, {0, 1e15, ""})
          .times.total_ms;
    };
    return (total_ms(1) - total_ms(0)) / 1e3;
  };
  // Of four calls, three need no delta and three no rounding; the sum of dQ is not cleared, added to in four
  // calls, or stored.
  CHECK(num_launches(8000) - num_launches(8192) == Approx(3 + 3 + 1 + 4 + 1));
}

TEST_CASE("each pass over sums is a launch") {
  MachineModel machine = machine_model(*gpu::find_gpu("h200"));
  ShardedProblem problem = long_problem(Mask::kNone, Sharding::kContiguous, 1);
  const auto besides_ms = [&](double launch_s) {
    machine.launch_s = launch_s;
    const RankRow row = predict_ranks("bwd-ring", problem, machine, machine, {});
    return row.times.total_ms - row.one_gpu_ms;
  };
  // Two sums are cleared, added to and stored; three if the kernel does not sum dQ.
  CHECK(besides_ms(1e-3) - besides_ms(0) == Approx(6));
  problem.whole.dtype = DataType::kFloat32;
  CHECK(besides_ms(1e-3) - besides_ms(0) == Approx(9));
}

TEST_CASE("a committed measurement is found by GPU, pass, mask, length and number of GPUs") {
  const auto ms = [](const std::string& variant, const ShardedProblem& problem,
                     const std::string& gpu) { return committed_ms(variant, problem, gpu); };
  const ShardedProblem full = long_problem(Mask::kNone, Sharding::kContiguous, 4),
                       causal = long_problem(Mask::kCausalTopLeft, Sharding::kZigzag, 4),
                       alone = long_problem(Mask::kNone, Sharding::kContiguous, 1);
  // Typed from docs/results/attention_cuda_ranks_four.json.
  CHECK(ms("ring", full, "h200") == 13.227);
  CHECK(ms("bwd-ring", full, "h200") == 40.920);
  CHECK(ms("bwd-gather-kv", causal, "h200") == 20.515);
  CHECK(ms("ring", alone, "h200") == 49.857);
  CHECK(ms("ring", alone, "h100") == 47.340);
  CHECK_FALSE(ms("ring", full, "h100"));  // two GPUs
  ShardedProblem other = full;
  other.whole.num_heads = other.whole.num_kv_heads = 8;
  CHECK_FALSE(ms("ring", other, "h200"));
  other = full;
  other.whole.seqlen_q = other.whole.seqlen_k = 16384;
  CHECK_FALSE(ms("ring", other, "h200"));
  other = full;
  other.whole.window_left = 5;
  CHECK_FALSE(ms("ring", other, "h200"));
}

TEST_CASE("a mask that moves is refused in predictions") {
  CHECK_THROWS_WITH(
      rank_row_of("bwd-ring", long_problem(Mask::kCausalTopLeft, Sharding::kContiguous, 2),
                  {0, 1e9, ""}),
      "sharding: contiguous: expected zigzag: predictions know no moved causal mask");
  CHECK_THROWS_AS(rank_row_of("flash2", long_problem(Mask::kNone, Sharding::kContiguous, 2), {}),
                  ProblemError);
}

}  // namespace flashlab::compare
