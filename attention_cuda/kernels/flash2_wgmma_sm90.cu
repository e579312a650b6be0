// flash2 forward in bf16 and fp16 on compute capability 9.0: see flash2_wgmma_sm90.cuh.
#include <optional>

#include "attention_cuda/kernels/forward_wgmma/launch.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

template <int kIndex>
void launch_head_dim(const ForwardCall& call) {
  if (call.problem.dtype == DataType::kBFloat16) {
    launch_wgmma<WgmmaConfig<BFloat16, kWgmmaShapes[kIndex]>>(call);
  } else {
    launch_wgmma<WgmmaConfig<Float16, kWgmmaShapes[kIndex]>>(call);
  }
}

void launch_flash2_wgmma_sm90(const ForwardCall& call) {
  switch (wgmma_index(call.problem.head_dim)) {
    case 0:
      return launch_head_dim<0>(call);
    case 1:
      return launch_head_dim<1>(call);
    case 2:
      return launch_head_dim<2>(call);
    case 3:
      return launch_head_dim<3>(call);
    default:
      return launch_head_dim<4>(call);
  }
}

std::optional<ProblemError> why_not_wgmma(const ForwardTensors& tensors) {
  return why_no_bulk_copies(
      "flash2_wgmma_sm90",
      {{"Q", &tensors.Q}, {"K", &tensors.K}, {"V", &tensors.V}, {"O", &tensors.O}});
}

}  // namespace

extern const KernelRow flash2_wgmma_sm90;
const KernelRow flash2_wgmma_sm90 = {listed("flash2_wgmma_sm90"),
                                     launch_flash2_wgmma_sm90,
                                     nullptr,
                                     wgmma_workspace_bytes,
                                     why_not_wgmma,
                                     nullptr,
                                     /*works_without_workspace=*/true};

}  // namespace flashlab::cuda
