// The launches of bwd_twopass_loads_o_fp32.cu.
#pragma once

#include "attention_cuda/kernels/bwd_twopass_fp32.hpp"

namespace flashlab::cuda {

/// Those of bwd_twopass_fp32 without the one for delta. The toy program loads delta, too: one number
/// per query, where the kernel loads none.
inline Launches bwd_twopass_loads_o_fp32_launches(const TilesRequest& request) {
  return {bwd_twopass_fp32_query_pass("bwd_twopass_loads_o_fp32_dQ_kernel", request),
          fp32_key_pass("bwd_twopass_loads_o_fp32_dKV_kernel", "dK and dV", false, request)};
}

}  // namespace flashlab::cuda
