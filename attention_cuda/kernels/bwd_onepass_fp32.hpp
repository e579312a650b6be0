// The launches of bwd_onepass_fp32.cu.
#pragma once

#include "attention_cuda/detail/backward_launches.hpp"
#include "attention_cuda/detail/backward_tile_shapes.hpp"

namespace flashlab::cuda {

inline Launches bwd_onepass_fp32_launches(const TilesRequest& request) {
  LaunchTiles zero;
  zero.name = "zero_dQ_kernel";
  zero.toy_pass = "Zero";
  zero.num_threads = BackwardFp32Shape::kZeroThreads;
  zero.num_blocks =
      num_tiles(request.rows() * request.problem.head_dim, BackwardFp32Shape::kZeroThreads);
  return {delta_launch(request), zero,
          fp32_key_pass("bwd_onepass_fp32_kernel", "Gradients", true, request)};
}

}  // namespace flashlab::cuda
