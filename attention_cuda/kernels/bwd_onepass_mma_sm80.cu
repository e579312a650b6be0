// bwd-onepass in bf16 and fp16: see bwd_onepass_mma_sm80.cuh.
#include "attention_cuda/kernels/bwd_onepass_mma_sm80.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kOnePassStem16 = "bwd_onepass_mma_sm80";

void launch_bwd_onepass_mma_sm80(const BackwardCall& call) {
  with_tensor_core_16(call, [&]<class TensorCore>() {
    with_head_dim(call.problem.head_dim, [&]<int kHeadDim>() {
      constexpr KeyTileShape kLarge = kOnePassLargeShapes16[head_dim_index(kHeadDim)];
      if constexpr (kLarge.block_q > 0) {
        if (takes_large_shape(kHeadDim, max_shared_bytes())) {
          using Large = KeyTileConfig<TensorCore, kHeadDim, kLarge, true>;
          return launch_bwd_onepass_mma<Large>(call, kOnePassStem16);
        }
      }
      using Config =
          KeyTileConfig<TensorCore, kHeadDim, kOnePassShapes16[head_dim_index(kHeadDim)], true>;
      static_assert(Config::kSharedBytes <= kLeastSharedBytes);
      launch_bwd_onepass_mma<Config>(call, kOnePassStem16);
    });
  });
}

}  // namespace

extern const KernelRow bwd_onepass_mma_sm80;
const KernelRow bwd_onepass_mma_sm80 = {listed("bwd_onepass_mma_sm80"), nullptr,
                                        launch_bwd_onepass_mma_sm80,
                                        bwd_onepass_mma_workspace_bytes};

}  // namespace flashlab::cuda
