// bwd-twopass in bf16 and fp16 on compute capability 9.0: see bwd_twopass_wgmma_sm90.cuh.
#include <algorithm>
#include <optional>

#include "attention_cuda/kernels/backward_wgmma/launch.cuh"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.cuh"
#include "attention_cuda/kernels/bwd_twopass_wgmma_sm90.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kTwoPassWgmmaName = "bwd_twopass_wgmma_sm90";

struct TwoPassWgmmaArrays {
  float *delta, *rounded_lse;
  int* next_key_tile;
  std::size_t bytes;
};

/// Also for bwd_twopass_mma_sm80, which runs tensors that this kernel cannot.
TwoPassWgmmaArrays two_pass_wgmma_arrays(const AttentionProblem& problem,
                                         const ExecutionOptions& options, std::byte* memory) {
  Workspace workspace(memory);
  const std::int64_t queries = problem.batch * problem.num_heads * problem.seqlen_q;
  float* const delta = workspace.take<float>(queries);
  float* const rounded_lse = options.round_statistics ? workspace.take<float>(queries) : nullptr;
  int* const next_key_tile = workspace.take<int>(1);
  return {delta, rounded_lse, next_key_tile, workspace.bytes()};
}

std::size_t bwd_twopass_wgmma_workspace_bytes(const AttentionProblem& problem,
                                              const ExecutionOptions& options) {
  return two_pass_wgmma_arrays(problem, options, nullptr).bytes;
}

template <class Element, int kIndex>
void launch_two_passes(const BackwardCall& call) {
  using Queries = QueryPassConfig<Element, kQueryPassShapes[kIndex]>;
  using Keys = BwdWgmmaConfig<Element, kKeyPassShapes[kIndex], false>;
  const AttentionProblem& problem = call.problem;
  const BackwardTensors& tensors = call.tensors;
  const auto map = [&](const TensorView& tensor, int rows) {
    return map_of_rows(tensor, problem.dtype, rows);
  };
  const TwoPassWgmmaArrays workspace = two_pass_wgmma_arrays(problem, call.options, call.workspace);
  auto arguments = backward_arguments<Element>(call);
  launch_delta(call, arguments, workspace.delta, workspace.rounded_lse, workspace.next_key_tile);
  if (workspace.rounded_lse != nullptr) arguments = with_lse(arguments, workspace.rounded_lse);
  launch(
      call, "bwd_twopass_dQ_wgmma_sm90", bwd_twopass_dQ_wgmma_sm90_kernel<Queries>,
      {problem.batch * problem.num_heads * ceil_div(problem.seqlen_q, Queries::kBlockQ),
       Queries::kThreads, static_cast<std::size_t>(Queries::kSharedBytes)},
      map(tensors.Q, Queries::kBlockQ), map(tensors.K, Queries::kBlockKV),
      map(tensors.V, Queries::kBlockKV), map(tensors.dO, Queries::kBlockQ),
      QueryPassArguments{arguments.lse, device_tensor<std::uint16_t>(tensors.dQ), workspace.delta,
                         arguments.sizes, arguments.mask, arguments.softmax_scale});
  const auto num_q_tiles = static_cast<int>(ceil_div(problem.seqlen_q, Keys::kBlockQ));
  const std::int64_t num_key_tiles =
      problem.batch * problem.num_kv_heads * ceil_div(problem.seqlen_k, Keys::kBlockKV);
  const bool takes_several = problem.seqlen_q > 0;  // otherwise nothing has set the counter
  const std::int64_t num_blocks =
      takes_several ? std::min<std::int64_t>(num_key_tiles, num_multiprocessors()) : num_key_tiles;
  launch(call, "bwd_twopass_dKdV_wgmma_sm90", bwd_onepass_wgmma_sm90_kernel<Keys>,
         {num_blocks, Keys::kThreads, static_cast<std::size_t>(Keys::kSharedBytes)},
         map(tensors.Q, Keys::kBlockQ), map(tensors.K, Keys::kBlockKV),
         map(tensors.V, Keys::kBlockKV), map(tensors.dO, Keys::kBlockQ),
         BwdWgmmaArguments{
             arguments.lse, device_tensor<std::uint16_t>(tensors.dK),
             device_tensor<std::uint16_t>(tensors.dV), workspace.delta,
             /*dQ_sums=*/nullptr, arguments.sizes, arguments.mask, arguments.softmax_scale,
             num_q_tiles, /*turns=*/nullptr, groups_of_kv_heads(call, num_key_tiles, 1),
             static_cast<int>(num_key_tiles), takes_several ? workspace.next_key_tile : nullptr});
}

template <class Element>
void launch_two_passes_of(const BackwardCall& call) {
  two_pass_wgmma_index(call.problem.head_dim) == 0 ? launch_two_passes<Element, 0>(call)
                                                   : launch_two_passes<Element, 1>(call);
}

void launch_bwd_twopass_wgmma_sm90(const BackwardCall& call) {
  call.problem.dtype == DataType::kBFloat16 ? launch_two_passes_of<BFloat16>(call)
                                            : launch_two_passes_of<Float16>(call);
}

std::optional<ProblemError> why_not_bwd_twopass_wgmma(const BackwardTensors& tensors) {
  return why_not_bwd_wgmma(kTwoPassWgmmaName, tensors);
}

}  // namespace

extern const KernelRow bwd_twopass_wgmma_sm90;
const KernelRow bwd_twopass_wgmma_sm90 = {
    listed(kTwoPassWgmmaName),         nullptr, launch_bwd_twopass_wgmma_sm90,
    bwd_twopass_wgmma_workspace_bytes, nullptr, why_not_bwd_twopass_wgmma};

}  // namespace flashlab::cuda
