// bwd-onepass for fp32 tensors by three fp16 products on compute capability 9.0: see
// bwd_onepass_fp16x3_sm90.cuh.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/backward_wgmma/fp16x3_split.cuh"
#include "attention_cuda/kernels/backward_wgmma/launch.cuh"
#include "attention_cuda/kernels/bwd_onepass_fp16x3_sm90.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

using BwdConfig = BwdFp16x3Config;

/// Parts: [batch, heads, rows, 2 kDim] of fp16, two per number here. Scales: [batch, heads, rows].
struct BwdFp16x3Arrays {
  std::uint32_t *Q, *dO, *K, *V;
  float *Q_scales, *dO_scales, *K_scales, *V_scales;
  float* delta;
  float* rounded_lse;  // null: fp32 stays fp32
  int* next_key_tile;
  float* dQ_sums;
  std::size_t bytes;
};

std::int64_t num_dQ_tiles(const AttentionProblem& problem) {
  return problem.batch * problem.num_heads * num_tiles(problem.seqlen_q, BwdConfig::kBlockQ);
}

BwdFp16x3Arrays bwd_fp16x3_arrays(const AttentionProblem& problem, std::byte* memory) {
  Workspace workspace(memory);
  const std::int64_t q_rows = problem.batch * problem.num_heads * problem.seqlen_q,
                     k_rows = problem.batch * problem.num_kv_heads * problem.seqlen_k;
  BwdFp16x3Arrays arrays = {};
  arrays.Q = workspace.take<std::uint32_t>(q_rows * BwdConfig::kDim);
  arrays.dO = workspace.take<std::uint32_t>(q_rows * BwdConfig::kDim);
  arrays.K = workspace.take<std::uint32_t>(k_rows * BwdConfig::kDim);
  arrays.V = workspace.take<std::uint32_t>(k_rows * BwdConfig::kDim);
  arrays.Q_scales = workspace.take<float>(q_rows);
  arrays.dO_scales = workspace.take<float>(q_rows);
  arrays.K_scales = workspace.take<float>(k_rows);
  arrays.V_scales = workspace.take<float>(k_rows);
  arrays.delta = workspace.take<float>(q_rows);
  arrays.next_key_tile = workspace.take<int>(1);
  arrays.dQ_sums = workspace.take<float>(num_dQ_tiles(problem) * BwdConfig::kSumsOfPart);
  arrays.bytes = workspace.bytes();
  return arrays;
}

std::size_t bwd_fp16x3_workspace_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  return bwd_fp16x3_arrays(problem, nullptr).bytes;
}

void split_rows(const BackwardCall& call, const BackwardArguments<float>& tensors,
                const BwdFp16x3Arrays& arrays) {
  const BwdFp16x3SplitBlocks blocks(call.problem);
  const double factor = call.problem.softmax_scale * std::numbers::log2e;
  const auto rounded = static_cast<float>(factor);
  const Sizes& sizes = tensors.sizes;
  const auto of_queries = [&](const DeviceTensor<const float>& rows, float times, float rest,
                              std::uint32_t* parts, float* scales) {
    return BwdFp16x3Split{rows,  sizes.num_heads, sizes.seqlen_q, static_cast<int>(blocks.of_Q),
                          false, times,           rest,           parts,
                          scales};
  };
  const auto of_keys = [&](const DeviceTensor<const float>& rows, std::uint32_t* parts,
                           float* scales) {
    return BwdFp16x3Split{
        rows,  sizes.num_kv_heads, sizes.seqlen_k, static_cast<int>(blocks.of_K), true, 1, 0, parts,
        scales};
  };
  const BwdFp16x3SplitArguments arguments = {
      {of_queries(tensors.Q, rounded, static_cast<float>(factor - static_cast<double>(rounded)),
                  arrays.Q, arrays.Q_scales),
       of_queries(tensors.dO, 1, 0, arrays.dO, arrays.dO_scales),
       of_keys(tensors.K, arrays.K, arrays.K_scales),
       of_keys(tensors.V, arrays.V, arrays.V_scales)},
      sizes,
      tensors.mask};
  launch(call, "bwd_fp16x3_split", bwd_fp16x3_split_kernel<BwdConfig::kDim>,
         {blocks.all(), Fp16x3Shape::kSplitThreads}, arguments);
}

