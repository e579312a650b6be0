// The kernels, in the order of detail/kernel_listings.hpp, which says what else a new one needs.
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {

extern const KernelRow naive, fused_softmax, three_pass, online, flash1, split_kv, flash2_fp32,
    flash2_mma_sm80, flash2_mma_tf32_sm80, bwd_naive, bwd_onepass_fp32, bwd_onepass_mma_sm80,
    bwd_onepass_mma_tf32_sm80, bwd_twopass_fp32, bwd_twopass_mma_sm80, bwd_twopass_mma_tf32_sm80;

std::span<const KernelRow* const> kernels() {
  static constexpr const KernelRow* kRows[] = {&naive,
                                               &fused_softmax,
                                               &three_pass,
                                               &online,
                                               &flash1,
                                               &flash2_fp32,
                                               &flash2_mma_sm80,
                                               &flash2_mma_tf32_sm80,
                                               &split_kv,
                                               &bwd_naive,
                                               &bwd_onepass_fp32,
                                               &bwd_onepass_mma_sm80,
                                               &bwd_onepass_mma_tf32_sm80,
                                               &bwd_twopass_fp32,
                                               &bwd_twopass_mma_sm80,
                                               &bwd_twopass_mma_tf32_sm80};
  return kRows;
}

}  // namespace flashlab::cuda
