// bwd-onepass in bf16 and fp16 on compute capability 9.0: see bwd_onepass_wgmma_sm90.cuh.
#include <algorithm>
#include <optional>

#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.cuh"
#include "attention_cuda/kernels/flash2_wgmma_launch.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

/// One block converts a tile of sums into rows of dQ.
template <class Config>
__global__ void __launch_bounds__(Config::kComputing* Config::kWarpgroup)
    dQ_of_wgmma_sums_kernel(DeviceTensor<std::uint16_t> dQ, const float* dQ_sums, const Sizes sizes,
                            float softmax_scale) {
  const auto num_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, Config::kBlockQ));
  const Place place = place_of(blockIdx.x, num_tiles, sizes);
  const int thread = static_cast<int>(threadIdx.x), warpgroup = thread / Config::kWarpgroup;
  const auto* const from =
      reinterpret_cast<const float4*>(dQ_sums +
                                      (std::int64_t{blockIdx.x} * Config::kComputing + warpgroup) *
                                          Config::kSumsOfWarpgroup) +
      thread % Config::kWarpgroup;
  float sums[Config::kColumnsOfDQ / 2];
#pragma unroll
  for (int i = 0; i < Config::kColumnsOfDQ / 8; ++i) {
    const float4 four = from[i * Config::kWarpgroup];
    sums[4 * i] = four.x;
    sums[4 * i + 1] = four.y;
    sums[4 * i + 2] = four.z;
    sums[4 * i + 3] = four.w;
  }
  const int first_chunk = Config::kDividesColumns ? warpgroup * Config::kColumnsOfDQ / 8 : 0;
  const int first_row = place.part * Config::kBlockQ +
                        (Config::kDividesColumns ? 0 : warpgroup * BwdWgmmaShape::kRowsOfWarpgroup);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread % Config::kWarpgroup / 32 * 16 + thread % 32 / 4 + 8 * r;
    store_row_of_sums<typename Config::Element>(dQ.row(place.b, place.h, row) + 8 * first_chunk,
                                                row < sizes.seqlen_q, sums, r, softmax_scale,
                                                sizes.head_dim / 8 - first_chunk, thread % 32);
  }
}