/// One block turns a tile of sums into rows of dQ. The order of the sums: BwdFp16x3Computing::add_dQ.
__global__ void __launch_bounds__(BwdConfig::kWarpgroup)
    dQ_of_fp16x3_sums_kernel(DeviceTensor<float> dQ, const float* dQ_sums, const float* dO_scales,
                             const Sizes sizes, float softmax_scale) {
  ptx::wait_for_previous_kernels();  // the sums are complete
  const auto tiles_of_head = static_cast<int>(ceil_div(sizes.seqlen_q, BwdConfig::kBlockQ));
  const Place place = place_of(blockIdx.x, tiles_of_head, sizes);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int first_row = place.part * BwdConfig::kBlockQ + thread / 32 * 16 + lane / 4;
  const std::int64_t head = std::int64_t{place.b} * sizes.num_heads + place.h;
  float factors[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + 8 * r;
    factors[r] = row < sizes.seqlen_q ? dO_scales[head * sizes.seqlen_q + row] * softmax_scale : 0;
  }
  const auto* const from =
      reinterpret_cast<const float4*>(dQ_sums + std::int64_t{blockIdx.x} * BwdConfig::kSumsOfPart) +
      thread;
#pragma unroll
  for (int i = 0; i < BwdConfig::kDim / 8; ++i) {
    const float4 four = from[i * BwdConfig::kWarpgroup];
    const float sums[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = first_row + 8 * (j / 2), column = 8 * i + 2 * (lane % 4) + j % 2;
      if (row >= sizes.seqlen_q || column >= sizes.head_dim) continue;
      dQ.row(place.b, place.h, row)[column * dQ.column_stride] = sums[j] * factors[j / 2];
    }
  }
}

void launch_bwd_onepass_fp16x3_sm90(const BackwardCall& call) {
  const AttentionProblem& problem = call.problem;
  const BwdFp16x3Arrays arrays = bwd_fp16x3_arrays(problem, call.workspace);
  const std::int64_t dQ_tiles = num_dQ_tiles(problem);
  const auto tensors = begin_onepass<float>(
      call, arrays,
      {reinterpret_cast<std::byte*>(arrays.next_key_tile),
       reinterpret_cast<std::byte*>(arrays.dQ_sums + dQ_tiles * BwdConfig::kSumsOfPart)});
  split_rows(call, tensors, arrays);

  const auto map = [&](std::uint32_t* parts, std::int64_t heads, std::int64_t rows, int box_rows) {
    return map_of_parts(parts, problem.batch, heads, rows, BwdConfig::kHeadDim, box_rows);
  };
  const std::int64_t num_key_tiles =
      problem.batch * problem.num_kv_heads * num_tiles(problem.seqlen_k, BwdConfig::kBlockKV);
  BwdFp16x3Arguments arguments = {};
  arguments.wgmma.lse = tensors.lse;
  arguments.wgmma.delta = arrays.delta;
  arguments.wgmma.dQ_sums = arrays.dQ_sums;
  arguments.wgmma.sizes = tensors.sizes;
  arguments.wgmma.mask = tensors.mask;
  arguments.wgmma.num_q_tiles = static_cast<int>(num_tiles(problem.seqlen_q, BwdConfig::kBlockQ));
  arguments.wgmma.groups = groups_of_kv_heads(call, num_key_tiles, 1);
  arguments.wgmma.num_key_tiles = static_cast<int>(num_key_tiles);
  arguments.wgmma.next_key_tile = arrays.next_key_tile;
  arguments.wgmma.staggers = !has_limit(problem);
  arguments.dK = tensors.dK;
  arguments.dV = tensors.dV;
  arguments.Q_scales = arrays.Q_scales;
  arguments.dO_scales = arrays.dO_scales;
  arguments.K_scales = arrays.K_scales;
  arguments.V_scales = arrays.V_scales;
  launch(call, "bwd_onepass_fp16x3_sm90", bwd_onepass_fp16x3_sm90_kernel,
         {std::min<std::int64_t>(num_key_tiles, num_multiprocessors()), BwdConfig::kThreads,
          static_cast<std::size_t>(BwdConfig::kSharedBytes), /*overlaps_previous=*/true},
         map(arrays.Q, problem.num_heads, problem.seqlen_q, BwdConfig::kBlockQ),
         map(arrays.K, problem.num_kv_heads, problem.seqlen_k, BwdConfig::kBlockKV),
         map(arrays.V, problem.num_kv_heads, problem.seqlen_k, BwdConfig::kBlockKV),
         map(arrays.dO, problem.num_heads, problem.seqlen_q, BwdConfig::kBlockQ), arguments);
  launch(call, "dQ_of_fp16x3_sums", dQ_of_fp16x3_sums_kernel,
         {dQ_tiles, BwdConfig::kWarpgroup, 0, /*overlaps_previous=*/true}, tensors.dQ,
         static_cast<const float*>(arrays.dQ_sums), static_cast<const float*>(arrays.dO_scales),
         tensors.sizes, tensors.softmax_scale);
}

}  // namespace

extern const KernelRow bwd_onepass_fp16x3_sm90;
const KernelRow bwd_onepass_fp16x3_sm90 = {listed("bwd_onepass_fp16x3_sm90"), nullptr,
                                           launch_bwd_onepass_fp16x3_sm90,
                                           bwd_fp16x3_workspace_bytes};

}  // namespace flashlab::cuda
