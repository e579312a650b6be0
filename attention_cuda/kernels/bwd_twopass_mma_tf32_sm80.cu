// bwd-twopass for fp32 tensors with one or three tf32 products for each product: see
// bwd_twopass_mma_sm80.cuh.
#include "attention_cuda/device/head_dims.hpp"
#include "attention_cuda/kernels/bwd_twopass_mma_sm80.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

void launch_bwd_twopass_mma_tf32_sm80(const BackwardCall& call) {
  with_tensor_core_32(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      constexpr int kIndex = head_dim_index(kHeadDim), kSplits = TensorCore::kSplitsValues;
      launch_bwd_twopass_mma<
          QueryTileConfig<TensorCore, kHeadDim, kTwoPassQueryShapesTf32[kSplits][kIndex]>,
          KeyTileConfig<TensorCore, kHeadDim, kTwoPassKeyShapesTf32[kSplits][kIndex], false>>(call);
    });
  });
}

}  // namespace

extern const KernelRow bwd_twopass_mma_tf32_sm80;
const KernelRow bwd_twopass_mma_tf32_sm80 = {listed("bwd_twopass_mma_tf32_sm80"), nullptr,
                                             launch_bwd_twopass_mma_tf32_sm80,
                                             bwd_twopass_mma_workspace_bytes};

}  // namespace flashlab::cuda
