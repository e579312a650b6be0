// flash2 forward for fp32 tensors by three fp16 products on compute capability 9.0: see
// flash2_fp16x3_sm90.cuh.
#include <cmath>
#include <cstdint>
#include <numbers>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/head_groups.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/flash2_fp16x3_sm90.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

Fp16x3Parts fp16x3_parts_in(Workspace& workspace, const AttentionProblem& problem,
                            const Fp16x3Shape& shape) {
  const std::int64_t q_rows = problem.batch * problem.num_heads * problem.seqlen_q,
                     k_rows = problem.batch * problem.num_kv_heads * problem.seqlen_k;
  Fp16x3Parts parts = {};
  parts.Q = workspace.take<std::uint32_t>(q_rows * shape.head_dim());
  parts.K = workspace.take<std::uint32_t>(k_rows * shape.head_dim());
  parts.V = workspace.take<std::uint32_t>(k_rows * shape.head_dim());
  parts.query_scales = workspace.take<float>(q_rows);
  parts.tile_scales =
      workspace.take<float>(Fp16x3SplitBlocks(problem, shape).of_K * shape.num_scales());
  return parts;
}

std::size_t fp16x3_workspace_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  Workspace workspace;
  fp16x3_parts_in(workspace, problem, kFp16x3Shapes[fp16x3_index(problem.head_dim)]);
  return workspace.bytes();
}

template <int kHeadDim>
void launch_fp16x3(const ForwardCall& call) {
  using Config = Fp16x3Config<kHeadDim>;
  const AttentionProblem& problem = call.problem;
  const auto tensors = forward_arguments<float>(call);
  Workspace workspace(call.workspace);
  const Fp16x3Parts parts = fp16x3_parts_in(workspace, problem, Config::kSplit);
  const Fp16x3SplitBlocks blocks(problem, Config::kSplit);
  const double factor = problem.softmax_scale * std::numbers::log2e;
  const auto rounded = static_cast<float>(factor);
  const Fp16x3SplitArguments split = {tensors.Q,
                                      tensors.K,
                                      tensors.V,
                                      tensors.sizes,
                                      tensors.mask,
                                      rounded,
                                      static_cast<float>(factor - static_cast<double>(rounded)),
                                      parts,
                                      static_cast<int>(blocks.of_Q),
                                      static_cast<int>(blocks.of_K)};
  launch(call, "flash2_fp16x3_split", flash2_fp16x3_split_kernel<Config::kDim, Config::kBlockKV>,
         {blocks.all(), Fp16x3Shape::kSplitThreads, Fp16x3Shape::kSplitSharedBytes}, split);

  const auto map = [&](std::uint32_t* data, std::int64_t heads, std::int64_t rows, int box_rows) {
    return map_of_parts(data, problem.batch, heads, rows, Config::kHeadDim, box_rows);
  };
  const WgmmaSchedule schedule =
      wgmma_schedule(problem, Config::kShape, call.key_lengths != nullptr, num_multiprocessors());
  constexpr std::int64_t kFewestHeadsTogether = 4;  // as flash2_wgmma_sm90
  Fp16x3Arguments arguments = {};
  arguments.wgmma.lse = tensors.lse;
  arguments.wgmma.sizes = tensors.sizes;
  arguments.wgmma.mask = tensors.mask;
  arguments.wgmma.units =
      PlaceOrder(problem, heads_together(problem, kFewestHeadsTogether), schedule.units_of_head);
  arguments.wgmma.num_q_tiles = static_cast<int>(schedule.num_q_tiles);
  arguments.wgmma.is_paired = schedule.is_paired;
  arguments.O = tensors.O;
  arguments.query_scales = parts.query_scales;
  arguments.tile_scales = parts.tile_scales;
  arguments.has_aligned_O = tensors.O.has_aligned_rows(tensors.sizes.head_dim);
  launch(call, "flash2_fp16x3_sm90", flash2_fp16x3_sm90_kernel<Config>,
         {schedule.num_blocks, Config::kThreads, static_cast<std::size_t>(Config::kSharedBytes),
          /*overlaps_previous=*/true},
         map(parts.Q, problem.num_heads, problem.seqlen_q, WgmmaShape::kRowsOfWarpgroup),
         map(parts.K, problem.num_kv_heads, problem.seqlen_k, Config::kBlockKV),
         map(parts.V, problem.num_kv_heads, problem.seqlen_k, Config::kBlockKV), arguments);
}

void launch_flash2_fp16x3_sm90(const ForwardCall& call) {
  fp16x3_index(call.problem.head_dim) == 0 ? launch_fp16x3<64>(call) : launch_fp16x3<128>(call);
}

}  // namespace

extern const KernelRow flash2_fp16x3_sm90;
const KernelRow flash2_fp16x3_sm90 = {listed("flash2_fp16x3_sm90"), launch_flash2_fp16x3_sm90,
                                      nullptr, fp16x3_workspace_bytes};

}  // namespace flashlab::cuda
