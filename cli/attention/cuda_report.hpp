// The measurements of `flashlab attention --device cuda` as tables and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/attention/cuda_run.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

std::string measured_kernels_text(const std::vector<MeasuredKernel>& measured,
                                  const cuda::GpuInfo& gpu, const Terminal& terminal);
std::string breakdowns_text(const std::vector<KernelBreakdown>& breakdowns,
                            const Terminal& terminal);

nlohmann::ordered_json gpu_json(const cuda::GpuInfo& gpu);
nlohmann::ordered_json measured_kernels_json(const std::vector<MeasuredKernel>& measured);
nlohmann::ordered_json breakdowns_json(const std::vector<KernelBreakdown>& breakdowns);

}  // namespace flashlab::cli
