// Attention over several ranks, on all GPUs that there are; if these are fewer, ranks share them. The
// emulation has one.
#include "attention_cuda/ranks/sharded_attention.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <string>
#include <vector>

#include "attention_cuda/ranks/peer_communicator.hpp"
#include "attention_cuda/ranks/shard_copies.hpp"
#include "attention_cuda/registry.hpp"
#include "tests/attention/ranks/sharded_cases.hpp"
#include "tests/attention_cpu/tolerance.hpp"
#include "tests/attention_cuda/kernels_here.hpp"
#include "tests/attention_cuda/ranks/in_order.hpp"
#include "tests/attention_cuda/ranks/sharded_run.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Rank r on GPU r, or on the same as another rank.
std::vector<int> devices_for(int num_ranks) {
  int count = 1;
  check_call(cudaGetDeviceCount(&count));
  std::vector<int> devices;
  for (int rank = 0; rank < num_ranks; ++rank) devices.push_back(rank % count);
  return devices;
}

WholeResults run_on_peers(const ShardedProblem& problem, const ShardedVariants& variants,
                          const WholeInputs& inputs) {
  cuda::PeerGroup group(devices_for(problem.shards.num_ranks));
  return run_sharded(problem, variants, inputs, [&](int rank) { return group.join(rank); });
}

struct Oracle {
  textbook::Forward<double> forward;
  textbook::Backward<double> backward;
};

Oracle oracle_of(const AttentionProblem& whole, const WholeInputs& inputs) {
  const textbook::Problem problem = textbook_problem(whole);
  const auto Q = inputs.Q.values(), K = inputs.K.values(), V = inputs.V.values();
  auto forward = textbook::forward(problem, Q, K, V);
  auto backward = textbook::backward(problem, Q, K, V, forward.O, forward.lse, inputs.dO.values());
  return {forward, backward};
}

/// At most twice as far from the oracle as one GPU, and the rounding of as many parts as there are
/// ranks.
void check_near(const char* name, const HostTensor& ours, const HostTensor& one_gpu,
                const std::vector<double>& oracle, DataType dtype) {
  const Deviation error = deviation(ours.values(), oracle),
                  plain = deviation(one_gpu.values(), oracle);
  const Deviation floor = 2 * storing_floor(dtype, oracle) +
                          4 * 0x1p-22 * deviation(std::vector<double>(oracle.size()), oracle);
  INFO(name << " is off by " << error.norm << ", at most " << error.largest << "; one GPU "
            << plain.norm << ", " << plain.largest);
  CHECK(is_within(error, plain, floor));
}

void check_case(const ShardedProblem& problem, const ShardedVariants& variants) {
  INFO(variants.forward << ", " << variants.backward << ": " << description(problem) << ", "
                        << to_string(problem.whole.dtype));
  const DataType dtype = problem.whole.dtype;
  const WholeInputs inputs = drawn_inputs(problem.whole, 7);
  const WholeResults ours = run_on_peers(problem, variants, inputs),
                     one_gpu = run_whole(problem.whole, inputs);
  const Oracle oracle = oracle_of(problem.whole, inputs);
  check_near("O", ours.O, one_gpu.O, oracle.forward.O, dtype);
  check_near("lse", ours.lse, one_gpu.lse, oracle.forward.lse, DataType::kFloat32);
  check_near("dQ", ours.dQ, one_gpu.dQ, oracle.backward.dQ, dtype);
  check_near("dK", ours.dK, one_gpu.dK, oracle.backward.dK, dtype);
  check_near("dV", ours.dV, one_gpu.dV, oracle.backward.dV, dtype);
}

bool kernel_keeps_dQ(const AttentionProblem& whole) {
  return cuda::find_kernel("bwd-onepass", whole, {}, cuda::compute_capability()).keeps_dQ;
}

constexpr DataType kTypes[] = {DataType::kBFloat16, DataType::kFloat32, DataType::kFloat16};
const ShardedVariants kRing = {"ring", "bwd-ring"}, kGather = {"gather-kv", "bwd-gather-kv"};

}  // namespace

TEST_CASE("several ranks compute what one GPU does, for every mask", "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  std::size_t number = 0;
  constexpr std::size_t kStep = FLASHLAB_SHARDED_CASE_STEP;
  struct Lengths {
    std::int64_t q, k;
  };
  for (const auto& [q, k] : {Lengths{90, 90}, {70, 131}, {150, 40}, {3, 3}, {1, 5}}) {
    for (AttentionProblem whole : masked_problems(q, k)) {
      if (++number % kStep != 0) continue;
      whole.dtype = kTypes[number % 3];
      const int num_ranks = 2 + static_cast<int>(number % 4);
      const auto sharding = number % 2 == 0 ? Sharding::kZigzag : Sharding::kContiguous;
      check_case({whole, {sharding, num_ranks}}, number / 2 % 2 == 0 ? kRing : kGather);
    }
  }
}