namespace {

/// Room for any of the tiles, and for bwd_onepass_mma_sm80, which runs tensors that this kernel cannot.
struct BwdWgmmaArrays {
  float *delta, *rounded_lse, *dQ_sums;
  std::size_t bytes;
};

BwdWgmmaArrays bwd_wgmma_arrays(const AttentionProblem& problem, const ExecutionOptions& options,
                                std::byte* memory) {
  Workspace workspace(memory);
  const std::int64_t heads = problem.batch * problem.num_heads;
  constexpr std::int64_t kMostBlockQ = 128;
  float* const delta = workspace.take<float>(heads * problem.seqlen_q);
  float* const rounded_lse =
      options.round_statistics ? workspace.take<float>(heads * problem.seqlen_q) : nullptr;
  float* const dQ_sums =
      workspace.take<float>(heads * ceil_div(problem.seqlen_q, kMostBlockQ) * kMostBlockQ *
                            kBwdWgmmaShapes[bwd_wgmma_index(problem.head_dim)].head_dim);
  return {delta, rounded_lse, dQ_sums, workspace.bytes()};
}

std::size_t bwd_onepass_wgmma_workspace_bytes(const AttentionProblem& problem,
                                              const ExecutionOptions& options) {
  return bwd_wgmma_arrays(problem, options, nullptr).bytes;
}

template <class Element, BwdWgmmaShape kShape>
void launch_bwd_wgmma(const BackwardCall& call) {
  using Config = BwdWgmmaConfig<Element, kShape>;
  const AttentionProblem& problem = call.problem;
  const BackwardTensors& tensors = call.tensors;
  const BwdWgmmaArrays workspace = bwd_wgmma_arrays(problem, call.options, call.workspace);
  auto arguments = backward_arguments<Element>(call);
  launch_delta(call, arguments, workspace.delta, workspace.rounded_lse);
  if (workspace.rounded_lse != nullptr) arguments = with_lse(arguments, workspace.rounded_lse);

  const std::int64_t num_q_tiles = ceil_div(problem.seqlen_q, Config::kBlockQ);
  const std::int64_t num_dQ_tiles = problem.batch * problem.num_heads * num_q_tiles;
  if (num_dQ_tiles > 0) {
    const Step step(call, "dQ sums to zero");
    check_cuda(cudaMemsetAsync(workspace.dQ_sums, 0,
                               static_cast<std::size_t>(num_dQ_tiles * Config::kShape.sums_bytes()),
                               call.options.stream),
               "cudaMemsetAsync(dQ sums)");
  }
  const auto map = [&](const TensorView& tensor, int rows) {
    // Nothing is loaded from a tensor without elements, which has no map either.
    const bool is_empty = std::ranges::find(tensor.shape, 0) != tensor.shape.end();
    return is_empty ? ptx::TensorMap{}
                    : ptx::make_tensor_map(tensor_layout(tensor, problem.dtype, rows));
  };
  const auto dQ = device_tensor<std::uint16_t>(tensors.dQ);
  launch(call, "bwd_onepass_wgmma_sm90", bwd_onepass_wgmma_sm90_kernel<Config>,
         {problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Config::kBlockKV),
          Config::kThreads, static_cast<std::size_t>(Config::kSharedBytes)},
         map(tensors.Q, Config::kBlockQ), map(tensors.K, Config::kBlockKV),
         map(tensors.V, Config::kBlockKV), map(tensors.dO, Config::kBlockQ),
         BwdWgmmaArguments{arguments.lse, device_tensor<std::uint16_t>(tensors.dK),
                           device_tensor<std::uint16_t>(tensors.dV), workspace.delta,
                           workspace.dQ_sums, arguments.sizes, arguments.mask,
                           arguments.softmax_scale, static_cast<int>(num_q_tiles)});
  launch(call, "dQ_of_wgmma_sums", dQ_of_wgmma_sums_kernel<Config>,
         {num_dQ_tiles, Config::kComputing * Config::kWarpgroup}, dQ,
         static_cast<const float*>(workspace.dQ_sums), arguments.sizes, arguments.softmax_scale);
}

template <class Element>
void launch_bwd_head_dim(const BackwardCall& call) {
  bwd_wgmma_index(call.problem.head_dim) == 0 ? launch_bwd_wgmma<Element, kBwdWgmmaShapes[0]>(call)
                                              : launch_bwd_wgmma<Element, kBwdWgmmaShapes[1]>(call);
}

void launch_bwd_onepass_wgmma_sm90(const BackwardCall& call) {
  call.problem.dtype == DataType::kBFloat16 ? launch_bwd_head_dim<BFloat16>(call)
                                            : launch_bwd_head_dim<Float16>(call);
}

std::optional<ProblemError> why_not_bwd_wgmma(const BackwardTensors& tensors) {
  return why_no_bulk_copies("bwd_onepass_wgmma_sm90", {{"Q", &tensors.Q},
                                                       {"K", &tensors.K},
                                                       {"V", &tensors.V},
                                                       {"dO", &tensors.dO},
                                                       {"dQ", &tensors.dQ},
                                                       {"dK", &tensors.dK},
                                                       {"dV", &tensors.dV}});
}

}  // namespace

extern const KernelRow bwd_onepass_wgmma_sm90;
const KernelRow bwd_onepass_wgmma_sm90 = {
    listed("bwd_onepass_wgmma_sm90"),  nullptr, launch_bwd_onepass_wgmma_sm90,
    bwd_onepass_wgmma_workspace_bytes, nullptr, why_not_bwd_wgmma};

}  // namespace flashlab::cuda
