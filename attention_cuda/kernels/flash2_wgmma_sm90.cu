// flash2 forward in bf16 and fp16 on compute capability 9.0: see flash2_wgmma_sm90.cuh.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "attention_cuda/kernels/flash2_wgmma_launch.cuh"
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

/// Why bulk copies cannot address a tensor of the call; nothing if they can.
std::optional<ProblemError> why_not_wgmma(const ForwardTensors& tensors) {
  const std::pair<std::string_view, const TensorView&> all[] = {
      {"Q", tensors.Q}, {"K", tensors.K}, {"V", tensors.V}, {"O", tensors.O}};
  for (const auto& [name, tensor] : all) {
    if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) continue;
    constexpr int kAnyRows = 64;
    const auto why = ptx::why_not_addressable(tensor_layout(tensor, tensor.dtype, kAnyRows));
    if (why) return ProblemError(name, *why, "what bulk copies address, for flash2_wgmma_sm90");
    if (tensor.shape[3] > 1 && tensor.strides[3] != 1) {
      return ProblemError(name, "columns that are not adjacent",
                          "adjacent columns for flash2_wgmma_sm90");
    }
  }
  return std::nullopt;
}

}  // namespace

extern const KernelRow flash2_wgmma_sm90;
const KernelRow flash2_wgmma_sm90 = {listed("flash2_wgmma_sm90"), launch_flash2_wgmma_sm90, nullptr,
                                     nullptr, why_not_wgmma};

}  // namespace flashlab::cuda