TEST_CASE("several ranks give the bits of one GPU that takes the same keys in the same order",
          "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  struct Case {
    DataType dtype;
    Sharding sharding;
    Mask mask;
  };
  for (const auto& [dtype, sharding, mask] :
       {Case{DataType::kBFloat16, Sharding::kZigzag, Mask::kCausalTopLeft},
        {DataType::kFloat32, Sharding::kContiguous, Mask::kNone},
        {DataType::kFloat16, Sharding::kContiguous, Mask::kCausalTopLeft}}) {
    ShardedProblem problem = {masked_problems(50, 50).front(), {sharding, 3}};
    problem.whole.batch = 1;
    problem.whole.dtype = dtype;
    problem.whole.mask = mask;
    if (mask != Mask::kNone) problem.whole.window_left = 30;  // several calls for a pair of ranks
    INFO(description(problem) << ", " << to_string(dtype));
    const WholeInputs inputs = drawn_inputs(problem.whole, 3);
    CHECK(run_on_peers(problem, kRing, inputs) == run_in_order(problem, inputs, kRingOrder));
    CHECK(run_on_peers(problem, kGather, inputs) == run_in_order(problem, inputs, kGatherOrder));
  }
}

TEST_CASE("ranks pass on equal weights however large their equal scores are", "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  // c m is rounded to multiples of 1/8 in a state, and what that changes is in l and O.
  for (const double score : {1.0e6, 1.1e6, 1.23e6, 1.37e6}) {
    for (const DataType dtype : kTypes) {
      ShardedProblem problem = {masked_problems(20, 48).front(), {Sharding::kContiguous, 3}};
      problem.whole.dtype = dtype;
      problem.whole.softmax_scale = score / static_cast<double>(problem.whole.head_dim);
      WholeInputs inputs = drawn_inputs(problem.whole, 5);
      const auto fill = [&](HostTensor& tensor, const auto& value_of_row) {
        const std::int64_t rows = tensor.shape[2], columns = tensor.shape[3];
        for (std::int64_t k = 0; k < std::ssize(tensor.bytes) / size_in_bytes(dtype); ++k) {
          store(tensor.bytes.data(), dtype, k, value_of_row(k / columns % rows));
        }
      };
      fill(inputs.Q, [](auto) { return 1.0; });
      fill(inputs.K, [](auto) { return 1.0; });
      fill(inputs.V, [](auto row) { return row < 16 ? 1.0 : 0.0; });  // the first rank's
      for (const char* variant : {"ring", "gather-kv"}) {
        INFO(variant << " in " << to_string(dtype) << ", scores of " << score);
        const WholeResults results = run_on_peers(problem, {variant, ""}, inputs);
        for (const double value : results.O.values()) REQUIRE(std::abs(value * 3 - 1) < 0x1p-8);
        const double expected = score + std::log(48);
        for (const double lse : results.lse.values()) {
          REQUIRE(std::abs(lse / expected - 1) < 0x1p-21);
        }
      }
    }
  }
}

TEST_CASE(
    "ranks whose kernels sum dQ give the bits of one GPU whose kernels do so in the same order",
    "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  struct Case {
    Sharding sharding;
    Mask mask;
    std::int64_t queries, keys;
    int num_ranks;
  };
  // Several K/V tiles add to the same dQ in a call; in zigzag order calls leave out query tiles.
  for (const auto& [sharding, mask, queries, keys, num_ranks] :
       {Case{Sharding::kContiguous, Mask::kNone, 150, 1000, 3},
        {Sharding::kContiguous, Mask::kCausalTopLeft, 300, 300, 2},
        {Sharding::kZigzag, Mask::kCausalTopLeft, 512, 512, 2}}) {
    ShardedProblem problem = {masked_problems(queries, keys).front(), {sharding, num_ranks}};
    problem.whole.batch = 1;
    problem.whole.dtype = DataType::kBFloat16;
    problem.whole.mask = mask;
    INFO(description(problem));
    const WholeInputs inputs = drawn_inputs(problem.whole, 3);
    for (const auto& [variants, order] : {std::pair(kRing, kRingOrder), {kGather, kGatherOrder}}) {
      ShardedVariants ordered = variants;
      ordered.deterministic = true;
      const WholeResults ours = run_on_peers(problem, ordered, inputs);
      CHECK(ours == run_in_order(problem, inputs, order, {true, true}));
      if (!kernel_keeps_dQ(problem.whole)) continue;
      const WholeResults rounded = run_in_order(problem, inputs, order, {true, false});
      CHECK(ours.dQ != rounded.dQ);
      CHECK(ours.dK == rounded.dK);
    }
  }
}

TEST_CASE("a shard is copied from a whole tensor and back", "[ranks]") {
  FLASHLAB_NEEDS_GPU();
  AttentionProblem whole = masked_problems(37, 37).front();
  const WholeInputs inputs = drawn_inputs(whole, 1);
  for (const Shards& shards : {Shards{Sharding::kZigzag, 3}, {Sharding::kContiguous, 40}}) {
    const DeviceShard from(whole, inputs), to(whole, {});
    for (int rank = 0; rank < shards.num_ranks; ++rank) {
      const ShardedProblem problem = {whole, shards};
      const DeviceShard own(shard_problem(problem, rank), {});
      cuda::copy_to_shard(shards, rank, from.backward().Q, own.backward().Q, nullptr);
      cuda::copy_from_shard(shards, rank, own.backward().Q, to.backward().Q, nullptr);
      check_call(cudaDeviceSynchronize());
      CHECK(fetched(own.backward().Q) == shard_of(inputs.Q, shards, rank));
    }
    CHECK(fetched(to.backward().Q) == inputs.Q);
  }
}
