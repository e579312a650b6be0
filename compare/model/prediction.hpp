// From what a kernel must do and a machine's rates to a time, without a look at any attention
// kernel's own timings: every rate is a data sheet's or a calibration's.
//
//   DRAM         2 min(read, written) at the rate of a copy, what is left at that of reading
//   SM           bytes between L2 and the multiprocessors; a machine without such a rate: left out
//   products     FLOPs at the rate of the unit that multiplies this type
//   elementwise  maxima, sums, factors; divisions at their own rate where it was measured
//   exp          exponentials and logarithms
//   launches     each launch costs what an empty kernel does
#pragma once

#include <span>

#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// Of one step: products of this type, on all multiprocessors but for `fill`.
Prediction predict(const Step& step, const MachineModel& machine, std::string_view dtype,
                   std::string_view products, bool is_causal);

/// One step after the other; `bound` and `fill` are the longest one's.
Prediction in_turn(std::span<const Step> steps);

/// Share of the multiprocessors that have a block to work on, over the time of one launch: all
/// blocks take equally long and each multiprocessor has as many as the next one, or one more. Under
/// a causal mask the long blocks go first and the short ones fill the gaps: only too few blocks for
/// all multiprocessors count.
double fill_of(std::int64_t num_blocks, std::int64_t num_sms, bool is_causal);

}  // namespace flashlab::compare
