// The minimum time of a call: a shorter measurement is wrong.
#pragma once

#include <optional>
#include <string_view>

#include "attention/problem.hpp"
#include "attention/variants.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::cuda {

/// Peak rates of a GPU's data sheet: dense products of a type, and DRAM.
struct PeakRates {
  double flops_per_s = 0, bytes_per_s = 0;
};

/// Returns the rates from gpu/sheets/gpus.json. Nothing for a GPU without a row, by the rule of
/// gpu/sheets/device_name.hpp.
std::optional<PeakRates> peak_rates(std::string_view gpu_name, const Arithmetic& arithmetic);

/// Returns the time of all FLOPs at the peak rate, or of all bytes that a call must read from DRAM,
/// whichever is longer. Rows that no query sees need not be read; outputs may stay in L2.
double floor_ms(Pass pass, const AttentionProblem& problem, const PeakRates& rates);

}  // namespace flashlab::cuda
