// Kernels whose warps signal each other, under several orders of their threads: a wait that is missing
// shows in some of them only.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/ptx/bulk_copy.cuh"
#include "attention_cuda/ptx/turn.cuh"
#include "tests/attention_cuda/device_copy.hpp"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/attention_cuda/kernel_check.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

std::vector<KernelCase> kernel_of_stem(Pass pass, DataType dtype, const std::string& stem) {
  std::vector<KernelCase> kernels = kernels_here(pass, dtype);
  std::erase_if(kernels, [&](const KernelCase& kernel) { return kernel.row->stem != stem; });
  return kernels;
}

/// The first queries see no key, and their rows of Q and dO are NaN; the tiles of queries and keys have
/// ragged ends.
GeneratedCase with_unseen_queries(std::int64_t head_dim) {
  GeneratedCase generated;
  generated.dtype = DataType::kBFloat16;
  generated.problem.seqlen_q = 290;
  generated.problem.seqlen_k = 200;
  generated.problem.head_dim = head_dim;
  generated.problem.causal = textbook::Causal::kBottomRight;
  generated.problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  return generated;
}

/// The workspace after a kernel added to dQ in a fixed order, for five tiles of keys: with the sums of dQ
/// in fp32, which show more than dQ.
std::vector<unsigned char> ordered_sums(const KernelCase& kernel) {
  GeneratedCase generated = with_unseen_queries(64);
  generated.problem.seqlen_k = 600;
  const CaseInputs in = make_inputs(generated);
  const std::vector<double> Q = in.Q.values(), K = in.K.values(), V = in.V.values();
  const auto results = textbook::forward(generated.problem, Q, K, V);
  const ForwardOutputs forward = make_forward_outputs(generated);
  forward.O.assign(results.O);
  forward.lse.assign(results.lse);
  const BackwardOutputs out = make_backward_outputs(generated);
  DeviceCopies copies;
  const BackwardTensors tensors = {
      copies.view(in.Q),      copies.view(in.K),        copies.view(in.V),
      copies.view(forward.O), copies.view(forward.lse), copies.view(in.dO),
      copies.view(out.dQ),    copies.view(out.dK),      copies.view(out.dV)};
  cuda::ExecutionOptions execution;
  execution.kernel = kernel.row->stem;
  execution.deterministic = true;
  const DeviceMemory workspace(cuda::workspace_bytes(
      kernel.row->variant, check_backward(tensors, generated.options()), execution));
  execution.workspace = workspace.get();
  execution.workspace_bytes = workspace.bytes();
  cuda::attention_backward(kernel.row->variant, tensors, generated.options(), execution);
  const auto* const bytes = static_cast<const unsigned char*>(workspace.get());
  return {bytes, bytes + workspace.bytes()};
}

enum class TurnFault { kNone, kTurnThatNeverComes, kTurnOfAnother, kEndsTooEarly };

/// Blocks add 1, each in its turn.
__global__ void turns_kernel(float* sums, int* turns, TurnFault fault) {
  constexpr std::uint32_t kBytes = 128;
  const cuda::ptx::SharedAddress own = cuda::ptx::shared_address(cuda::ptx::shared_memory());
  cuda::ptx::store_shared(own + 4 * threadIdx.x, __float_as_uint(1.F));
  cuda::ptx::fence_async_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto turn = static_cast<int>(blockIdx.x);
  const int number = fault == TurnFault::kTurnThatNeverComes ? turn + 1
                     : fault == TurnFault::kTurnOfAnother    ? 0
                                                             : turn;
  cuda::ptx::wait_for_turn(turns, number);
  cuda::ptx::add_floats(sums, own, kBytes);
  cuda::ptx::commit_stores();
  fault == TurnFault::kEndsTooEarly ? cuda::ptx::wait_stores_read<0>()
                                    : cuda::ptx::wait_stores<0>();
  cuda::ptx::end_turn(turns);
}

std::string error_of_turns(TurnFault fault) {
  alignas(16) float sums[32] = {};
  int turns = 0;
  return error_of([&] { launch(3, 32, 128, turns_kernel, sums, &turns, fault); });
}

}  // namespace

TEST_CASE("a turn that never comes, is another block's, or ends before its additions, is named",
          "[async]") {
  CHECK(error_of_turns(TurnFault::kNone) == "no error");
  CHECK_THAT(error_of_turns(TurnFault::kTurnThatNeverComes),
             contains("no block that this one waits for gets to turn 1, when 0 have ended"));
  CHECK_THAT(error_of_turns(TurnFault::kTurnOfAnother),
             contains("turn 0 begins when 1 have ended"));
  CHECK_THAT(error_of_turns(TurnFault::kEndsTooEarly),
             contains("a turn ends while bulk stores of the thread are in flight"));
}

TEST_CASE("in a fixed order, sums of dQ have the same bits whichever block is first", "[cuda]") {
  const auto* const stem = GENERATE("bwd_onepass_wgmma_sm90", "bwd_onepass_pair_sm90");
  const auto kernels = kernel_of_stem(Pass::kBackward, DataType::kBFloat16, stem);
  REQUIRE(kernels.size() == 1);
  cuda::emulation::set_num_threads(3);
  const std::vector<unsigned char> first = ordered_sums(kernels.front());
  for (std::uint64_t seed = 2; seed <= 6; ++seed) {
    cuda::emulation::set_schedule_seed(seed);
    CHECK(ordered_sums(kernels.front()) == first);
  }
  cuda::emulation::set_schedule_seed(1);
  cuda::emulation::set_num_threads(1);
}

TEST_CASE("blocks whose keys only queries beyond the last one would see have turns, too",
          "[cuda]") {
  const auto* const stem = GENERATE("bwd_onepass_wgmma_sm90", "bwd_onepass_pair_sm90");
  auto kernels = kernel_of_stem(Pass::kBackward, DataType::kBFloat16, stem);
  REQUIRE(kernels.size() == 1);
  kernels.front().deterministic = true;
  GeneratedCase generated = with_unseen_queries(64);
  generated.problem.seqlen_q =
      130;  // keys from 128 on: queries from 178 on, which share a tile with 129
  generated.problem.seqlen_k = 300;
  generated.problem.causal = textbook::Causal::kTopLeft;
  generated.problem.query_offset = -50;
  WorstErrors worst;
  check_kernels(worst, Pass::kBackward, kernels, generated);
}

TEST_CASE("pairs of blocks agree with the oracle in every order of their threads",
          "[cuda][cluster]") {
  FLASHLAB_NEEDS_GPU();
  const auto kernels =
      kernel_of_stem(Pass::kBackward, DataType::kBFloat16, "bwd_onepass_pair_sm90");
  REQUIRE(kernels.size() == 1);
  WorstErrors worst;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    INFO("schedule " << seed);
    cuda::emulation::set_schedule_seed(seed);
    for (const int head_dim : {190, 200}) {  // of three panels of columns, and of four
      check_kernels(worst, Pass::kBackward, kernels, with_unseen_queries(head_dim));
    }
  }
  cuda::emulation::set_schedule_seed(1);
}
