// bwd-twopass-loads-o, fp32: bwd-twopass as published listings write it, with O loaded in both passes.
//
//   as bwd-twopass (bwd_twopass_fp32.cu), but each pass computes delta = rowsum(dOi o Oi) of a query
//   tile i when it meets the tile: the pass for dQ once, the pass for dK and dV for each K/V tile j
//
// Shapes   attention/problem.hpp; fp32, any strides
// Tiles    as bwd-twopass; a thread sums delta of one query straight from memory
// Grid     as bwd-twopass, without a launch for delta
// Traffic  as bwd-twopass, and O once for dQ, num_kv_tiles times for dK and dV
// Bits     reproducible
// Against  bwd-twopass: what it costs to load O where one number per query is enough. It runs only
//          when it is named
// Source   two-option algorithm, option 2 as printed. There nothing uses this O; a compiler would
//          remove its loads
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/device/key_pass_fp32.cuh"
#include "attention_cuda/kernels/bwd_twopass_fp32.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

/// A source of delta (query_statistics): it loads O and dO of the query.
struct DeltaFromO {
  bool is_aligned;  // rows of O and dO
};

__device__ __forceinline__ float delta_of(const DeltaFromO& delta,
                                          const BackwardArguments<float>& arguments, int b, int h,
                                          int i) {
  const DeltaRow<float> row[] = {{arguments, b * arguments.sizes.num_heads + h, i}};
  float sum[] = {0.f};
  add_parts_of_delta(sum, row, arguments, 0, 1, delta.is_aligned);
  return sum[0];
}

namespace {

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kBlocksPerSM)
    bwd_twopass_loads_o_fp32_dQ_kernel(const BackwardArguments<float> arguments,
                                       const DeltaFromO delta) {
  query_pass<Config>(arguments, delta);
}

template <class Config>
__global__ void __launch_bounds__(Config::kNumThreads, Config::kBlocksPerSM)
    bwd_twopass_loads_o_fp32_dKV_kernel(const BackwardArguments<float> arguments,
                                        const DeltaFromO delta) {
  key_pass<Config, false>(arguments, delta);
}

// ---------------------------------------------------------------------------------------- launch

void launch_bwd_twopass_loads_o_fp32(const BackwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const auto arguments = backward_arguments<float>(call);
  const DeltaFromO delta = {has_aligned_outputs(arguments)};

  with_head_dim(problem.head_dim, [&]<int kHeadDim>() {
    using Config = BackwardConfig<kHeadDim>;
    launch(call, "bwd_twopass_loads_o_fp32_dQ_kernel", bwd_twopass_loads_o_fp32_dQ_kernel<Config>,
           {problem.batch * problem.num_heads * ceil_div(problem.seqlen_q, Config::kBlockQ),
            Config::kNumThreads, QueryPassMemory<Config>::kBytes},
           arguments, delta);
    launch(call, "bwd_twopass_loads_o_fp32_dKV_kernel", bwd_twopass_loads_o_fp32_dKV_kernel<Config>,
           {problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Config::kBlockKV),
            Config::kNumThreads, KeyPassMemory<Config>::kBytes},
           arguments, delta);
  });
}

}  // namespace

extern const KernelRow bwd_twopass_loads_o_fp32;
const KernelRow bwd_twopass_loads_o_fp32 = {listed("bwd_twopass_loads_o_fp32"), nullptr,
                                            launch_bwd_twopass_loads_o_fp32, nullptr};

}  // namespace flashlab::cuda
