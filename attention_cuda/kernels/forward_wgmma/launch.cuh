// The launch of flash2_wgmma_sm90.cuh with any tiles: tensor maps, arguments, grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/flash2_wgmma_sm90.cuh"

namespace flashlab::cuda {

/// A tensor in boxes of `rows` rows. Strides of axes with one element do not matter.
inline ptx::TensorLayout tensor_layout(const TensorView& tensor, DataType dtype, int rows) {
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

/// Why bulk copies cannot address one of a call's tensors; nothing if they can.
inline std::optional<ProblemError> why_no_bulk_copies(
    std::string_view kernel,
    std::initializer_list<std::pair<std::string_view, const TensorView*>> tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (std::ranges::find(tensor->shape, 0) != tensor->shape.end()) continue;
    constexpr int kAnyRows = 64;
    const auto why = ptx::why_not_addressable(tensor_layout(*tensor, tensor->dtype, kAnyRows));
    if (why)
      return ProblemError(name, *why, "what bulk copies address, for " + std::string(kernel));
    if (tensor->shape[3] > 1 && tensor->strides[3] != 1) {
      return ProblemError(name, "columns that are not adjacent",
                          "adjacent columns for " + std::string(kernel));
    }
  }
  return std::nullopt;
}

/// Bytes for the counter of query tiles. Lengths on the device are unknown to the problem.
inline std::size_t wgmma_workspace_bytes(const AttentionProblem& problem,
                                         const ExecutionOptions& options) {
  const bool is_ragged =
      !problem.key_lengths.empty() || problem.is_packed() || options.device_key_lengths != nullptr;
  const WgmmaShape& shape = kWgmmaShapes[wgmma_index(problem.head_dim)];
  constexpr int kAnyMultiprocessors = 1;
  Workspace workspace;
  if (wgmma_schedule(problem, shape, is_ragged, kAnyMultiprocessors).takes_from_counter) {
    workspace.take<int>(1);
  }
  return workspace.bytes();
}

/// Whether query tiles see different numbers of keys because of their lengths.
inline bool is_ragged(const Call& call) {
  return call.key_lengths != nullptr || call.ranges.of_queries != nullptr;
}

// Under the causal mask: measured at lengths of 1024 to 16384 and head_dim 64 to 256.
inline constexpr std::int64_t kFewestHeadsTogether = 4;

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
      wgmma_schedule(problem, Config::kShape, is_ragged(call), num_multiprocessors());
  // With a stop flag a block decides once whether it computes. Benchmarks call without a workspace.
  const bool counts =
      schedule.takes_from_counter && call.options.stop_flag == nullptr && call.workspace != nullptr;
  int* const next_unit = counts ? Workspace(call.workspace).take<int>(1) : nullptr;
  const WgmmaArguments arguments{
      device_tensor<std::uint16_t>(tensors.O),
      device_tensor<float>(tensors.lse),
      state_tensors(call.options.state_in),
      state_tensors(call.options.state_out),
      sizes_of(problem),
      mask_arguments(call),
      scale > 0   ? 1.F
      : scale < 0 ? -1.F
                  : 0.F,
      scale == 0 ? 1.F : fabsf(scale),
      (scale == 0 ? 1.F : fabsf(scale)) * kLog2E,
      PlaceOrder(problem, heads_together(problem, kFewestHeadsTogether), schedule.units_of_head),
      static_cast<int>(schedule.num_q_tiles),
      static_cast<int>(schedule.rows_before),
      schedule.is_paired,
      call.options.stop_flag,
      next_unit};
  const std::int64_t num_blocks =
      arguments.stop_flag == nullptr && counts == schedule.takes_from_counter
          ? schedule.num_blocks
          : arguments.units.num_places;
  if (next_unit != nullptr) {
    check_cuda(cudaMemsetAsync(next_unit, 0, sizeof(int), call.options.stream),
               "cudaMemsetAsync(counter of query tiles)");
  }
  launch(call, "flash2_wgmma_sm90", flash2_wgmma_sm90_kernel<Config>,
         {num_blocks, Config::kThreads, static_cast<std::size_t>(Config::kSharedBytes)},
         map(tensors.Q, WgmmaShape::kRowsOfWarpgroup), map(tensors.K, Config::kBlockKV),
         map(tensors.V, Config::kBlockKV), arguments);
}

}  // namespace flashlab::cuda
