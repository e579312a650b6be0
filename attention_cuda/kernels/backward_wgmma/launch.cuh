// The launches of the backward kernels with wgmma: delta, zeros, the gradients, and dQ from its sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/backward_launch.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/backward_wgmma/loading.cuh"
#include "attention_cuda/kernels/backward_wgmma/sums_of_dQ.cuh"
#include "attention_cuda/kernels/forward_wgmma/launch.cuh"

namespace flashlab::cuda {

/// Room for any of the tiles, and for bwd_onepass_mma_sm80, which runs tensors that this kernel cannot.
struct BwdWgmmaArrays {
  float *delta, *rounded_lse;
  int* next_key_tile;
  int* turns;  // null: none
  float* dQ_sums;
  std::size_t bytes;

  /// What is set to zero at once: the counters, and the sums of this many tiles behind them.
  std::span<std::byte> zeros(std::int64_t tiles, std::int64_t bytes_of_tile) const {
    auto* const sums = reinterpret_cast<std::byte*>(dQ_sums);
    return {reinterpret_cast<std::byte*>(next_key_tile), sums + tiles * bytes_of_tile};
  }
};

/// head_dim: of the sums of dQ. turns_of_tile: how many parts of a tile of dQ have turns of their own.
inline BwdWgmmaArrays bwd_wgmma_arrays(const AttentionProblem& problem,
                                       const ExecutionOptions& options, std::byte* memory,
                                       int head_dim, int turns_of_tile) {
  Workspace workspace(memory);
  const std::int64_t heads = problem.batch * problem.num_heads;
  constexpr std::int64_t kMostBlockQ = 128;
  float* const delta = workspace.take<float>(heads * problem.seqlen_q);
  float* const rounded_lse =
      options.round_statistics ? workspace.take<float>(heads * problem.seqlen_q) : nullptr;
  int* const counters = workspace.take<int>(
      bwd_wgmma_counters(heads, problem.seqlen_q, options.deterministic, turns_of_tile));
  float* const dQ_sums = workspace.take<float>(heads * ceil_div(problem.seqlen_q, kMostBlockQ) *
                                               kMostBlockQ * head_dim);
  // No memory: only its size is asked for.
  int* const turns = options.deterministic && memory != nullptr ? counters + 1 : nullptr;
  return {delta, rounded_lse, counters, turns, dQ_sums, workspace.bytes()};
}

/// For bulk copies of this many rows.
inline ptx::TensorMap map_of_rows(const TensorView& tensor, DataType dtype, int rows) {
  // Nothing is loaded from a tensor without elements, which has no map either.
  const bool is_empty = std::ranges::find(tensor.shape, 0) != tensor.shape.end();
  return is_empty ? ptx::TensorMap{} : ptx::make_tensor_map(tensor_layout(tensor, dtype, rows));
}

/// Whether queries see different numbers of keys.
inline bool has_limit(const AttentionProblem& problem) {
  return problem.mask != Mask::kNone || problem.window_right;
}

/// Groups of kv heads for blocks that take num_key_tiles K/V tiles. Under a mask, where these differ in
/// length, and if they take turns: as many heads as fill the GPU once. The longest tiles start first
/// then, and those that add to the same dQ start as far apart as the ones before them end. Under a mask
/// the last group has two to three times as many heads: so the last tiles of all are short ones, and
/// multiprocessors end at about the same time.
inline HeadGroups groups_of_kv_heads(const BackwardCall& call, std::int64_t num_key_tiles,
                                     int cluster_blocks) {
  const AttentionProblem& problem = call.problem;
  const std::int64_t heads = problem.batch * problem.num_kv_heads;
  if (num_key_tiles == 0 || !(has_limit(problem) || call.options.deterministic)) {
    return {1, static_cast<int>(heads)};
  }
  const std::int64_t blocks_of_head = num_key_tiles / heads * cluster_blocks,
                     together = ceil_div(num_multiprocessors(), blocks_of_head);
  const std::int64_t num_groups =
      has_limit(problem) ? heads / together - 1 : ceil_div(heads, together);
  return {static_cast<int>(together), static_cast<int>(std::max<std::int64_t>(num_groups, 1))};
}

using BwdWgmmaKernel = void (*)(const ptx::TensorMap, const ptx::TensorMap, const ptx::TensorMap,
                                const ptx::TensorMap, const BwdWgmmaArguments);

/// delta, the kernel of this configuration, and dQ.
template <class Config>
void launch_bwd_wgmma(const BackwardCall& call, std::string_view name, BwdWgmmaKernel kernel) {
  using Element = typename Config::Element;
  const AttentionProblem& problem = call.problem;
  const BackwardTensors& tensors = call.tensors;
  const BwdWgmmaArrays workspace = bwd_wgmma_arrays(problem, call.options, call.workspace,
                                                    Config::kHeadDim, Config::kTurnsOfTile);
  const std::int64_t num_q_tiles = ceil_div(problem.seqlen_q, Config::kBlockQ);
  const std::int64_t num_dQ_tiles = problem.batch * problem.num_heads * num_q_tiles;
  const auto arguments = begin_onepass<Element>(
      call, workspace,
      workspace.zeros(call.options.continues_dQ ? 0 : num_dQ_tiles, Config::kSumsBytes));
  const auto map = [&](const TensorView& tensor, int rows) {
    return map_of_rows(tensor, problem.dtype, rows);
  };
  const auto dQ = device_tensor<std::uint16_t>(tensors.dQ);
  const std::int64_t num_key_tiles =
      problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Config::kBlockKV);
  LaunchShape shape{Config::kClusterBlocks == 1
                        ? std::min<std::int64_t>(num_key_tiles, num_multiprocessors())
                        : num_key_tiles * Config::kClusterBlocks,
                    Config::kThreads, static_cast<std::size_t>(Config::kSharedBytes)};
  shape.cluster_blocks = Config::kClusterBlocks;
  shape.overlaps_previous = true;
  launch(
      call, name, kernel, shape, map(tensors.Q, Config::kBlockQ), map(tensors.K, Config::kOwnKeys),
      map(tensors.V, Config::kOwnKeys), map(tensors.dO, Config::kBlockQ),
      BwdWgmmaArguments{arguments.lse, device_tensor<std::uint16_t>(tensors.dK),
                        device_tensor<std::uint16_t>(tensors.dV), workspace.delta,
                        workspace.dQ_sums, arguments.sizes, arguments.mask, arguments.softmax_scale,
                        static_cast<int>(num_q_tiles), workspace.turns,
                        groups_of_kv_heads(call, num_key_tiles, Config::kClusterBlocks),
                        static_cast<int>(num_key_tiles), workspace.next_key_tile,
                        !has_limit(problem) && !call.options.deterministic, call.options.stop_flag,
                        static_cast<int>(call.options.first_query / Config::kBlockQ)});
  if (call.options.keeps_dQ) return;
  launch(call, "dQ_of_wgmma_sums", dQ_of_wgmma_sums_kernel<Config>,
         {num_dQ_tiles, Config::kPartsOfDQ * Config::kWarpgroup, 0, /*overlaps_previous=*/true}, dQ,
         static_cast<const float*>(workspace.dQ_sums), arguments.sizes, arguments.softmax_scale);
}

/// Why a kernel with bulk copies cannot run the tensors; nothing if it can.
inline std::optional<ProblemError> why_not_bwd_wgmma(std::string_view kernel,
                                                     const BackwardTensors& tensors) {
  return why_no_bulk_copies(kernel, {{"Q", &tensors.Q},
                                     {"K", &tensors.K},
                                     {"V", &tensors.V},
                                     {"dO", &tensors.dO},
                                     {"dQ", &tensors.dQ},
                                     {"dK", &tensors.dK},
                                     {"dV", &tensors.dV}});
}

}  // namespace flashlab::cuda
