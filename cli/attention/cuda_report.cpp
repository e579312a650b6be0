#include "cli/attention/cuda_report.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "attention_cuda/kernel_listing.hpp"
#include "cli/attention/report.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"

namespace flashlab::cli {
namespace {

std::string percent_of(double part, double whole) {
  return whole > 0 ? fixed_text(100 * part / whole, 0) + " %" : "";
}

std::string peak_text(const std::vector<MeasuredKernel>& measured, const cuda::GpuInfo& gpu) {
  if (measured.empty() || !measured.front().peak) {
    return "gpu/sheets/gpus.json has no rates of " + gpu.name +
           ": no share of the peak is known, and no time was compared with a floor";
  }
  const cuda::PeakRates& peak = *measured.front().peak;
  return "peak: " + fixed_text(peak.flops_per_s / 1e12, 0) + " TFLOP/s and " +
         fixed_text(peak.bytes_per_s / 1e12, 1) +
         " TB/s, by the data sheet; no time is below the floor that these set";
}

}  // namespace

std::string measured_kernels_text(const std::vector<MeasuredKernel>& measured,
                                  const cuda::GpuInfo& gpu, const Terminal& terminal) {
  TextTable table({{"kernel"},
                   {"median ms", Align::kRight},
                   {"min", Align::kRight},
                   {"max", Align::kRight},
                   {"TFLOP/s", Align::kRight},
                   {"of peak", Align::kRight},
                   {"workspace", Align::kRight}});
  for (const MeasuredKernel& row : measured) {
    const double rate = row.flops_per_s();
    table.row({row.kernel, fixed_text(row.samples.median(), 3), fixed_text(row.samples.least(), 3),
               fixed_text(row.samples.most(), 3), short_text(rate / 1e12, 3),
               percent_of(rate, row.peak ? row.peak->flops_per_s : 0),
               byte_text(static_cast<std::int64_t>(row.workspace_bytes))});
  }
  return table.to_string(terminal) + "\n" + in_lines(peak_text(measured, gpu), terminal);
}

std::string breakdowns_text(const std::vector<KernelBreakdown>& breakdowns,
                            const Terminal& terminal) {
  TextTable table({{"variant"},
                   {"kernel"},
                   {"calls", Align::kRight},
                   {"ms", Align::kRight},
                   {"share", Align::kRight}});
  for (const KernelBreakdown& breakdown : breakdowns) {
    if (!table.empty()) table.rule();
    std::string variant = breakdown.variant;
    for (const cuda::KernelTotal& launch : breakdown.launches) {
      table.row({std::exchange(variant, ""), launch.kernel, std::to_string(launch.num_calls),
                 fixed_text(launch.ms, 4), percent_of(launch.ms, breakdown.total_ms())});
    }
    table.row({variant, "together", "", fixed_text(breakdown.total_ms(), 4), ""});
  }
  return table.to_string(terminal) + "\n" +
         in_lines("ms: the median, of all calls of a kernel together", terminal);
}

nlohmann::ordered_json gpu_json(const cuda::GpuInfo& gpu) {
  return {{"name", gpu.name},
          {"compute_capability", cuda::compute_capability_text(gpu.compute_capability)},
          {"multiprocessors", gpu.num_multiprocessors},
          {"memory_bytes", gpu.memory_bytes},
          {"cuda_of_driver", cuda::cuda_version_text(gpu.driver_version)},
          {"cuda", cuda::cuda_version_text(gpu.runtime_version)}};
}

nlohmann::ordered_json measured_kernels_json(const std::vector<MeasuredKernel>& measured) {
  nlohmann::ordered_json variants = nlohmann::ordered_json::array();
  for (const MeasuredKernel& row : measured) {
    std::vector<double> seconds = row.samples.ms;
    for (double& sample : seconds) sample *= 1e-3;
    nlohmann::ordered_json object = {{"variant", row.variant},
                                     {"kernel", row.kernel},
                                     {"median_seconds", 1e-3 * row.samples.median()},
                                     {"seconds", seconds},
                                     {"flops", row.flops},
                                     {"flops_per_s", row.flops_per_s()},
                                     {"workspace_bytes", row.workspace_bytes}};
    if (row.peak) {
      object["peak_flops_per_s"] = row.peak->flops_per_s;
      object["floor_seconds"] = 1e-3 * row.floor_ms;
    }
    variants.push_back(std::move(object));
  }
  return {{"variants", std::move(variants)}};
}

nlohmann::ordered_json breakdowns_json(const std::vector<KernelBreakdown>& breakdowns) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const KernelBreakdown& breakdown : breakdowns) {
    nlohmann::ordered_json launches = nlohmann::ordered_json::array();
    for (const cuda::KernelTotal& launch : breakdown.launches) {
      launches.push_back({{"kernel", launch.kernel},
                          {"calls", launch.num_calls},
                          {"seconds", 1e-3 * launch.ms},
                          {"share", launch.ms / breakdown.total_ms()}});
    }
    result.push_back({{"variant", breakdown.variant},
                      {"kernel", breakdown.kernel},
                      {"seconds", 1e-3 * breakdown.total_ms()},
                      {"launches", std::move(launches)}});
  }
  return result;
}

}  // namespace flashlab::cli
