// Kernels that stop when the host raises a flag, and communicators that raise it when a rank has failed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "attention_cuda/emulation/delayed_communicator.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/ranks/peer_communicator.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "tests/attention_cuda/ranks/sharded_run.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

namespace {

AttentionProblem problem_of(std::int64_t num_heads, std::int64_t length, Mask mask) {
  AttentionProblem problem;
  problem.dtype = DataType::kBFloat16;
  problem.batch = 1;
  problem.num_heads = problem.num_kv_heads = num_heads;
  problem.seqlen_q = problem.seqlen_k = length;
  problem.head_dim = 64;
  problem.softmax_scale = 0.125;
  problem.mask = mask;
  return problem;
}

cuda::ExecutionOptions with_flag(const char* kernel, const int* flag) {
  cuda::ExecutionOptions execution;
  execution.kernel = kernel;
  execution.stop_flag = flag;
  return execution;
}

constexpr const char *kForwardKernel = "flash2_wgmma_sm90",
                     *kBackwardKernel = "bwd_onepass_wgmma_sm90";

/// How many of the blocks of `rows` rows of a tensor hold NaN alone, which they held at first.
int unwritten_tiles(const TensorView& tensor, std::int64_t rows) {
  const std::vector<double> values = fetched(tensor).values();
  const auto size = static_cast<std::size_t>(rows * tensor.shape[3]);
  int count = 0;
  for (std::size_t first = 0; first < values.size(); first += size) {
    count += std::all_of(values.begin() + static_cast<std::ptrdiff_t>(first),
                         values.begin() + static_cast<std::ptrdiff_t>(first + size),
                         [](double value) { return value != value; });
  }
  return count;
}

void store_bits(const TensorView& tensor, std::int64_t bytes_before, std::uint32_t bits) {
  check_call(cudaMemcpy(static_cast<std::byte*>(tensor.data) + bytes_before, &bits, sizeof bits,
                        cudaMemcpyHostToDevice));
}

/// The number at a place of a tensor as the flag: the block that writes it raises it.
const int* flag_in(const TensorView& tensor, std::int64_t bytes_before) {
  store_bits(tensor, bytes_before, 0);
  return reinterpret_cast<const int*>(static_cast<const std::byte*>(tensor.data) + bytes_before);
}

/// A shard with results of the forward pass, for a backward call.
DeviceShard ready_for_backward(const AttentionProblem& problem) {
  DeviceShard shard(problem, drawn_inputs(problem, 3));
  run_alone("flash2", shard.forward(), problem);
  return shard;
}

}  // namespace

TEST_CASE("a flag that nobody raises changes no bit", "[ranks]") {
  const int flag = 0;
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft}) {
    const AttentionProblem problem = problem_of(2, 300, mask);
    const DeviceShard without = ready_for_backward(problem), with = ready_for_backward(problem);
    run_alone("flash2", without.forward(), problem, with_flag(kForwardKernel, nullptr));
    run_alone("flash2", with.forward(), problem, with_flag(kForwardKernel, &flag));
    CHECK(fetched(with.forward().O) == fetched(without.forward().O));
    CHECK(fetched(with.forward().lse) == fetched(without.forward().lse));
    auto execution = with_flag(kBackwardKernel, nullptr);
    execution.deterministic = true;
    run_alone("bwd-onepass", without.backward(), problem, execution);
    execution.stop_flag = &flag;
    run_alone("bwd-onepass", with.backward(), problem, execution);
    CHECK(fetched(with.backward().dQ) == fetched(without.backward().dQ));
    CHECK(fetched(with.backward().dK) == fetched(without.backward().dK));
    CHECK(fetched(with.backward().dV) == fetched(without.backward().dV));
  }
}

TEST_CASE("a flag that is raised before a call leaves out all of it", "[ranks]") {
  const int flag = 1;
  const AttentionProblem problem = problem_of(2, 256, Mask::kNone);
  const DeviceShard forward(problem, drawn_inputs(problem, 3));
  run_alone("flash2", forward.forward(), problem, with_flag(kForwardKernel, &flag));
  CHECK(unwritten_tiles(forward.forward().O, 64) == 2 * 256 / 64);
  const DeviceShard backward = ready_for_backward(problem);
  for (const bool deterministic : {false, true}) {
    auto execution = with_flag(kBackwardKernel, &flag);
    execution.deterministic = deterministic;
    run_alone("bwd-onepass", backward.backward(), problem, execution);
    CHECK(unwritten_tiles(backward.backward().dK, 128) == 2 * 256 / 128);
    CHECK(unwritten_tiles(backward.backward().dV, 128) == 2 * 256 / 128);
  }
}

TEST_CASE("the forward kernel ends with the query tiles that have begun when the flag is raised",
          "[ranks]") {
  // The block of the last query tile of head 0 comes first, and writes its lse.
  const AttentionProblem problem = problem_of(2, 512, Mask::kNone);
  const DeviceShard shard(problem, drawn_inputs(problem, 3));
  const int* const flag = flag_in(shard.forward().lse, 4 * 511);
  run_alone("flash2", shard.forward(), problem, with_flag(kForwardKernel, flag));
  const int all = 2 * 512 / 64, left_out = unwritten_tiles(shard.forward().O, 64);
  CHECK(left_out < all);
  CHECK(left_out >= all - 3);  // of at most three warpgroups
}

