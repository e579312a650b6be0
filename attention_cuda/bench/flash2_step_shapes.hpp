// The steps from flash2_mma_sm80 to flash2_wgmma_sm90.
#pragma once

#include "attention_cuda/kernels/flash2_wgmma_sm90.hpp"

namespace flashlab::bench {

/// Each has the ideas of those before it. The last one is the kernel of the library.
inline constexpr const char* kSteps[] = {"portable", "wgmma",           "overlap",
                                         "turns",    "maxima of three", "three stages"};
inline constexpr int kNumSteps = 6;

constexpr cuda::WgmmaShape shape_of_step(int head_dim, int step) {
  cuda::WgmmaShape shape = cuda::kWgmmaShapes[cuda::wgmma_index(head_dim)];
  shape.overlaps = step >= 2;
  shape.takes_turns = step >= 3;
  shape.compares_three = step >= 4;
  if (step < 5) shape.stages_k = shape.stages_v = 2;
  return shape;
}

/// A kernel with two stages does not have the last step.
constexpr int num_steps(int head_dim) {
  return cuda::kWgmmaShapes[cuda::wgmma_index(head_dim)].stages_k > 2 ? kNumSteps : kNumSteps - 1;
}

}  // namespace flashlab::bench
