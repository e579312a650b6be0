// bwd-onepass for fp32 tensors with one or three tf32 products for each product: see
// bwd_onepass_mma_sm80.cuh.
#include "attention_cuda/kernels/bwd_onepass_mma_sm80.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kOnePassStemTf32 = "bwd_onepass_mma_tf32_sm80";

void launch_bwd_onepass_mma_tf32_sm80(const BackwardCall& call) {
  with_tensor_core_32(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      using Config =
          KeyTileConfig<TensorCore, kHeadDim, kOnePassShapesTf32[head_dim_index(kHeadDim)], true>;
      static_assert(Config::kSharedBytes <= kLeastSharedBytes);
      launch_bwd_onepass_mma<Config>(call, kOnePassStemTf32);
    });
  });
}

}  // namespace

extern const KernelRow bwd_onepass_mma_tf32_sm80;
const KernelRow bwd_onepass_mma_tf32_sm80 = {listed("bwd_onepass_mma_tf32_sm80"), nullptr,
                                             launch_bwd_onepass_mma_tf32_sm80,
                                             bwd_onepass_mma_workspace_bytes};

}  // namespace flashlab::cuda
