// flash2 forward in bf16 and fp16 on compute capability 9.0: see flash2_wgmma_sm90.cuh.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/flash2_wgmma_sm90.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

/// A tensor in boxes of `rows` rows. Strides of axes with one element do not matter.
ptx::TensorLayout tensor_layout(const TensorView& tensor, DataType dtype, int rows) {
  ptx::TensorLayout layout;
  layout.data = tensor.data;
  layout.is_bfloat16 = dtype == DataType::kBFloat16;
  for (int axis = 0; axis < 4; ++axis) {
    const auto from = static_cast<std::size_t>(3 - axis);
    layout.sizes[axis] = static_cast<std::uint64_t>(tensor.shape[from]);
    const bool matters = axis > 0 && tensor.shape[from] > 1;
    if (matters) layout.strides[axis] = static_cast<std::uint64_t>(2 * tensor.strides[from]);
  }
  layout.box_rows = rows;
  return layout;
}

// Under the causal mask: measured at lengths of 1024 to 16384 and head_dim 64 to 256.
constexpr std::int64_t kFewestHeadsTogether = 4;

template <class Config>
void launch_wgmma(const ForwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const ForwardTensors& tensors = call.tensors;
  const auto map = [&](const TensorView& tensor, int rows) {
    // Nothing is loaded from a tensor without elements, which has no map either.
    const bool is_empty = std::ranges::find(tensor.shape, 0) != tensor.shape.end();
    return is_empty ? ptx::TensorMap{}
                    : ptx::make_tensor_map(tensor_layout(tensor, problem.dtype, rows));
  };
  const auto scale = static_cast<float>(problem.softmax_scale);
  const WgmmaSchedule schedule =
      wgmma_schedule(problem, Config::kShape, call.key_lengths != nullptr, num_multiprocessors());
  const WgmmaArguments arguments{device_tensor<float>(tensors.lse),
                                 sizes_of(problem),
                                 {problem.mask, call.key_lengths},
                                 scale > 0   ? 1.F
                                 : scale < 0 ? -1.F
                                             : 0.F,
                                 (scale == 0 ? 1.F : fabsf(scale)) * kLog2E,
                                 heads_together(problem, kFewestHeadsTogether),
                                 static_cast<int>(schedule.num_q_tiles),
                                 static_cast<int>(schedule.num_units),
                                 schedule.is_paired};
  launch(call, "flash2_wgmma_sm90", flash2_wgmma_sm90_kernel<Config>,
         {schedule.num_blocks, Config::kThreads, static_cast<std::size_t>(Config::kSharedBytes)},
         map(tensors.Q, WgmmaShape::kRowsOfWarpgroup), map(tensors.K, Config::kBlockKV),
         map(tensors.V, Config::kBlockKV), map(tensors.O, 16), arguments);
}

template <int kIndex>
void launch_head_dim(const ForwardCall& call) {
  const bool is_masked = call.problem.mask != Mask::kNone || call.key_lengths != nullptr;
  const auto launch_type = [&]<class Element>() {
    if (is_masked) {
      launch_wgmma<WgmmaConfig<Element, kWgmmaShapes[kIndex][1]>>(call);
    } else {
      launch_wgmma<WgmmaConfig<Element, kWgmmaShapes[kIndex][0]>>(call);
    }
  };
  if (call.problem.dtype == DataType::kBFloat16) {
    launch_type.template operator()<BFloat16>();
  } else {
    launch_type.template operator()<Float16>();
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
