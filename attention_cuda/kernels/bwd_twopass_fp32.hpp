// The launches of bwd_twopass_fp32.cu.
#pragma once

#include <string_view>

#include "attention_cuda/detail/backward_launches.hpp"
#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/detail/backward_works.hpp"

namespace flashlab::cuda {

inline LaunchTiles bwd_twopass_fp32_query_pass(std::string_view name, const TilesRequest& request) {
  const BackwardFp32Shape shape = {padded_head_dim(request.problem.head_dim)};
  LaunchTiles launch =
      for_dQ(backward_tiles(name, "dQ", shape.block(), shape.block(),
                            BackwardFp32Shape::kNumThreads, shape.query_pass_bytes()),
             request);
  launch.block_work = fp32_query_work(shape);
  return launch;
}

inline Launches bwd_twopass_fp32_launches(const TilesRequest& request) {
  return {delta_launch(request), bwd_twopass_fp32_query_pass("bwd_twopass_fp32_dQ_kernel", request),
          fp32_key_pass("bwd_twopass_fp32_dKV_kernel", "dK and dV", false, request)};
}

}  // namespace flashlab::cuda
