// The time that no call can stay below: a measurement that does is wrong.
#pragma once

#include <optional>
#include <string_view>

#include "attention/problem.hpp"
#include "attention/variants.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {

/// What a GPU's data sheet promises: dense products of a type, and DRAM.
struct PeakRates {
  double flops_per_s = 0, bytes_per_s = 0;
};

/// From gpus/gpus.json, which has H200 for "NVIDIA H200 NVL"; nothing for a GPU that is not
/// there: the row of RTX 3090 is not that of "NVIDIA GeForce RTX 3090 Ti".
std::optional<PeakRates> peak_rates(std::string_view gpu_name, const Arithmetic& arithmetic);

/// All FLOPs at the peak rate, or all that a call must read from DRAM, whichever takes longer. Rows
/// that nobody sees need not be read, outputs may stay in L2.
double floor_ms(Pass pass, const AttentionProblem& problem, const PeakRates& rates);

}  // namespace flashlab::cuda
