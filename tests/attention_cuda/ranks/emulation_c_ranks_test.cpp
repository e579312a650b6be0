// Several ranks in C, over the library that has NCCL's functions (fake_nccl).
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "attention_cuda/flashlab_ranks.h"
#include "tests/attention/ranks/sharded_cases.hpp"
#include "tests/attention_cuda/interface_problem.hpp"
#include "tests/attention_cuda/ranks/in_order.hpp"
#include "tests/attention_cuda/ranks/sharded_run.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

ShardedProblem causal_problem(DataType dtype = DataType::kFloat32) {
  ShardedProblem problem = {masked_problems(24, 24).front(), {Sharding::kZigzag, 2}};
  problem.whole.batch = 1;
  problem.whole.dtype = dtype;
  problem.whole.mask = Mask::kCausalTopLeft;
  return problem;
}

constexpr flashlab_sharded_problem kSameInC = {
    1, 2, 1, 24, 24, 16, FLASHLAB_FLOAT32, FLASHLAB_SHARDING_ZIGZAG};

flashlab_sharded_problem same_in_c(std::int32_t dtype) {
  flashlab_sharded_problem problem = kSameInC;
  problem.dtype = dtype;
  return problem;
}

/// What a rank in C does besides its pass.
struct RankInC {
  bool has_stop_flag = false;
  bool ends_before_its_part = false;
  std::int64_t timeout_ms = 5000;
  /// Called before the communicator is destroyed.
  std::function<void(const flashlab_options&)> at_the_end = {};
};

/// Runs the forward pass of a rank. Returns the first failed call's text.
std::string run_rank_in_c(const std::vector<unsigned char>& id, int rank,
                          const ForwardTensors& shard, const flashlab_sharded_problem& problem,
                          const RankInC& how) {
  flashlab_communicator* communicator = nullptr;
  flashlab_sharded_call* call = nullptr;
  flashlab_options options;
  flashlab_options_init(&options);
  options.variant = "ring";
  options.mask = FLASHLAB_MASK_CAUSAL;
  options.softmax_scale = 0.25;
  options.has_softmax_scale = 1;
  const flashlab_forward_tensors tensors = {c_tensor(shard.Q), c_tensor(shard.K), c_tensor(shard.V),
                                            c_tensor(shard.O), c_tensor(shard.lse)};
  const auto run = [&]() -> flashlab_status {
    flashlab_status status =
        flashlab_communicator_join_nccl(id.data(), 2, rank, how.timeout_ms, &communicator);
    if (status != FLASHLAB_OK) return status;
    if (how.has_stop_flag) {
      status = flashlab_communicator_stop_flag(communicator, &options.stop_flag);
      if (status != FLASHLAB_OK) return status;
    }
    status = flashlab_sharded_call_create(communicator, &problem, &options, &call);
    if (status != FLASHLAB_OK || how.ends_before_its_part) return status;
    const test::DeviceMemory workspace(flashlab_sharded_workspace_bytes(call));
    status = flashlab_sharded_forward(call, &tensors, workspace.get(), workspace.bytes());
    if (status != FLASHLAB_OK) return status;
    return flashlab_communicator_finish(communicator, nullptr);
  };
  const flashlab_status status = run();
  std::string text = status == FLASHLAB_OK ? "" : flashlab_last_error();
  if (how.at_the_end) how.at_the_end(options);
  flashlab_sharded_call_destroy(call);
  flashlab_communicator_destroy(communicator);
  return text;
}

/// Both ranks' texts.
std::vector<std::string> run_in_c(const DeviceShard& first, const DeviceShard& second,
                                  const flashlab_sharded_problem& of_first,
                                  const flashlab_sharded_problem& of_second,
                                  const RankInC& how_first = {}, const RankInC& how_second = {}) {
  setenv("FLASHLAB_NCCL_LIBRARY", FLASHLAB_FAKE_NCCL, 1);
  std::vector<unsigned char> id(128);
  REQUIRE(flashlab_nccl_id(id.data()) == FLASHLAB_OK);
  std::vector<std::string> texts(2);
  std::thread other(
      [&] { texts[1] = run_rank_in_c(id, 1, second.forward(), of_second, how_second); });
  texts[0] = run_rank_in_c(id, 0, first.forward(), of_first, how_first);
  other.join();
  return texts;
}

DeviceShard drawn_shard(const ShardedProblem& problem, const WholeInputs& inputs, int rank) {
  const auto rows = [&](const HostTensor& whole) { return shard_of(whole, problem.shards, rank); };
  return DeviceShard(shard_problem(problem, rank),
                     {rows(inputs.Q), rows(inputs.K), rows(inputs.V), rows(inputs.dO)});
}

}  // namespace

TEST_CASE("several ranks in C are several ranks in C++", "[ranks][c]") {
  const ShardedProblem problem = causal_problem();
  const WholeInputs inputs = drawn_inputs(problem.whole, 2);
  const DeviceShard first = drawn_shard(problem, inputs, 0),
                    second = drawn_shard(problem, inputs, 1);
  CHECK(run_in_c(first, second, kSameInC, kSameInC) == std::vector<std::string>{"", ""});
  const WholeResults expected = run_in_order(problem, inputs, kRingOrder);
  CHECK(fetched(first.forward().O) == shard_of(expected.O, problem.shards, 0));
  CHECK(fetched(second.forward().lse) == shard_of(expected.lse, problem.shards, 1));
}

