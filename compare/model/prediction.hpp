// Predicts a kernel's time from its work and a machine's rates. Every rate comes from a data sheet
// or a calibration; no attention kernel's own timing is used.
//
//   DRAM         2 min(read, written) at the copy rate, the rest at the read rate
//   SM           bytes between L2 and the multiprocessors; ignored if the machine has no such rate
//   products     FLOPs at the rate of the unit that multiplies this type
//   elementwise  maxima, sums, factors; divisions at their own rate if it was measured
//   exp          exponentials and logarithms
//   launches     each launch costs as much as an empty kernel
#pragma once

#include <span>

#include "attention_cuda/tiles.hpp"
#include "compare/model/tile_time.hpp"
#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// Predicts one step with products of this type, by this instruction if one is named (as in
/// MachineModel::product_rate). `fill` accounts for idle multiprocessors.
Prediction predict(const Step& step, const MachineModel& machine, std::string_view dtype,
                   std::string_view products, bool is_causal, std::string_view instruction = {});

/// Predicts one step from the work of its blocks as well, if the launch describes it
/// and what the GPU does per clock is known (tile_time.hpp).
Prediction predict_launch(const Step& step, const cuda::LaunchTiles& launch,
                          const MachineModel& machine, const TileTimeRequest& request,
                          std::string_view instruction = {});

/// Adds steps that run one after another. `bound` and `fill` are those of the longest step.
Prediction in_turn(std::span<const Step> steps);

/// Returns the mean share of the multiprocessors that have a block, over the time of one launch.
/// All blocks take equally long, and the numbers of blocks per multiprocessor differ by at most
/// one. Under a causal mask the long blocks start first and the short ones fill the gaps. Then the
/// share is below 1 only if there are fewer blocks than multiprocessors.
double fill_of(std::int64_t num_blocks, std::int64_t num_sms, bool is_causal);

}  // namespace flashlab::compare
