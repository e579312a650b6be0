// bwd-onepass, fp32: one block per K/V tile, one pass over its queries.
//
//   delta = rowsum(dO o O);  dQ = 0
//   for each K/V tile j (a block):
//     for each query tile i:  P = exp(scale Qi Kj^T - lse);  dS = P o (dOi Vj^T - delta)
//                             dVj += P^T dOi;  dKj += scale dS^T Qi
//                             dQi += scale dS Kj   by atomic additions, in memory
//
// Shapes   attention/problem.hpp; fp32, any strides
// Tiles    device/backward_fp32.cuh; the pass is in device/key_pass_fp32.cuh
// Grid     batch x num_kv_heads x num_kv_tiles; under a causal mask a head's longest blocks first
// Traffic  K and V once; Q, dO num_kv_tiles times; num_kv_tiles additions to dQ
// Bits     dK and dV are reproducible; dQ is summed in order of arrival
// Against  bwd-twopass: five products instead of seven, but atomic additions
// Source   Dao 2023, FlashAttention-2, Algorithm 2
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/key_pass_fp32.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr int kZeroThreads = BackwardFp32Shape::kZeroThreads;

__global__ void __launch_bounds__(kZeroThreads)
    zero_dQ_kernel(const DeviceTensor<float> dQ, const Sizes sizes) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kZeroThreads + threadIdx.x;
  const std::int64_t row = index / sizes.head_dim, head = row / sizes.seqlen_q;
  if (head >= static_cast<std::int64_t>(sizes.batch) * sizes.num_heads) return;
  dQ.row(static_cast<int>(head / sizes.num_heads), static_cast<int>(head % sizes.num_heads),
         row % sizes.seqlen_q)[index % sizes.head_dim * dQ.column_stride] = 0.f;
}

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kBlocksPerSM)
    bwd_onepass_fp32_kernel(const BackwardArguments<float> arguments, const float* delta) {
  key_pass<Config, true>(arguments, delta);
}

// ---------------------------------------------------------------------------------------- launch

struct OnePassArrays {
  float* delta;  // [batch, num_heads, seqlen_q]
};

OnePassArrays take_one_pass_arrays(Workspace& workspace, const AttentionProblem& problem) {
  return {workspace.take<float>(problem.batch * problem.num_heads * problem.seqlen_q)};
}

std::size_t bwd_onepass_fp32_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  Workspace workspace;
  take_one_pass_arrays(workspace, problem);
  return workspace.bytes();
}

void launch_bwd_onepass_fp32(const BackwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const auto arguments = backward_arguments<float>(call);
  Workspace workspace(call.workspace);
  const OnePassArrays arrays = take_one_pass_arrays(workspace, problem);

  launch_delta(call, arguments, arrays.delta);
  const std::int64_t dQ_elements =
      problem.batch * problem.num_heads * problem.seqlen_q * problem.head_dim;
  launch(call, "zero_dQ_kernel", zero_dQ_kernel,
         {ceil_div(dQ_elements, kZeroThreads), kZeroThreads}, arguments.dQ, arguments.sizes);
  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    using Config = BackwardConfig<kHeadDim>;
    launch(call, "bwd_onepass_fp32_kernel", bwd_onepass_fp32_kernel<Config>,
           {problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Config::kBlockKV),
            Config::kNumThreads, KeyPassMemory<Config>::kBytes},
           arguments, arrays.delta);
  });
}

}  // namespace

extern const KernelRow bwd_onepass_fp32;
const KernelRow bwd_onepass_fp32 = {listed("bwd_onepass_fp32"), nullptr, launch_bwd_onepass_fp32,
                                    bwd_onepass_fp32_bytes};

}  // namespace flashlab::cuda
