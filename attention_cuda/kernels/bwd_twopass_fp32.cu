// bwd-twopass, fp32: one pass over the tiles for dQ, one for dK and dV; blocks never
// wait for others.
//
//   delta = rowsum(dO o O)
//   for each query tile i (a block):  dQi = 0
//     for each K/V tile j:
//                                 half the threads         the other half
//     1                           S = Qi Kj^T              dP = dOi Vj^T
//     2                           P = exp(scale S - lse)
//     3                                                    dS = P o (dP - delta)
//     4             all:  dQi += dS Kj
//     dQi = scale dQi
//   for each K/V tile j (a block):  device/key_pass_fp32.cuh without its step 5
//
// Shapes   attention/problem.hpp; fp32, any strides
// Tiles    dQ: sQ, sdO [kBlockQ, kHeadDim] stay in shared memory; two sK and one sV
//          [kBlockKV, kHeadDim] change with each K/V tile, and the next ones are loaded from step 3
//          on; P, then dS in its place, [kBlockQ, kBlockKV]
// Grid     dQ: batch x num_heads x num_q_tiles, a head's last tiles (the longest if causal) first
//          dK, dV: batch x num_kv_heads x num_kv_tiles
// Traffic  dQ: Q and dO once, K and V num_q_tiles times;  dK, dV: the reverse
// Bits     reproducible
// Against  bwd-onepass: S and dP computed twice (seven products instead of five), nothing shared
// Source   two-option algorithm, option 2
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/key_pass_fp32.cuh"
#include "attention_cuda/kernels/bwd_twopass_fp32.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kBlocksPerSM)
    bwd_twopass_fp32_dQ_kernel(const BackwardArguments<float> arguments, const float* delta) {
  query_pass<Config>(arguments, delta);
}

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kBlocksPerSM)
    bwd_twopass_fp32_dKV_kernel(const BackwardArguments<float> arguments, const float* delta) {
  key_pass<Config, false>(arguments, delta);
}

// ---------------------------------------------------------------------------------------- launch

struct TwoPassArrays {
  float* delta;  // [batch, num_heads, seqlen_q]
};

TwoPassArrays take_two_pass_arrays(Workspace& workspace, const AttentionProblem& problem) {
  return {workspace.take<float>(problem.batch * problem.num_heads * problem.seqlen_q)};
}

std::size_t bwd_twopass_fp32_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  Workspace workspace;
  take_two_pass_arrays(workspace, problem);
  return workspace.bytes();
}

void launch_bwd_twopass_fp32(const BackwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const auto arguments = backward_arguments<float>(call);
  Workspace workspace(call.workspace);
  const TwoPassArrays arrays = take_two_pass_arrays(workspace, problem);

  launch_delta(call, arguments, arrays.delta);
  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    using Config = BackwardConfig<kHeadDim>;
    launch(call, "bwd_twopass_fp32_dQ_kernel", bwd_twopass_fp32_dQ_kernel<Config>,
           {problem.batch * problem.num_heads * ceil_div(problem.seqlen_q, Config::kBlockQ),
            Config::kNumThreads, QueryPassMemory<Config>::kBytes},
           arguments, arrays.delta);
    launch(call, "bwd_twopass_fp32_dKV_kernel", bwd_twopass_fp32_dKV_kernel<Config>,
           {problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Config::kBlockKV),
            Config::kNumThreads, KeyPassMemory<Config>::kBytes},
           arguments, arrays.delta);
  });
}

}  // namespace

extern const KernelRow bwd_twopass_fp32;
const KernelRow bwd_twopass_fp32 = {listed("bwd_twopass_fp32"), nullptr, launch_bwd_twopass_fp32,
                                    bwd_twopass_fp32_bytes};

}  // namespace flashlab::cuda