TEST_CASE("the backward kernel ends with the K/V tiles that are taken when the flag is raised",
          "[ranks]") {
  constexpr int kTiles = 12;
  const AttentionProblem problem = problem_of(1, kTiles * 128, Mask::kNone);
  for (const bool deterministic : {false, true}) {
    const DeviceShard shard = ready_for_backward(problem);
    // The tile that comes first: the last one if tiles have turns.
    const std::int64_t row = deterministic ? (kTiles - 1) * 128 : 0;
    auto execution = with_flag(kBackwardKernel, flag_in(shard.backward().dK, row * 64 * 2));
    execution.deterministic = deterministic;
    cuda::emulation::set_num_threads(2);  // blocks that have taken a tile may wait for each other
    run_alone("bwd-onepass", shard.backward(), problem, execution);
    cuda::emulation::set_num_threads(1);
    const int left_out = unwritten_tiles(shard.backward().dK, 128);
    INFO(left_out);
    CHECK(left_out < kTiles);
    CHECK(left_out >= kTiles / 2);
  }
}

TEST_CASE("kernels that do not read the flag are refused", "[ranks]") {
  const int flag = 0;
  const auto refusal = [&](const char* variant, const char* kernel, DataType dtype,
                           std::int64_t head_dim) {
    AttentionProblem problem = problem_of(1, 64, Mask::kNone);
    problem.dtype = dtype;
    problem.head_dim = head_dim;
    try {
      cuda::workspace_bytes(variant, problem, with_flag(kernel, &flag));
    } catch (const ProblemError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("flash2", "", DataType::kBFloat16, 256).empty());
  CHECK(refusal("bwd-onepass", "", DataType::kFloat16, 128).empty());
  CHECK(refusal("bwd-onepass", "bwd_onepass_pair_sm90", DataType::kBFloat16, 256) ==
        "stop_flag: given: expected none for bwd_onepass_pair_sm90, which does not read it");
  CHECK_THAT(refusal("bwd-onepass", "", DataType::kBFloat16, 256), contains("stop_flag: given: "));
  CHECK_THAT(refusal("flash2", "", DataType::kFloat32, 64), contains("none for flash2_fp32"));
  CHECK_THAT(refusal("split-kv", "", DataType::kBFloat16, 64), contains("stop_flag: given: "));
}

TEST_CASE("the flag of every rank is raised when one has failed, and finish throws", "[ranks]") {
  const auto check = [](const Join& join) {
    const auto first = join(0), second = join(1);
    const int* const flag = first->stop_flag();
    CHECK(*flag == 0);
    second->abort("its GPU is on fire");
    CHECK(*flag == 1);
    CHECK(*second->stop_flag() == 1);  // asked for too late: raised at once
    try {
      first->finish(nullptr);
      FAIL("it did not throw");
    } catch (const cuda::RankFailure& failure) {
      CHECK(std::string(failure.what()) == "rank 1: its GPU is on fire");
    }
  };
  cuda::emulation::DelayedGroup delayed(2, 1, 5s);
  check([&](int rank) { return delayed.join(rank); });
  cuda::PeerGroup peers({0, 0}, 5s);
  check([&](int rank) { return peers.join(rank); });
}

TEST_CASE("a rank that is not stopped keeps its results when another one fails afterwards",
          "[ranks]") {
  cuda::PeerGroup peers({0, 0}, 5s);
  const auto first = peers.join(0), second = peers.join(1);
  second->abort("it has ended");
  CHECK_NOTHROW(first->finish(nullptr));
}

TEST_CASE("a rank that hangs stops the kernels that the others have enqueued", "[ranks]") {
  const ShardedProblem problem = {problem_of(1, 128, Mask::kNone), {Sharding::kContiguous, 2}};
  const WholeInputs inputs = drawn_inputs(problem.whole, 1);
  cuda::emulation::DelayedGroup group(2, 5, 100ms);
  std::array<int, 2> left_out = {};  // of a call that each rank makes when another one has failed
  const auto errors = run_ranks(
      2, [&](int rank) { return group.join(rank); },
      [&](cuda::Communicator& communicator) {
        const auto execution = with_flag(kForwardKernel, communicator.stop_flag());
        cuda::ShardedCall call("ring", problem, communicator, execution);
        if (communicator.rank() == 1) {
          while (*execution.stop_flag == 0) std::this_thread::sleep_for(1ms);  // it does nothing
        }
        const DeviceShard own(shard_problem(problem, communicator.rank()),
                              {shard_of(inputs.Q, problem.shards, communicator.rank()),
                               shard_of(inputs.K, problem.shards, communicator.rank()),
                               shard_of(inputs.V, problem.shards, communicator.rank()),
                               shard_of(inputs.dO, problem.shards, communicator.rank())});
        const test::DeviceMemory workspace(call.workspace_bytes());
        try {
          call.forward(own.forward(), workspace.get(), workspace.bytes());
          communicator.finish(nullptr);
        } catch (...) {
          // A call that was enqueued before has not run yet.
          run_alone("flash2", own.forward(), shard_problem(problem, communicator.rank()),
                    execution);
          left_out[static_cast<std::size_t>(communicator.rank())] =
              unwritten_tiles(own.forward().O, 64);
          throw;
        }
      });
  CHECK_THAT(text_of(errors[0]), contains("rank 1: it did not take part in exchange 0"));
  CHECK(left_out == std::array<int, 2>{1, 1});
}