TEST_CASE("ranks in C that disagree are told so", "[ranks][c]") {
  const DeviceShard first(shard_problem(causal_problem(), 0), {}),
      second(shard_problem(causal_problem(), 1), {});
  flashlab_sharded_problem other = kSameInC;
  other.seqlen_k = 25;
  const std::string expected = "rank 1's seqlen_k: 25: expected 24, as on rank 0";
  CHECK(run_in_c(first, second, kSameInC, other) == std::vector<std::string>{expected, expected});
  other = kSameInC;
  other.num_kv_heads = 3;
  const std::string refusal = "num_heads: 2: expected a multiple of num_kv_heads, 3";
  CHECK(run_in_c(first, second, kSameInC, other) ==
        std::vector<std::string>{
            "rank 1: " + refusal + ": expected a call that every rank can make", refusal});
}

TEST_CASE("ranks in C whose kernels can be stopped compute the same", "[ranks][c]") {
  const ShardedProblem problem = causal_problem(DataType::kBFloat16);
  const flashlab_sharded_problem in_c = same_in_c(FLASHLAB_BFLOAT16);
  const WholeInputs inputs = drawn_inputs(problem.whole, 2);
  const DeviceShard first = drawn_shard(problem, inputs, 0),
                    second = drawn_shard(problem, inputs, 1);
  const RankInC stoppable = {.has_stop_flag = true};
  CHECK(run_in_c(first, second, in_c, in_c, stoppable, stoppable) ==
        std::vector<std::string>{"", ""});
  const WholeResults expected = run_in_order(problem, inputs, kRingOrder);
  CHECK(fetched(first.forward().O) == shard_of(expected.O, problem.shards, 0));
  CHECK(fetched(second.forward().O) == shard_of(expected.O, problem.shards, 1));
}

TEST_CASE("when a rank in C has ended, the kernels of the other one leave out their work",
          "[ranks][c]") {
  const ShardedProblem problem = causal_problem(DataType::kBFloat16);
  const flashlab_sharded_problem in_c = same_in_c(FLASHLAB_BFLOAT16);
  const WholeInputs inputs = drawn_inputs(problem.whole, 2);
  const DeviceShard first = drawn_shard(problem, inputs, 0),
                    second = drawn_shard(problem, inputs, 1);
  const AttentionProblem alone = shard_problem(problem, 0);
  const DeviceShard later(alone, {});  // outputs of a call that is still enqueued then
  const HostTensor before = fetched(later.forward().O);
  std::array<HostTensor, 2> after;
  const auto call_later = [&](const flashlab_options& options) {
    cuda::ExecutionOptions execution;
    execution.stop_flag = options.stop_flag;
    run_alone("flash2", later.forward(), alone, execution);
    after[0] = fetched(later.forward().O);
    run_alone("flash2", later.forward(), alone);
    after[1] = fetched(later.forward().O);
  };
  const auto texts = run_in_c(first, second, in_c, in_c,
                              {.has_stop_flag = true, .timeout_ms = 200, .at_the_end = call_later},
                              {.ends_before_its_part = true});
  CHECK(texts[0] == "rank 1: rank 0 waited 200 ms for it in ncclGroupEnd");
  CHECK(texts[1].empty());
  CHECK(after[0] == before);
  CHECK(after[1] != before);
}

TEST_CASE("ranks in C whose kernels cannot be stopped are told so", "[ranks][c]") {
  const DeviceShard first(shard_problem(causal_problem(), 0), {}),
      second(shard_problem(causal_problem(), 1), {});
  const RankInC stoppable = {.has_stop_flag = true};
  const std::string refusal =
      "stop_flag: given: expected none for flash2_fp32, which does not read it";
  CHECK(run_in_c(first, second, kSameInC, kSameInC, stoppable, {}) ==
        std::vector<std::string>{
            refusal, "rank 0: " + refusal + ": expected a call that every rank can make"});
}

TEST_CASE("what is no argument for several ranks in C is refused", "[ranks][c]") {
  const std::int32_t* flag = nullptr;
  CHECK(flashlab_communicator_stop_flag(nullptr, &flag) == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "communicator: null: expected a description of the call");
  CHECK(flashlab_communicator_from_nccl(nullptr, 0, nullptr) == FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "nccl_comm: null: expected a description of the call");
  CHECK(flashlab_shard_rows(FLASHLAB_SHARDING_ZIGZAG, 3, 0, 12) == 4);
  CHECK(flashlab_shard_rows(FLASHLAB_SHARDING_ZIGZAG, 3, 3, 12) == -1);
  CHECK(flashlab_shard_rows(2, 3, 0, 12) == -1);
  const std::vector<unsigned char> id(128);
  flashlab_communicator* communicator = nullptr;
  CHECK(flashlab_communicator_join_nccl(id.data(), 2, 2, 0, &communicator) ==
        FLASHLAB_ERROR_ARGUMENT);
  CHECK(error_text() == "rank: 2: expected 0 … num_ranks - 1, of 2");
  CHECK(flashlab_communicator_join_nccl(id.data(), 2, 0, -1, &communicator) ==
        FLASHLAB_ERROR_ARGUMENT);
  CHECK_THAT(error_text(), contains("timeout_ms: -1: expected 0 … "));
  CHECK(flashlab_sharded_forward(nullptr, nullptr, nullptr, 0) == FLASHLAB_ERROR_ARGUMENT);
  flashlab_communicator_destroy(nullptr);
  flashlab_sharded_call_destroy(nullptr);
}
