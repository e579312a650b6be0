// Ranks that are connected by NCCL, over a library that has its functions (fake_nccl).
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "attention_cuda/ranks/nccl_communicator.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "tests/attention/ranks/sharded_cases.hpp"
#include "tests/attention_cuda/ranks/in_order.hpp"
#include "tests/attention_cuda/ranks/sharded_run.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

namespace {

ShardedProblem causal_problem(int num_ranks) {
  ShardedProblem problem = {masked_problems(24, 24).front(), {Sharding::kZigzag, num_ranks}};
  problem.whole.batch = 1;
  problem.whole.mask = Mask::kCausalTopLeft;
  return problem;
}

/// Ranks of a new group.
Join nccl_ranks(int num_ranks, std::chrono::milliseconds timeout) {
  setenv("FLASHLAB_NCCL_LIBRARY", FLASHLAB_FAKE_NCCL, 1);
  const cuda::NcclId id = cuda::make_nccl_id();
  return [=](int rank) { return cuda::join_nccl(id, num_ranks, rank, timeout); };
}

std::string refusal(const char* library) {
  try {
    cuda::open_nccl_library(library);
  } catch (const cuda::CudaError& error) {
    return error.error;
  }
  return "opened";
}

}  // namespace

TEST_CASE("ranks on NCCL give the bits of one GPU", "[ranks]") {
  const ShardedProblem problem = causal_problem(3);
  const WholeInputs inputs = drawn_inputs(problem.whole, 2);
  CHECK(run_sharded(problem, {"ring", "bwd-ring"}, inputs, nccl_ranks(3, 30s)) ==
        run_in_order(problem, inputs, kRingOrder));
  CHECK(run_sharded(problem, {"gather-kv", "bwd-gather-kv"}, inputs, nccl_ranks(3, 30s)) ==
        run_in_order(problem, inputs, kGatherOrder));
}

TEST_CASE("ranks on NCCL that disagree are all told which rank and what", "[ranks]") {
  const auto errors = run_ranks(2, nccl_ranks(2, 30s), [](cuda::Communicator& communicator) {
    ShardedProblem own = causal_problem(2);
    if (communicator.rank() == 1) own.whole.num_heads = 4;
    const cuda::ShardedCall call("gather-kv", own, communicator);
  });
  for (const std::exception_ptr& error : errors) {
    CHECK(text_of(error) == "rank 1's num_heads: 4: expected 2, as on rank 0");
  }
}

TEST_CASE("a rank that is not there is named by the rank that waits for it on NCCL", "[ranks]") {
  const auto errors = run_ranks(2, nccl_ranks(2, 200ms), [](cuda::Communicator& communicator) {
    const ShardedProblem problem = causal_problem(2);
    cuda::ShardedCall call("ring", problem, communicator);
    if (communicator.rank() == 1) return;  // ends before its part
    const DeviceShard own(shard_problem(problem, 0), {});
    const test::DeviceMemory workspace(call.workspace_bytes());
    call.forward(own.forward(), workspace.get(), workspace.bytes());
  });
  CHECK(text_of(errors[0]) == "rank 1: rank 0 waited 200 ms for it in ncclGroupEnd");
  CHECK(text_of(errors[1]).empty());
}

TEST_CASE("a rank on NCCL whose communicator is aborted stops its own kernels", "[ranks]") {
  std::array<int, 4> flags = {};  // before and after, by rank
  const auto errors = run_ranks(2, nccl_ranks(2, 5s), [&](cuda::Communicator& communicator) {
    const auto own = 2 * static_cast<std::size_t>(communicator.rank());
    const int* const flag = communicator.stop_flag();
    flags[own] = *flag;
    if (communicator.rank() == 1) communicator.abort("it has failed");
    flags[own + 1] = *flag;
  });
  CHECK(flags == std::array<int, 4>{0, 0, 0, 1});
}

TEST_CASE("a group on NCCL that is not complete ends by its timeout", "[ranks]") {
  const Join join = nccl_ranks(2, 100ms);
  CHECK_THROWS_WITH(join(0), contains("not all ranks have come within 100 ms"));
}

TEST_CASE("no NCCL, one of another kind, and an old one: one line each", "[ranks]") {
  CHECK_THAT(refusal("/nowhere/libnccl.so.2"),
             contains("NCCL is not found (/nowhere/libnccl.so.2"));
  CHECK_THAT(refusal("/nowhere/libnccl.so.2"), contains("FLASHLAB_NCCL_LIBRARY says where"));
  CHECK(refusal("libm.so.6") == "NCCL has no ncclGetVersion");
  setenv("FLASHLAB_FAKE_NCCL_VERSION", "21505", 1);
  const std::string old = refusal(FLASHLAB_FAKE_NCCL);
  unsetenv("FLASHLAB_FAKE_NCCL_VERSION");
  CHECK(old == "NCCL 2.15.5: expected 2.18.0 or later");
}
