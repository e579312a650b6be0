// bwd-onepass in bf16 and fp16 on compute capability 9.0: see bwd_onepass_wgmma_sm90.cuh.
#include <optional>

#include "attention_cuda/kernels/backward_wgmma/launch.cuh"
#include "attention_cuda/kernels/bwd_onepass_wgmma_sm90.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

constexpr std::string_view kBwdWgmmaName = "bwd_onepass_wgmma_sm90";

std::size_t bwd_onepass_wgmma_workspace_bytes(const AttentionProblem& problem,
                                              const ExecutionOptions& options) {
  const BwdWgmmaShape& shape = kBwdWgmmaShapes[bwd_wgmma_index(problem.head_dim)];
  return bwd_wgmma_arrays(problem, options, nullptr, shape.head_dim, 1).bytes;
}

template <class Element, int kIndex>
void launch_bwd_shape(const BackwardCall& call) {
  using Config = BwdWgmmaConfig<Element, kBwdWgmmaShapes[kIndex]>;
  launch_bwd_wgmma<Config>(call, kBwdWgmmaName, bwd_onepass_wgmma_sm90_kernel<Config>);
}

template <class Element>
void launch_bwd_head_dim(const BackwardCall& call) {
  switch (bwd_wgmma_index(call.problem.head_dim)) {
    case 0:
      return launch_bwd_shape<Element, 0>(call);
    case 1:
      return launch_bwd_shape<Element, 1>(call);
    default:
      return launch_bwd_shape<Element, 2>(call);
  }
}

void launch_bwd_onepass_wgmma_sm90(const BackwardCall& call) {
  call.problem.dtype == DataType::kBFloat16 ? launch_bwd_head_dim<BFloat16>(call)
                                            : launch_bwd_head_dim<Float16>(call);
}

std::optional<ProblemError> why_not_bwd_onepass_wgmma(const BackwardTensors& tensors) {
  return why_not_bwd_wgmma(kBwdWgmmaName, tensors);
}

}  // namespace

extern const KernelRow bwd_onepass_wgmma_sm90;
const KernelRow bwd_onepass_wgmma_sm90 = {listed(kBwdWgmmaName),
                                          nullptr,
                                          launch_bwd_onepass_wgmma_sm90,
                                          bwd_onepass_wgmma_workspace_bytes,
                                          nullptr,
                                          why_not_bwd_onepass_wgmma};

}  // namespace flashlab::cuda
